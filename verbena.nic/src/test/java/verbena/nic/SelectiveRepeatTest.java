package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Devices over sockets that lose packets: ends that the communication manager has connected keep answers to READs
/// and requests that come early (decision 05), and others do not.
@Timeout(120)
class SelectiveRepeatTest {
    private static final String LOSING = "rocev2@127.0.0.1,mtu=1024,faults=loss:3%,on:received,seed:7";
    private static final String EARLY = "early.answers";
    private static final int BYTES = 4 << 20;

    private static void fill(MemorySegment memory) {
        for (long i = 0; i < BYTES; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 / 5));
        }
    }

    @Test
    void endsThatTheManagerHasConnectedAskForWhatIsMissingOnly() throws Exception {
        try (Context here = Device.named(LOSING).open();
                Context there = Device.named("rocev2@127.0.0.1").open();
                var listener = ConnectionListener.bind(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        ConnectionOptions.defaults().withDevice(there));
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var served = threads.submit(() -> {
                try (Connection connection = listener.accept()) {
                    var memory = connection.allocate(BYTES, Access.remoteAll());
                    fill(memory.segment());
                    connection.send(memory.remote().format());
                    return connection.receiveText(10);
                }
            });
            try (Connection connection = Connection.connect(
                    listener.localAddress(), ConnectionOptions.defaults().withDevice(here))) {
                var theirs = RemoteMemory.parse(connection.receiveText(100));
                var memory = connection.allocate(BYTES);
                connection.read(theirs.slice(0, BYTES), memory.slice(0, BYTES));
                var expected = MemorySegment.ofArray(new byte[BYTES]);
                fill(expected);
                assertThat(memory.segment().asSlice(0, BYTES).mismatch(expected))
                        .isEqualTo(-1);
                connection.send("read");
            }
            assertThat(served.get()).isEqualTo("read");

            assertThat(here.counters().get("faults.received.lost")).isPositive();
            assertThat(here.counters().get(EARLY)).isPositive();
        }
    }

    @Test
    void endsThatTheManagerHasConnectedSendOnlyPacketsOfAWriteThatAreMissing() throws Exception {
        try (Context here = Device.named("rocev2@127.0.0.1").open();
                Context there = Device.named(LOSING).open();
                var listener = ConnectionListener.bind(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        ConnectionOptions.defaults().withDevice(there));
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var served = threads.submit(() -> {
                try (Connection connection = listener.accept()) {
                    var memory = connection.allocate(BYTES, Access.remoteAll());
                    connection.send(memory.remote().format());
                    connection.receiveText(10);
                    var expected = MemorySegment.ofArray(new byte[BYTES]);
                    fill(expected);
                    long mismatch = memory.segment().asSlice(0, BYTES).mismatch(expected);
                    connection.send("seen");
                    return mismatch;
                }
            });
            try (Connection connection = Connection.connect(
                    listener.localAddress(), ConnectionOptions.defaults().withDevice(here))) {
                var theirs = RemoteMemory.parse(connection.receiveText(100));
                var memory = connection.allocate(BYTES);
                fill(memory.segment());
                connection.write(memory.slice(0, BYTES), theirs);
                connection.send("written");
                connection.receiveText(10);
            }
            assertThat(served.get()).isEqualTo(-1L);

            assertThat(there.counters().get("faults.received.lost")).isPositive();
            assertThat(there.counters().get("early.requests")).isPositive();
        }
    }

    @Test
    void endsThatHaveNotTalkedOfItGoBack() throws InterruptedException {
        try (Context here = Device.named(LOSING).open();
                Context there = Device.named("rocev2@127.0.0.1").open();
                var domain = here.allocateProtectionDomain();
                var domainThere = there.allocateProtectionDomain();
                var cq = here.createCompletionQueue(16);
                var cqThere = there.createCompletionQueue(16);
                var queuePair = domain.createQueuePair(QueuePairOptions.rc(cq));
                var peer = domainThere.createQueuePair(QueuePairOptions.rc(cqThere));
                var memory = domain.allocate(BYTES, Access.local());
                var theirs = domainThere.allocate(BYTES, Access.remoteAll())) {
            queuePair.connect(peer.endpoint());
            peer.connect(queuePair.endpoint());
            queuePair.postRead(1, new RemoteMemory(theirs.address(), theirs.rkey(), BYTES), memory.slice(0, BYTES));
            var wc = new WorkCompletion();
            assertThat(cq.await(wc, Duration.ofSeconds(60))).isTrue();
            assertThat(wc.ok()).as(wc.toString()).isTrue();

            assertThat(here.counters().get("faults.received.lost")).isPositive();
            assertThat(here.counters().get(EARLY)).isZero();
        }
    }
}
