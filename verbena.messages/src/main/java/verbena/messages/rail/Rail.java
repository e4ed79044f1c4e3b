package verbena.messages.rail;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Rails;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.ConnectionParameters;

/// The objects of a worker on one of its devices: the queue of receives that all peers share, and the completion
/// queue. All is claimed when it is made. The connection of a peer over it is a [Way].
public final class Rail {
    /// Receives for peers that are sent away, and may have sent a frame.
    static final int SPARE = 16;
    /// The least number of receives that are posted at a time. As many are there beyond those needed, so none is
    /// missing.
    private static final int POSTED_AT_ONCE = 16;

    /// The sizes of a rail.
    ///
    /// @param maxPeers peers at once
    /// @param window frames that each of them may send at once
    /// @param requests of each peer that are under way at most
    record Sizes(int maxPeers, int window, int requests) {}

    public final int index;
    public final Context device;
    final ProtectionDomain domain;
    final CompletionQueue queue;
    /// The worker's memory for frames to send.
    final MemoryRegion outbox;
    final long longest;
    /// Under the lock of the worker.
    public boolean isClosed;

    private final int requests;
    private final int stride;
    private final Arena arena = Arena.ofShared();
    private final MemoryRegion inbox;
    private final SharedReceiveQueue receives;
    private final int receivesOfPeer;
    /// Slots for frames that no receive has. The one behind all others was used last: the caches have it.
    private final int[] free;

    private int freeCount;
    private int posted;
    private int needed;
    private final @Nullable Bell bell;

    // Made when they are first used, so that a frame makes no object.
    private final @Nullable MemorySegment[] arrived;
    private final @Nullable MemorySegment[] behindHeaders;

    /// @param rails of the worker
    Rail(int index, int rails, Context device, Slots slots, Sizes sizes) {
        this.index = index;
        this.device = device;
        this.requests = sizes.requests;
        this.stride = slots.stride();
        this.longest = Math.min(device.port(1).maxMessageBytes(), Integer.MAX_VALUE);
        int told = rails > 1 ? rails + 1 : 0; // frames without a credit: of lost rails, and of the token
        this.receivesOfPeer = sizes.window + told;
        int count = sizes.maxPeers * receivesOfPeer + SPARE + POSTED_AT_ONCE;
        this.free = new int[count];
        this.arrived = new MemorySegment[count];
        this.behindHeaders = new MemorySegment[count];
        var made = new ArrayList<AutoCloseable>();
        made.add(arena);
        boolean done = false;
        try {
            domain = device.allocateProtectionDomain();
            made.add(domain);
            queue = device.createCompletionQueue(count + sizes.maxPeers * requests + Bell.RINGS);
            made.add(queue);
            receives = domain.createSharedReceiveQueue(count, 1);
            made.add(receives);
            inbox = domain.register(arena.allocate((long) count * stride, Long.BYTES), Access.local());
            made.add(inbox);
            outbox = domain.register(slots.memory(), Access.local());
            made.add(outbox);
            for (int i = 0; i < count; i++) {
                free[i] = count - 1 - i;
            }
            freeCount = count;
            needed = SPARE;
            postReceives();
            bell = rails == 1 ? new Bell(domain, queue, outbox, RequestIds.RING) : null;
            done = true;
        } finally {
            if (!done) {
                made.reversed().forEach(Rail::closeQuietly);
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

    /// Returns the options of a connection to a peer.
    public ConnectionOptions connection(ConnectionParameters parameters) {
        return ConnectionOptions.defaults()
                .withParameters(_ -> parameters)
                .withSizes(new QueuePairOptions.Sizes(requests, 0, 1, 1, 0))
                .withProtectionDomain(domain)
                .withCompletionQueues(queue, queue)
                .withSharedReceiveQueue(receives);
    }

    /// Posts a receive for each frame that so many peers may send, and 16 to 32 more. While there are few peers,
    /// their frames come into memory that the caches know.
    public void need(int peers) {
        needed = peers * receivesOfPeer + SPARE;
        try {
            if (!isClosed) {
                postReceives();
            }
        } catch (VerbsException e) {
            // the device has failed, and the rail is lost with the next read
        }
    }

    /// Counts a receive that has completed; its slot is the worker's until [#give].
    void taken() {
        assert posted > 0 : "no receive is posted";
        posted--;
    }

    /// Gives back a slot, whose frame is needed no more.
    public void give(int slot) {
        assert slot >= 0 && freeCount < free.length : "slot " + slot;
        free[freeCount++] = slot;
        postReceives();
    }

    private void postReceives() {
        int missing = Math.min(needed + POSTED_AT_ONCE - posted, freeCount);
        if (missing < POSTED_AT_ONCE) {
            return;
        }
        try (ReceiveBatch batch = receives.receiveBatch()) {
            for (int i = 1; i <= missing; i++) {
                int slot = free[freeCount - i];
                batch.receive(slot).sge(inbox, (long) slot * stride, stride);
            }
            batch.submit();
        }
        freeCount -= missing;
        posted += missing;
    }

    /// Returns the whole slot, of which the frame is the beginning.
    MemorySegment arrived(int slot) {
        return cached(arrived, slot, 0);
    }

    /// Returns the slot behind the header that frames have when there are several rails.
    MemorySegment behindHeader(int slot) {
        return cached(behindHeaders, slot, Rails.HEADER_BYTES);
    }

    private MemorySegment cached(@Nullable MemorySegment[] slices, int slot, int header) {
        MemorySegment slice = slices[slot];
        if (slice == null) {
            slice = inbox.segment().asSlice((long) slot * stride + header, stride - header);
            slices[slot] = slice;
        }
        return slice;
    }

    /// Ends the wait at the completion queue. For a worker of one rail.
    public void ring() {
        if (bell != null) {
            bell.ring();
        }
    }

    /// Ends the wait at the completion queue for ever. After all connections.
    public void closeQueues() {
        receives.close();
        if (bell != null) {
            bell.close();
        }
        queue.close();
    }

    /// Closes the memory, after [#closeQueues()], when no thread reads any more.
    public void closeMemory() {
        inbox.close();
        outbox.close();
        domain.close();
    }

    /// Frees the memory, when no program has a message any more that lies in a frame.
    void free() {
        arena.close();
    }
}
