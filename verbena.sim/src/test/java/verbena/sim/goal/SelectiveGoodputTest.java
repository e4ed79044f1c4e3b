package verbena.sim.goal;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.sim.NetworkFaults;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.transport.congestion.CongestionRule;
import verbena.verbs.Access;
import verbena.verbs.EndpointOptions;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;

/// Goodput at 5 % random loss and 100 us from one device to the other, at 8 Gbit/s. With selective repeat
/// (decisions 05 and 06) WRITEs have five times that of going back N at least.
class SelectiveGoodputTest {
    private static final double LOSS = 0.05;
    private static final long LATENCY_NANOS = 100_000;
    private static final int OUTSTANDING = 4;
    private static final long TOTAL_BYTES = Goal.size(32 << 20, 256 << 20);

    enum Request {
        WRITE,
        READ
    }

    @ParameterizedTest
    @CsvSource({"WRITE, 65536, 5", "WRITE, 1048576, 5", "READ, 65536, 1.5", "READ, 1048576, 2.5"})
    void goodputIsManyTimesThatOfGoingBack(Request request, int bytes, double times) {
        long start = System.nanoTime();
        double back = goodput(Goal.seed(), request, bytes, LOSS, LATENCY_NANOS, TOTAL_BYTES, false);
        double selective = goodput(Goal.seed(), request, bytes, LOSS, LATENCY_NANOS, TOTAL_BYTES, true);
        Goal.report(
                "selective repeat",
                start,
                "%s of %,d bytes at 5 %% loss and 100 us: %.3f Gbit/s going back, %.3f Gbit/s with selective repeat: %.1f times"
                        .formatted(request, bytes, back, selective, selective / back));
        assertThat(selective / back).isGreaterThanOrEqualTo(times);
    }

    /// In Gbit/s.
    static double goodput(
            long seed,
            Request request,
            int bytes,
            double loss,
            long latencyNanos,
            long totalBytes,
            boolean repeatsSelectively) {
        var world = new World(seed);
        var options = new SimDevice.Options(1, CongestionRule.NONE, repeatsSelectively);
        SimDevice here = world.addDevice(Frame.PACKET_MAX, link -> link, options);
        SimDevice there = world.addDevice(Frame.PACKET_MAX, link -> link, options);
        var domain = here.context().allocateProtectionDomain();
        var domainThere = there.context().allocateProtectionDomain();
        var cq = here.context().createCompletionQueue(OUTSTANDING);
        var cqThere = there.context().createCompletionQueue(OUTSTANDING);
        QueuePair qp = domain.createQueuePair(QueuePairOptions.rc(cq).withDepth(OUTSTANDING, 1));
        QueuePair peer =
                domainThere.createQueuePair(QueuePairOptions.rc(cqThere).withDepth(1, 1));
        MemoryRegion own = here.register(domain, bytes, Access.local());
        MemoryRegion theirs = there.register(domainThere, bytes, Access.remoteAll());
        for (int i = 0; i < bytes; i++) {
            (request == Request.WRITE ? own : theirs).segment().set(ValueLayout.JAVA_BYTE, i, (byte) ((i * 31) >>> 3));
        }
        world.connect(qp, peer, EndpointOptions.defaults().withMtu(Mtu.MTU_4096));
        world.network().latency(latencyNanos);
        world.faults(NetworkFaults.of(loss, 0, 0));

        long requests = totalBytes / bytes;
        long posted = 0;
        long done = 0;
        var wc = new WorkCompletion();
        while (done < requests) {
            while (here.poll(cq, wc)) {
                assertThat(wc.ok()).as(wc.toString()).isTrue();
                assertThat(wc.wrId()).as("completions come in order").isEqualTo(done);
                done++;
            }
            while (posted < requests && posted - done < OUTSTANDING) {
                if (request == Request.WRITE) {
                    qp.postWrite(posted++, own.slice(0, bytes), theirs.remote());
                } else {
                    qp.postRead(posted++, theirs.remote().slice(0, bytes), own.slice(0, bytes));
                }
            }
            assertThat(done == requests || world.step()).isTrue();
        }
        assertThat(own.segment().mismatch(theirs.segment())).isEqualTo(-1);
        return requests * (double) bytes * Byte.SIZE / world.nowNanos();
    }
}
