package verbena.nic.shm;

import java.lang.foreign.MemorySegment;
import verbena.nic.link.shm.OutgoingRings;
import verbena.transport.QueuePairParameters;
import verbena.transport.near.PeerMessages;

/// The way of a queue pair's messages to the link that its peer belongs to. For the owner of the engine.
final class MessagesToPeer implements PeerMessages {
    private final OutgoingRings rings;
    private final QueuePairParameters parameters;
    private final boolean isOpen;

    /// @param rings of the queue pair's link
    MessagesToPeer(OutgoingRings rings, QueuePairParameters parameters, boolean isOpen) {
        this.rings = rings;
        this.parameters = parameters;
        this.isOpen = isOpen;
    }

    @Override
    public boolean isOpen() {
        return isOpen;
    }

    private int slot() {
        return GrantMessage.slot(parameters.destinationQpn);
    }

    @Override
    public long begin(int bytes) {
        return rings.begin(slot(), bytes);
    }

    @Override
    public MemorySegment memory() {
        return rings.memory();
    }

    @Override
    public void end() {
        rings.end();
    }

    @Override
    public void show() {
        rings.show();
    }

    @Override
    public long added() {
        return rings.added(slot());
    }

    @Override
    public boolean isRead(long place) {
        return rings.isRead(slot(), place);
    }
}
