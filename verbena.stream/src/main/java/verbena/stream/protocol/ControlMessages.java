package verbena.stream.protocol;

import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.SendBatch;
import verbena.verbs.VerbsException;

/// Messages that need no credit, for which a few places of the send queue are kept: so credits can always be
/// given. Guarded as [ByteStream].
final class ControlMessages {
    /// The most messages that may be on their way.
    static final int MAX = 4;

    private final QueuePair qp;
    /// A buffer with a place for each entry of the peer's list of targets that is on its way.
    private final MemoryRegion buffer;

    private final long offset;
    private int free = MAX;
    private int place;
    private int peerTarget = 1;

    /// @param offset of the places in the buffer
    ControlMessages(QueuePair qp, MemoryRegion buffer, long offset) {
        this.qp = qp;
        this.buffer = buffer;
        this.offset = offset;
    }

    boolean hasFree() {
        return free > 0;
    }

    boolean areAllFree() {
        return free == MAX;
    }

    /// Frees the place of a message that has arrived.
    void arrive() {
        free++;
    }

    /// Sends a message without data; false when the queue pair takes none.
    boolean send(long wrId, int message) {
        free--;
        try (SendBatch batch = qp.sendBatch()) {
            batch.writeWithImmediate(wrId, 0, 0, message).submit();
            return true;
        } catch (VerbsException e) {
            return false;
        }
    }

    /// Sends a message, and shows the peer a half of the receive buffer that has been read; false when the queue
    /// pair takes none.
    boolean show(long wrId, int message, ReceiveRing ring, StreamMessage.Hello peer) {
        free--;
        long at = offset + (long) place * StreamMessage.TARGET_BYTES;
        place = (place + 1) % MAX;
        ring.show(buffer.segment(), at, peer.order());
        long to = peer.targets() + (long) peerTarget * StreamMessage.TARGET_BYTES;
        peerTarget = (peerTarget + 1) % peer.targetCount();
        try (SendBatch batch = qp.sendBatch()) {
            batch.writeWithImmediate(wrId, to, peer.targetsKey(), message)
                    .sge(buffer, at, StreamMessage.TARGET_BYTES)
                    .submit();
            return true;
        } catch (VerbsException e) {
            return false;
        }
    }
}
