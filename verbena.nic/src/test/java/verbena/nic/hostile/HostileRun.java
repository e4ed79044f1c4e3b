package verbena.nic.hostile;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.SortedMap;
import verbena.transport.PacketFate;
import verbena.wire.Frame;
import verbena.wire.notation.Names;
import verbena.wire.notation.PacketText;

/// One attacker against one device, from a seed, in virtual time. The same seed gives the same packets and the
/// same results.
final class HostileRun {
    private static final int BATCH = 64;
    private static final long CHECK_PACKETS = 1 << 20;

    private final long seed;
    /// From this packet on, packets come one by one, and the watched byte is checked after each.
    private final long singlyFrom;
    /// Offset of a byte in the arena that is checked after each piece of work; -1 for none.
    private final long watched;

    private final Attacker attacker;
    private final AttackLink link;
    private long batchFirst;
    /// The number of the last packet, when packets come one by one.
    private long number;

    /// The final counters.
    SortedMap<String, Long> counters;
    long completed;
    long failed;
    long lives;
    long managed;
    /// How many looks at the window that all connections share found no room.
    long full;

    HostileRun(long seed) {
        this(seed, Long.MAX_VALUE, -1);
    }

    private HostileRun(long seed, long singlyFrom, long watched) {
        this.seed = seed;
        this.singlyFrom = singlyFrom;
        this.watched = watched;
        this.attacker = new Attacker(seed, AttackLink.ATTACKER, AttackLink.VICTIM);
        this.link = new AttackLink(attacker);
    }

    /// Attacks with this many packets. When something breaks, finds the packet that broke it, and names it.
    void attack(long packets) {
        try {
            run(packets);
        } catch (RuntimeException | Error first) {
            throw new AssertionError(explain(first, packets), first);
        }
    }

    private String explain(Throwable first, long packets) {
        long byteOffset = first instanceof CanaryArena.Died died ? died.offset : -1;
        // The change was seen long after it happened: run again, watching that byte.
        var again = new HostileRun(seed, Long.MAX_VALUE, byteOffset);
        again.runToFailure(packets);
        var singly = new HostileRun(seed, again.batchFirst, byteOffset);
        Throwable cause = singly.runToFailure(packets);
        return cause == null
                ? "one of the 64 packets from number " + again.batchFirst + " on; not when they come one by one"
                : cause + "\nafter packet " + singly.number + " from seed " + seed + ":\n" + text(singly.link.last());
    }

    private static String text(Frame frame) {
        return PacketText.format(frame, Names.NUMBERS) + "\n"
                + HexFormat.of().formatHex(frame.packet().toArray(ValueLayout.JAVA_BYTE));
    }

    private Throwable runToFailure(long packets) {
        try {
            run(packets);
            return null;
        } catch (RuntimeException | Error e) {
            return e;
        }
    }

    private void look(Victim victim) {
        if (watched >= 0) {
            victim.canary.check(watched);
        }
    }

    private void oneByOne(Victim victim, int count) {
        link.makeAhead(count);
        for (int i = 0; i < count; i++) {
            number = batchFirst + i;
            victim.context.drive();
            look(victim);
        }
        victim.work();
        look(victim);
    }

    private void run(long packets) {
        try (Arena arena = Arena.ofShared()) {
            var victim = new Victim(link, attacker, AttackLink.ATTACKER, seed, arena);
            long nextCheck = CHECK_PACKETS;
            while (attacker.made < packets) {
                batchFirst = attacker.made;
                int count = (int) Math.min(BATCH, packets - batchFirst);
                victim.nanos += 20_000;
                if (batchFirst >= singlyFrom) {
                    oneByOne(victim, count);
                } else {
                    link.due = count;
                    victim.context.drive();
                    victim.work();
                    look(victim);
                }
                victim.context.containedFailure().ifPresent(mistake -> {
                    throw new AssertionError("the device has met an internal error: " + mistake, mistake);
                });
                if (attacker.made >= nextCheck) {
                    victim.canary.check();
                    nextCheck += CHECK_PACKETS;
                }
            }
            victim.canary.check();
            counters = victim.context.counters();
            completed = victim.completed;
            failed = victim.failed;
            lives = victim.lives;
            managed = victim.managed;
            full = victim.full;
        }
        long sum = 0;
        for (PacketFate fate : PacketFate.values()) {
            sum += counters.get(fate.label());
        }
        if (sum != packets || counters.get("received.packets") != packets) {
            throw new AssertionError(packets + " packets were made, " + sum + " have a fate: " + counters);
        }
    }
}
