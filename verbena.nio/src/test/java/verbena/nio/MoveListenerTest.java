package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Streams that name connections which have ended. Over real connections a client asks seldom at such a moment.
class MoveListenerTest {
    private static final InetSocketAddress CLIENT = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 7001);
    private static final InetSocketAddress SERVER = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 7002);

    private static final Pace NEVER = new Pace(Long.MAX_VALUE, Long.MAX_VALUE, 0);

    private final List<String> told = new ArrayList<>();
    private final MoveListener listener = new MoveListener(() -> null, new NoWait(told));

    /// A lock whose timed waits end at once, and are noted.
    private static final class NoWait extends ReentrantLock {
        private static final long serialVersionUID = 1;
        private final transient List<String> told;

        NoWait(List<String> told) {
            this.told = told;
        }

        @Override
        public Condition newCondition() {
            return (Condition) Proxy.newProxyInstance(
                    NoWait.class.getClassLoader(), new Class<?>[] {Condition.class}, (_, method, _) -> {
                        if (method.getName().equals("awaitNanos")) {
                            told.add("waits");
                            return 0L;
                        }
                        return null;
                    });
        }
    }

    /// A connection by TCP, or a stream that says a name.
    private Carrier carrier(InetSocketAddress local, InetSocketAddress remote, @Nullable ByteBuffer says) {
        return (Carrier) Proxy.newProxyInstance(
                Carrier.class.getClassLoader(),
                new Class<?>[] {Carrier.class},
                (_, method, arguments) -> switch (method.getName()) {
                    case "local" -> local;
                    case "remote" -> remote;
                    case "read" -> {
                        int length = (int) arguments[2];
                        Objects.requireNonNull(says).get((byte[]) arguments[0], (int) arguments[1], length);
                        yield length;
                    }
                    case "write" -> ((ByteBuffer) arguments[0]).remaining();
                    case "close" -> {
                        told.add(says == null ? "TCP closed" : "stream closed");
                        yield null;
                    }
                    default -> null;
                });
    }

    private Moving accept() throws IOException {
        return listener.accepted(carrier(SERVER, CLIENT, null), NEVER);
    }

    private void join() {
        ByteBuffer says = ByteBuffer.allocate(TcpAddresses.BYTES + 1 + Long.BYTES)
                .put(new TcpAddresses(CLIENT, SERVER).name()) // and then: no mark, and no byte by TCP
                .rewind();
        listener.join(carrier(SERVER, new InetSocketAddress(CLIENT.getAddress(), 1), says));
    }

    @Test
    void aConnectionThatHasEndedIsRefusedAtOnce() throws IOException {
        Moving it = accept();
        listener.onOver(it);
        join();
        assertThat(told).containsExactly("stream closed");
    }

    @Test
    void aConnectionThatIsNotAcceptedYetIsWaitedFor() {
        join();
        assertThat(told).containsExactly("waits", "stream closed");
    }

    /// The ports of a connection that has ended are used again.
    @Test
    void anotherConnectionOfThatNameMoves() throws IOException {
        listener.onOver(accept());
        Moving _ = accept();
        join();
        assertThat(told).isEmpty();
    }

    @Test
    void theOldestOfManyIsForgotten() throws IOException {
        listener.onOver(accept());
        for (int port = 10_000; port < 10_256; port++) {
            var client = new InetSocketAddress(CLIENT.getAddress(), port);
            listener.onOver(listener.accepted(carrier(SERVER, client, null), NEVER));
        }
        join();
        assertThat(told).containsExactly("waits", "stream closed");
    }
}
