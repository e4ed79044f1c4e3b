package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.Device;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Waiter;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// One thread that sleeps on completions, accepted connections and a wake-up together.
@Timeout(120)
class WaitingForAllTest {
    @ParameterizedTest
    @CsvSource({"rocev2, true", "rocev2, false", "iwarp, true", "iwarp, false", "shm, true", "shm, false"})
    void oneThreadAcceptsAndServes(String device, boolean isVirtual) throws Exception {
        try (var context = Device.named(device).open();
                var clientContext = Device.named(device).open();
                CompletionChannel channel = context.createCompletionChannel();
                CompletionQueue received = context.createCompletionQueue(
                        CompletionQueueOptions.of(64).withChannel(channel));
                CompletionQueue sent = context.createCompletionQueue(64);
                var waiter = new Waiter<>();
                var listener = ConnectionListener.bind(
                        new InetSocketAddress(context.gid(1, 0).gid().address(), 0),
                        ConnectionOptions.defaults().withDevice(context).withCompletionQueues(sent, received))) {
            var served = new CompletableFuture<List<Connection>>();
            Thread.Builder builder = isVirtual ? Thread.ofVirtual() : Thread.ofPlatform();
            Thread server = builder.start(() -> {
                try {
                    served.complete(serve(waiter, listener, channel, received));
                } catch (Throwable e) {
                    served.completeExceptionally(e);
                }
            });
            for (int i = 0; i < 3; i++) {
                try (Connection client = Connection.connect(
                        listener.localAddress(), ConnectionOptions.defaults().withDevice(clientContext))) {
                    MemoryRegion memory = client.allocate(8);
                    for (int k = 0; k < 50; k++) {
                        client.send(memory);
                    }
                }
            }
            List<Connection> all = served.get(100, TimeUnit.SECONDS);
            assertThat(all).hasSize(3);
            all.forEach(Connection::close); // after the last SEND of a client is done
            server.join();
        }
    }

    private static List<Connection> serve(
            Waiter<Object> waiter, ConnectionListener listener, CompletionChannel channel, CompletionQueue received)
            throws InterruptedException {
        waiter.add(listener, listener);
        waiter.add(channel, channel);
        var wc = new WorkCompletion();
        int messages = 0;
        var accepted = new ArrayList<Connection>();
        received.arm();
        while (messages < 150) {
            Object ready = waiter.await().orElseThrow();
            var next = ready == listener ? listener.poll() : Optional.<Connection>empty();
            if (next.isPresent()) {
                Connection current = next.get();
                accepted.add(current);
                MemoryRegion memory = current.allocate(8);
                for (int i = 0; i < 50; i++) {
                    current.queuePair().postReceive(i, memory.slice(0, 8));
                }
            }
            if (channel.poll().isPresent()) {
                received.arm();
            }
            while (received.poll(wc)) {
                messages += wc.ok() ? 1 : 0;
            }
        }
        return accepted;
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aSourceThatIsClosedEndsTheWait(String device) throws Exception {
        try (var context = Device.named(device).open();
                var waiter = new Waiter<>()) {
            var channel = context.createCompletionChannel();
            var listener = ConnectionListener.bind(
                    new InetSocketAddress(context.gid(1, 0).gid().address(), 0),
                    ConnectionOptions.defaults().withDevice(context));
            waiter.add(channel, channel);
            waiter.add(listener, listener);
            var first = waits(waiter);
            channel.close();
            first.get(60, TimeUnit.SECONDS);
            assertThatExceptionOfType(InvalidStateException.class).isThrownBy(channel::poll);
            waiter.remove(channel);
            var second = waits(waiter);
            listener.close();
            second.get(60, TimeUnit.SECONDS);
            waiter.remove(listener);
            assertThat(waiter.await(Duration.ZERO)).isEmpty();
        }
    }

    private static CompletableFuture<Void> waits(Waiter<Object> waiter) {
        var ended = new CompletableFuture<Void>();
        Thread.ofPlatform().start(() -> {
            try {
                waiter.await();
                ended.complete(null);
            } catch (Throwable e) {
                ended.completeExceptionally(e);
            }
        });
        return ended;
    }
}
