package verbena.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Pending;
import verbena.verbs.cm.PrivateData;

/// Observers of calls, and their headers.
@Timeout(60)
class CallObserverTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    /// An observer that sends a header, and notes what it sees.
    private static final class Notes implements CallObserver {
        private final byte[] header;
        private final BlockingQueue<String> headers = new LinkedBlockingQueue<>();
        private final BlockingQueue<Optional<Throwable>> ends = new LinkedBlockingQueue<>();

        Notes(String header) {
            this.header = header.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public ObservedCall begin(RemoteWorker to) {
            return new ObservedCall() {
                @Override
                public byte[] header() {
                    return header;
                }

                @Override
                public void end(@Nullable Throwable failure) {
                    ends.add(Optional.ofNullable(failure));
                }
            };
        }

        @Override
        public MemorySegment handle(Call call, byte[] header, CallHandler handler) throws Exception {
            headers.add(new String(header, StandardCharsets.UTF_8));
            return handler.handle(call);
        }
    }

    private final Notes server = new Notes("server");
    private final Notes client = new Notes("client");

    private static TwoWorkers echo(@Nullable Notes ofServer, @Nullable Notes ofClient, String device) throws Exception {
        var pair = TwoWorkers.of(device, Optional.ofNullable(ofServer), Optional.ofNullable(ofClient));
        pair.server().answerCalls(Call::request);
        return pair;
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aHeaderReachesThePeerAndTheRequestIsTheSame(String device) throws Exception {
        try (var pair = echo(server, client, device)) {
            assertThat(pair.toServer().call("hello", LONG)).isEqualTo("hello");
            assertThat(client.ends.take()).isEmpty();
            assertThat(server.headers.take()).isEqualTo("client");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 999, 1008, 100_000, 1 << 20})
    void aRequestOfAnyLengthHasAHeader(int bytes) throws Exception {
        byte[] sent = new byte[bytes];
        Arrays.fill(sent, (byte) 7);
        try (var pair = echo(server, client, "rocev2");
                var arena = Arena.ofShared()) {
            assertThat(pair.toServer().call(sent, LONG)).isEqualTo(sent);
            MemorySegment memory = arena.allocateFrom(ValueLayout.JAVA_BYTE, sent);
            assertThat(pair.toServer().postCall(memory).await()).isEqualTo(sent);
            assertThat(server.headers.take()).isEqualTo(server.headers.take()).isEqualTo("client");
        }
    }

    @Test
    void theThreadThatReadsCallsTheObserverToo() throws Exception {
        try (var pair = echo(server, client, "shm")) {
            pair.server().answerCallsAtOnce(Call::request);
            assertThat(pair.toServer().call("hello", LONG)).isEqualTo("hello");
            assertThat(server.headers.take()).isEqualTo("client");
        }
    }

    @Test
    void aPeerWithoutAnObserverGetsTheRequestAlone() throws Exception {
        try (var pair = echo(null, client, "rocev2")) {
            assertThat(pair.toServer().call("hello", LONG)).isEqualTo("hello");
            assertThat(client.ends.take()).isEmpty();
        }
        try (var pair = echo(server, null, "rocev2")) {
            assertThat(pair.toServer().call("hello", LONG)).isEqualTo("hello");
            assertThat(server.headers.take()).isEmpty();
        }
    }

    @Test
    void theObserverIsToldHowACallEnds() throws Exception {
        try (var pair = echo(server, client, "rocev2")) {
            pair.server().answerCalls(_ -> {
                throw new IllegalStateException("no");
            });
            assertThatExceptionOfType(CallException.class)
                    .isThrownBy(() -> pair.toServer().call("hello", LONG))
                    .withMessageContaining("no");
            assertThat(client.ends.take()).containsInstanceOf(CallException.class);
            var never = new CountDownLatch(1);
            pair.server().answerCalls(call -> {
                never.await();
                return call.request();
            });
            Pending<byte[]> given = pair.toServer().postCall(MemorySegment.ofArray(new byte[1]), LONG);
            assertThat(given.cancel()).isTrue();
            assertThat(client.ends.take()).containsInstanceOf(CancellationException.class);
        }
    }

    @Test
    void aHeaderThatIsTooLongFailsTheCallAlone() throws Exception {
        var talkative = new Notes("x".repeat(CallObserver.MAX_HEADER_BYTES + 1));
        try (var pair = echo(server, talkative, "rocev2")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.toServer().call("hello", LONG))
                    .withMessageStartingWith("header: at most 4096 bytes, got 4097");
            assertThat(talkative.ends.take()).containsInstanceOf(CancellationException.class);
            assertThat(pair.toServer().isLost()).isFalse();
        }
    }

    @Test
    void aRequestThatIsNoRequestWithAHeaderIsAFaultOfTheCall() {
        var headers = new CallHeaders(Optional.of(server), true);
        for (byte[] request : new byte[][] {{}, {0, 0, 0}, {0, 7, 0, 0, 0, 0, 0, 0}, {-1, -1, 0, 0, 0, 0, 0, 0}}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() ->
                            headers.handle(Call::request, pairless(), MemorySegment.ofArray(request), Optional.empty()))
                    .withMessage("a call without its header");
        }
    }

    /// No peer: a request without a header reaches no handler.
    @SuppressWarnings("NullAway")
    private static RemoteWorker pairless() {
        return null;
    }

    @Test
    void theWireIsTheSameWithoutAnObserver() {
        byte[] without = Hello.of(TwoWorkers.SMALL, 1, false).privateData().bytes();
        byte[] with = Hello.of(TwoWorkers.SMALL, 1, true).privateData().bytes();
        assertThat(without).hasSize(23);
        assertThat(with).startsWith(without).hasSize(24).endsWith(1);
        assertThat(Hello.of(PrivateData.of(Arrays.copyOf(without, 56))))
                .hasValueSatisfying(hello -> assertThat(hello.hasHeaders()).isFalse());
        assertThat(Hello.of(PrivateData.of(Arrays.copyOf(with, 56))))
                .hasValueSatisfying(hello -> assertThat(hello.hasHeaders()).isTrue());
    }
}
