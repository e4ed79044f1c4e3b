package verbena.tools.demo;

import java.io.IOException;
import verbena.tools.demo.DemoRounds.Round;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WcOpcode;

/// A connection of the demo that is measured: WRITEs into the peer's memory, and short messages that the peer's
/// application answers.
final class DemoLane {
    static final int BLOCK_BYTES = 64 << 10;
    static final int WINDOW = 16;

    private final DemoEnd we;
    private final DemoPeerProcess peer;
    private final int number;
    private final RemoteMemory memory;
    private boolean receivePosted;

    /// @param number of the connection, as the peer counts them
    /// @param memory of the peer
    DemoLane(DemoEnd we, DemoPeerProcess peer, int number, RemoteMemory memory) {
        this.we = we;
        this.peer = peer;
        this.number = number;
        this.memory = memory;
    }

    /// Keeps a window of WRITEs under way; counts what has been acknowledged.
    Round writes(long howLong) throws InterruptedException {
        long start = System.nanoTime();
        long posted = 0;
        long completed = 0;
        while (posted < WINDOW) {
            postWrite(posted++);
        }
        while (completed < posted) {
            we.await("WRITE of 64 KiB", WcOpcode.RDMA_WRITE);
            completed++;
            if (System.nanoTime() - start < howLong) {
                postWrite(posted++);
            }
        }
        we.settle(memory);
        return DemoRounds.throughput(completed, System.nanoTime() - start);
    }

    private void postWrite(long number) {
        long offset = number % WINDOW * BLOCK_BYTES;
        we.qp.postWrite(number, we.region.slice(offset, BLOCK_BYTES), memory.slice(offset, BLOCK_BYTES));
    }

    /// Sends 8 bytes there and back: the peer's application answers each.
    Round messages(DemoRounds rounds, long howLong, boolean polls) throws IOException, InterruptedException {
        peer.order("pong", number, polls ? "poll" : "await");
        if (!receivePosted) {
            receivePosted = true; // and another after each that is taken
            we.qp.postReceive(0, we.messages.slice(0, Long.BYTES));
        }
        Round round = rounds.latency(howLong, each -> messageRoundTrip(each, polls));
        we.send(0, DemoEnd.LAST_BYTES, polls);
        we.takeSends(polls);
        peer.answer("the end of the ping-pong");
        return round;
    }

    private void messageRoundTrip(long each, boolean polls) throws InterruptedException {
        long offset = Long.BYTES;
        we.messages.segment().set(DemoEnd.LONG, offset, each);
        we.send(offset, Long.BYTES, polls);
        we.take("8-byte message", WcOpcode.RECV, polls);
        DemoRounds.checkEcho(we.messages.segment().get(DemoEnd.LONG, 0), each);
        we.qp.postReceive(0, we.messages.slice(0, Long.BYTES));
    }
}
