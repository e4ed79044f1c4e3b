package verbena.transport.near;

import verbena.transport.Counter;
import verbena.transport.QueuePairCore;
import verbena.transport.queue.SendRequest;
import verbena.transport.rc.SendSteps;

/// The requests of a [NearConnection] that may be carried out on the [PeerMemory], without packets. Engine-confined.
///
/// Such a request takes no PSN. It has to be the only one under way: the peer has done all before it, and none
/// behind it is done earlier.
final class DirectRequests {
    /// The most that is done in one turn; then other queue pairs have their turns.
    private static final int REQUESTS_MAX = 64;

    private static final long BYTES_MAX = 1 << 20;
    /// The number of one-sided requests in a row by packets, after which the next one waits until they are done. A
    /// stream that began by packets would stay there otherwise, because its queue never becomes empty.
    private static final int STREAM_REQUESTS = 8;
    /// A request as long as this waits for those before it at once. The peer's engine has to answer both the ones
    /// before it and its packets, and the packets cost more than the copy.
    private static final int LONG_BYTES = 4 << 10;

    private static final long NOWHERE = -1;

    private final QueuePairCore core;
    private final PeerMemory memory;
    private final SendSteps steps;
    private final DirectPacketWriter packets;

    /// The last request of which only a part was done. It is of no interest once the queue's head is elsewhere.
    private long begun = NOWHERE;
    // Done in this turn.
    private int requests;
    private long bytes;
    /// The number of one-sided requests in a row that went by packets.
    private int stream;

    /// @param packets what observers are shown
    DirectRequests(PeerMemory memory, SendSteps steps, DirectPacketWriter packets) {
        this.core = steps.core();
        this.memory = memory;
        this.steps = steps;
        this.packets = packets;
    }

    /// Begins a poll of the queue pair.
    void beginTurn() {
        requests = 0;
        bytes = 0;
    }

    /// Returns whether the oldest request has begun here, and is not done. It may meanwhile go by packets.
    boolean hasBegun() {
        return begun == steps.head();
    }

    /// Returns whether the current request, which is new, should wait for those before it, because it then needs no
    /// packet.
    boolean shouldWait(SendRequest request) {
        return (stream >= STREAM_REQUESTS || request.bytes() >= LONG_BYTES)
                && !steps.isOldest()
                && request.isOneSided()
                && memory.isReady(request);
    }

    /// Carries out the current request, which is new, as far as possible. It is done only after
    /// [PeerMemory.Progress#DONE]. After [PeerMemory.Progress#MORE] the queue pair is polled again.
    PeerMemory.Progress execute(SendRequest request) {
        if (!steps.isOldest()) {
            return PeerMemory.Progress.BY_PACKETS;
        }
        if (requests == REQUESTS_MAX || bytes >= BYTES_MAX) {
            core.events.onReady();
            return PeerMemory.Progress.MORE;
        }
        PeerMemory.Progress progress = memory.execute(steps.position(), request, core.parameters, core.memory);
        switch (progress) {
            case DONE -> done(request);
            case DONE_BY_SYSTEM -> {
                core.counters.count(Counter.DIRECT_SYSTEM_REQUESTS);
                core.counters.add(Counter.DIRECT_SYSTEM_BYTES, request.bytes());
                done(request);
                return PeerMemory.Progress.DONE;
            }
            case MORE -> {
                begun = steps.position();
                core.events.onReady();
            }
            case BY_PACKETS -> stream = 0;
        }
        return progress;
    }

    private void done(SendRequest request) {
        requests++;
        bytes += request.bytes();
        core.counters.count(Counter.DIRECT_REQUESTS);
        core.counters.add(Counter.DIRECT_BYTES, request.bytes());
        core.events.onDirect(packets.of(request, steps.psn()));
        steps.finish();
        stream = 0;
    }

    /// Notes that the request goes by packets, of which the first is sent.
    void declined(SendRequest request) {
        if (!request.isOneSided()) {
            stream = 0;
            return;
        }
        stream++;
        core.counters.count(Counter.DIRECT_DECLINED_REQUESTS);
        core.counters.add(Counter.DIRECT_DECLINED_BYTES, request.bytes());
    }
}
