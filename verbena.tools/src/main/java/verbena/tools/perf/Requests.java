package verbena.tools.perf;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SendBatch;
import verbena.verbs.SharedReceiveQueue;

/// The requests of a measurement: its messages and the receives for them. Each queue pair goes through its area of
/// the memory, slot by slot, and begins anew at its end. Allocates nothing after [#begin].
final class Requests {
    private static final int ADD = 1;
    private static final int SWAP = 0;

    private final Options options;
    private final Layout layout;
    private final MemoryRegion region;
    private final QueuePair[] queuePairs;
    private final Destination[] peers;
    private final @Nullable SharedReceiveQueue srq;

    // What is posted now: the size, how far it is from one message to the next, and where each queue pair is.
    private int size;
    private int step;
    private int slots;
    private final int[] sendSlot;
    private final int[] receiveSlot;
    /// The messages as memory, made once: all slots of the first queue pair, then of the next. Empty when not
    /// inline.
    private MemorySegment[] inline = {};

    /// @param queuePairs filled while they are made
    /// @param srq where receives are posted, if not on the queue pairs
    Requests(
            Options options,
            Layout layout,
            MemoryRegion region,
            QueuePair[] queuePairs,
            Destination[] peers,
            @Nullable SharedReceiveQueue srq) {
        this.options = options;
        this.layout = layout;
        this.region = region;
        this.queuePairs = queuePairs;
        this.peers = peers;
        this.srq = srq;
        sendSlot = new int[queuePairs.length];
        receiveSlot = new int[queuePairs.length];
    }

    /// Sets the size of messages from now on; each queue pair begins its area anew.
    void begin(int size) {
        this.size = size;
        step = layout.step(size);
        slots = layout.slots(size);
        Arrays.fill(sendSlot, 0);
        Arrays.fill(receiveSlot, 0);
        boolean isInline = size <= options.inline && !options.verb.isAnswered();
        inline = new MemorySegment[isInline ? queuePairs.length * slots : 0];
        for (int i = 0; i < inline.length; i++) {
            inline[i] = region.segment().asSlice(layout.sendOffset(i / slots) + (long) (i % slots) * step, size);
        }
    }

    /// Posts one message on queue pair `i`, or a list of them when there are several.
    ///
    /// @param before how many have been posted on it already
    /// @param last after how many there are no more; the last one completes visibly
    void post(int i, long before, int count, long last) {
        int moderation = options.moderation;
        try (SendBatch batch = queuePairs[i].sendBatch()) {
            for (int j = 0; j < count; j++) {
                request(batch, i, sendSlot[i]);
                if (++sendSlot[i] == slots) {
                    sendSlot[i] = 0;
                }
                long number = before + j + 1;
                if (number % moderation == 0 || number == last) {
                    batch.signaled();
                }
            }
            batch.submit();
        }
    }

    /// Posts one message, which completes visibly when asked to, from the start of the area of the first queue
    /// pair.
    void postOne(boolean signaled) {
        try (SendBatch batch = queuePairs[0].sendBatch()) {
            request(batch, 0, 0);
            if (signaled) {
                batch.signaled();
            }
            batch.submit();
        }
    }

    private void request(SendBatch batch, int i, int slot) {
        PerfPeer peer = peers[i].peer();
        long to = peer.address() + (long) slot * step;
        switch (options.verb) {
            case SEND -> batch.send(i);
            case WRITE -> batch.write(i, to, peer.rkey());
            case WRITE_IMM -> batch.writeWithImmediate(i, to, peer.rkey(), size);
            case READ -> batch.read(i, to, peer.rkey());
            case ATOMIC -> {
                if (options.atomicType.equals("CMP_AND_SWAP")) {
                    batch.compareSwap(i, to, peer.rkey(), 0, SWAP);
                } else {
                    batch.fetchAdd(i, to, peer.rkey(), ADD);
                }
            }
        }
        if (inline.length > 0) {
            batch.inline(inline[i * slots + slot]);
        } else {
            batch.sge(region, layout.sendOffset(i) + (long) slot * step, size);
        }
        peers[i].address(batch);
    }

    /// Posts receives of queue pair `i`.
    void postReceives(int i, int count) {
        try (ReceiveBatch batch = srq != null ? srq.receiveBatch() : queuePairs[i].receiveBatch()) {
            for (int j = 0; j < count; j++) {
                batch.receive(i);
                if (options.verb == Verb.SEND) {
                    batch.sge(
                            region, layout.receiveOffset(i) + (long) receiveSlot[i] * step, layout.receiveBytes(size));
                    if (++receiveSlot[i] == slots) {
                        receiveSlot[i] = 0;
                    }
                }
            }
            batch.submit();
        }
    }
}
