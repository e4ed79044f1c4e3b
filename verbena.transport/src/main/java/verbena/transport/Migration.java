package verbena.transport;

import verbena.transport.queue.Path;
import verbena.verbs.AsyncEvent;
import verbena.verbs.PathMigration;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;

/// The migration of a connection to its alternate path (IBTA 17.2.8, decision 11). Engine-confined.
///
/// The bit MigReq of a packet is 1 while its sender is in [PathMigration#MIGRATED]. A packet with 0 informs a queue
/// pair in [PathMigration#REARM] that the peer has loaded its alternate path too. A packet with 1 informs an armed
/// queue pair that the peer has migrated.
public final class Migration {
    private final QueuePairParameters p;
    private final QueuePairEvents events;
    /// An unacceptable request to migrate is reported once for each path.
    private Path refusedFor = Path.NONE;

    Migration(QueuePairParameters parameters, QueuePairEvents events) {
        this.p = parameters;
        this.events = events;
    }

    /// Returns whether the next packets announce that this end is in [PathMigration#MIGRATED].
    boolean isTold() {
        return p.canMigrate && p.migration == PathMigration.MIGRATED;
    }

    /// Takes the alternate path in place of the path; false when it is not armed.
    public boolean migrate() {
        if (p.migration != PathMigration.ARMED) {
            return false;
        }
        p.path = p.alternate;
        p.pkeyIndex = p.alternatePkeyIndex;
        p.ackTimeoutNanos = p.alternateTimeoutNanos;
        p.alternate = Path.NONE;
        p.migration = PathMigration.MIGRATED;
        events.onAsyncEvent(AsyncEvent.Type.PATH_MIG);
        return true;
    }

    /// Migrates if the program has asked for it; false when it has not.
    public boolean migrateAsAsked() {
        boolean isAsked = p.isMigrationAsked;
        p.isMigrationAsked = false;
        return isAsked && migrate();
    }

    /// Returns whether a packet asks this end to migrate, because the peer has migrated.
    public boolean isAskedBy(Frame frame) {
        return p.migration == PathMigration.ARMED && Bth.migrated(frame.slot, frame.start);
    }

    /// Migrates after the peer; returns false, and leaves all as it is, when the packet has not come by the
    /// alternate path.
    ///
    /// @param isByPath whether the packet has come by the path in use
    boolean follow(Frame frame, boolean isByPath) {
        if (isByAlternate(frame)) {
            return migrate();
        }
        if (isByPath && refusedFor != p.alternate) {
            refusedFor = p.alternate;
            events.onAsyncEvent(AsyncEvent.Type.PATH_MIG_ERR);
        }
        return false;
    }

    private boolean isByAlternate(Frame frame) {
        Path way = p.alternate;
        return frame.sourceHigh == way.destinationHigh()
                && frame.sourceLow == way.destinationLow()
                && frame.destinationHigh == way.sourceHigh()
                && frame.destinationLow == way.sourceLow()
                && frame.local.sourceLid == way.destinationLid()
                && frame.local.pathBits == way.sourcePathBits()
                && pkeyMatches(frame, p.pkeys[p.alternatePkeyIndex]);
    }

    /// Handles an accepted packet of the peer, whatever it asks for.
    void onAccepted(Frame frame) {
        if (p.migration == PathMigration.REARM && !Bth.migrated(frame.slot, frame.start)) {
            p.migration = PathMigration.ARMED;
        }
    }

    /// Returns whether the 15 low bits of the P_Keys are equal, and at least one side is a full member (IBTA
    /// 10.9.3).
    static boolean pkeyMatches(Frame frame, int own) {
        int pkey = Bth.pkey(frame.slot, frame.start);
        return ((pkey ^ own) & 0x7FFF) == 0 && ((pkey | own) & 0x8000) != 0 && (own & 0x7FFF) != 0;
    }
}
