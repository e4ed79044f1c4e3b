package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.ConnectionParameters;

/// What a worker has of its device: memory for frames in slots, the queue of receives that all peers share, and
/// the completion queue. All is claimed when it is made.
final class Slots {
    /// Receives for peers that are sent away, and may have sent a frame.
    private static final int SPARE = 16;

    private final WorkerOptions options;
    private final int frameBytes;
    final ProtectionDomain domain;
    final CompletionQueue queue;
    private final SharedReceiveQueue receives;
    private final MemoryRegion inbox;
    private final MemoryRegion outbox;
    private final Bell bell;

    // Of the outbox. Under the lock of [Traffic].
    private final int[] free;
    private int freeCount;
    /// Whose frame is under way from a slot.
    private final @Nullable RemoteWorker[] senders;

    // Made when they are first used, so that a frame makes no object.
    private final @Nullable MemorySegment[] arrived;
    private final @Nullable MemorySegment[] toSend;

    /// @param requests of each peer that are under way at most
    /// @param ring number of the completions of [#ring()]
    Slots(Context device, WorkerOptions options, int requests, long ring) {
        this.options = options;
        this.frameBytes = options.frameBytes();
        int slots = options.maxPeers() * options.window() + SPARE;
        this.free = new int[slots];
        this.senders = new RemoteWorker[slots];
        this.arrived = new MemorySegment[slots];
        this.toSend = new MemorySegment[slots];
        var made = new ArrayList<AutoCloseable>();
        boolean done = false;
        try {
            domain = device.allocateProtectionDomain();
            made.add(domain);
            queue = device.createCompletionQueue(slots + options.maxPeers() * requests + Bell.RINGS);
            made.add(queue);
            receives = domain.createSharedReceiveQueue(slots, 1);
            made.add(receives);
            long bytes = (long) slots * frameBytes;
            inbox = domain.allocate(bytes, Access.local());
            made.add(inbox);
            outbox = domain.allocate(bytes, Access.local());
            made.add(outbox);
            for (int i = 0; i < slots; i++) {
                free[freeCount++] = i;
                postReceive(i);
            }
            bell = new Bell(domain, queue, outbox, ring);
            done = true;
        } finally {
            if (!done) {
                made.reversed().forEach(Slots::closeQuietly);
            }
        }
    }

    private static void closeQuietly(AutoCloseable object) {
        try {
            object.close();
        } catch (Exception e) {
            throw new IllegalStateException(e); // verbs throw no checked exception
        }
    }

    /// Options of a connection to a peer.
    ///
    /// @param requests of the connection that are under way at most
    ConnectionOptions connection(int requests) {
        return ConnectionOptions.defaults()
                .withParameters(ConnectionParameters.defaults().withKeepAlive(Duration.ofSeconds(5)))
                .withSizes(new QueuePairOptions.Sizes(requests, 0, 1, 1, 0))
                .withProtectionDomain(domain)
                .withCompletionQueues(queue, queue)
                .withSharedReceiveQueue(receives)
                .withTimeout(options.timeout())
                .withSecret(options.secret())
                .withPrivateData(Hello.of(options).privateData());
    }

    // ---- arrivals

    void postReceive(int slot) {
        receives.postReceive(slot, inbox, (long) slot * frameBytes, frameBytes);
    }

    /// The whole slot, of which the frame is the beginning.
    MemorySegment arrived(int slot) {
        return cached(arrived, inbox, slot);
    }

    private MemorySegment cached(@Nullable MemorySegment[] slices, MemoryRegion region, int slot) {
        MemorySegment slice = slices[slot];
        if (slice == null) {
            slice = region.segment().asSlice((long) slot * frameBytes, frameBytes);
            slices[slot] = slice;
        }
        return slice;
    }

    // ---- departures

    /// A slot that is free; negative when all are under way.
    int peek() {
        return freeCount == 0 ? -1 : free[freeCount - 1];
    }

    /// Memory for a frame to send.
    MemorySegment toSend(int slot) {
        return cached(toSend, outbox, slot);
    }

    /// Sends from the slot that [#peek()] gave.
    void send(RemoteWorker to, long number, int slot, int bytes) {
        take(slot, to);
        to.connection().queuePair().postSend(number, outbox, (long) slot * frameBytes, bytes);
    }

    /// Takes the slot that [#peek()] gave, until [#sent].
    void take(int slot, RemoteWorker by) {
        freeCount--;
        senders[slot] = by;
        by.sending++;
    }

    MemoryRegion outbox() {
        return outbox;
    }

    /// Of a slot in the outbox.
    long offset(int slot) {
        return (long) slot * frameBytes;
    }

    /// A frame is sent, unless the slot is another peer's by now.
    void sent(int slot, RemoteWorker by) {
        if (senders[slot] == by) {
            senders[slot] = null;
            by.sending--;
            free[freeCount++] = slot;
        }
    }

    /// A peer whose frames will not complete any more.
    void forget(RemoteWorker gone) {
        for (int i = 0; i < senders.length; i++) {
            sent(i, gone);
        }
    }

    // ---- the bell, and the end

    /// Ends the wait at the completion queue.
    void ring() {
        bell.ring();
    }

    /// Ends the wait at the completion queue for ever.
    void closeQueues() {
        receives.close();
        bell.close();
        queue.close();
    }

    /// After [#closeQueues()], when no thread reads any more.
    void closeMemory() {
        inbox.close();
        outbox.close();
        domain.close();
    }
}
