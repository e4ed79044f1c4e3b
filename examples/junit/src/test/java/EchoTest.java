import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import verbena.junit.ConnectedEnds;
import verbena.junit.RdmaTest;
import verbena.verbs.Access;

/// RDMA in a test, without a card, over a network that loses packets.
@RdmaTest(faults = "loss:2%,reorder:1%")
class EchoTest {
    @Test
    void aMessageArrives(ConnectedEnds ends) throws InterruptedException {
        ends.client().send("hello");
        assertEquals("hello", ends.server().receiveText(100));
    }

    @Test
    void aWriteReadsBack(ConnectedEnds ends) throws InterruptedException {
        var memory = ends.server().allocate(4096, Access.remoteAll());
        ends.client().write(new byte[] {1, 2, 3}, memory.remote());
        assertArrayEquals(new byte[] {1, 2, 3}, ends.client().read(memory.slice(0, 3).remote()));
    }
}
