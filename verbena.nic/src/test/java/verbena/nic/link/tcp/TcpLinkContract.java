package verbena.nic.link.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.nic.link.LinkException;
import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamTarget;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;

/// The contract of both TCP links. A link talks to itself, or to a socket of the JDK.
@Timeout(180)
abstract class TcpLinkContract {
    private static final Gid IPV4 = Gid.parse("127.0.0.1");
    private static final Gid IPV6 = Gid.parse("::1");

    private TcpLink link;

    abstract TcpLink open(List<GidEntry> gids);

    @BeforeEach
    void open() throws IOException {
        int index = java.net.NetworkInterface.getByInetAddress(IPV4.address()).getIndex();
        link = open(List.of(
                new GidEntry(0, IPV4, GidType.IWARP, "lo", index), new GidEntry(1, IPV6, GidType.IWARP, "lo", index)));
    }

    @AfterEach
    void close() {
        link.close();
    }

    /// Records the events of a stream.
    private static class End implements StreamHandler {
        @Nullable
        TcpSocket socket;

        final StringBuilder text = new StringBuilder();
        long bytes;
        boolean connected;
        boolean ended;
        int writable;
        /// It consumes arrivals only when there are this many bytes.
        int needs = 1;

        @Nullable
        Cause cause;

        String why = "";
        MemorySegment into = MemorySegment.NULL;
        long landed;

        @Override
        public void onConnected(long now) {
            connected = true;
        }

        @Override
        public int onBytes(StreamBuffer buffer, int from, int to, long now) {
            if (to - from < needs) {
                return 0;
            }
            bytes += to - from;
            if (text.length() < 1_000) {
                byte[] some = buffer.segment.asSlice(from, to - from).toArray(ValueLayout.JAVA_BYTE);
                text.append(new String(some, StandardCharsets.ISO_8859_1));
            }
            return to - from;
        }

        @Override
        public boolean direct(StreamTarget target) {
            if (landed >= into.byteSize()) {
                return false;
            }
            target.segment = into;
            target.offset = landed;
            target.bytes = (int) (into.byteSize() - landed);
            return true;
        }

        @Override
        public void onDirect(int n, long now) {
            landed += n;
        }

        @Override
        public void onWritable(long now) {
            writable++;
        }

        @Override
        public void onEnd(long now) {
            ended = true;
        }

        @Override
        public void onBroken(Cause by, String reason, long now) {
            cause = by;
            why = reason;
        }

        TcpSocket socket() {
            assertThat(socket).isNotNull();
            return socket;
        }

        void say(String words) {
            socket().write(MemorySegment.ofArray(words.getBytes(StandardCharsets.ISO_8859_1)));
        }
    }

    /// Listens at a port and collects the accepted streams.
    private TcpPort listen(Gid at, List<End> accepted) {
        TcpPort port = link.bind(at, 0);
        port.listen((socket, _) -> {
            var end = new End();
            end.socket = socket;
            accepted.add(end);
            return end;
        });
        return port;
    }

    private End connect(Gid to, int port) {
        var end = new End();
        end.socket = link.connect(null, to, to, port, end);
        return end;
    }

    private void until(BooleanSupplier wanted) {
        while (!wanted.getAsBoolean()) {
            if (link.move(0) == 0) {
                link.await(1_000_000_000L);
            }
        }
    }

    /// Both ends of a connection.
    private End[] pair(Gid at) {
        var accepted = new ArrayList<End>();
        try (var port = closing(listen(at, accepted))) {
            End active = connect(at, port.port.number());
            until(() -> active.connected && accepted.size() == 1);
            return new End[] {active, accepted.getFirst()};
        }
    }

    private record Closing(TcpPort port) implements AutoCloseable {
        @Override
        public void close() {
            port.close();
        }
    }

    private static Closing closing(TcpPort port) {
        return new Closing(port);
    }

    @Test
    void wordsGoBothWays() {
        for (Gid at : List.of(IPV4, IPV6)) {
            assumeTrue(at.isIpv4() || hasIpv6(), "no ::1 here");
            End[] ends = pair(at);

            ends[0].say("to the passive side");
            ends[1].say("to the active side");
            until(() -> ends[1].bytes == 19 && ends[0].bytes == 18);

            assertThat(ends[1].text.toString()).isEqualTo("to the passive side");
            assertThat(ends[0].text.toString()).isEqualTo("to the active side");
            assertThat(ends[1].socket().remote()).isEqualTo(at);
            assertThat(ends[0].socket().segmentBytes()).isBetween(500, 65_535);
        }
    }

    private static boolean hasIpv6() {
        try (var probe = new java.net.ServerSocket(0, 1, IPV6.address())) {
            return probe.isBound();
        } catch (IOException _) {
            return false;
        }
    }

    @Test
    void aMistakeOfOursAtOneStreamEndsThatStreamOnly() {
        var told = new ArrayList<Throwable>();
        link.onContained(told::add);
        End[] healthy = pair(IPV4);
        End[] broken = pair(IPV4);
        broken[1].socket().handler(new End() {
            @Override
            public int onBytes(StreamBuffer buffer, int from, int to, long now) {
                throw new IllegalStateException("planted");
            }

            @Override
            public void onBroken(Cause by, String reason, long now) {
                broken[1].onBroken(by, reason, now);
            }
        });
        broken[0].say("never read");
        until(() -> broken[1].cause != null && broken[0].cause != null);

        assertThat(broken[1].cause).isEqualTo(StreamHandler.Cause.LOCAL);
        assertThat(broken[1].why).contains("internal error", "planted");
        assertThat(told).singleElement().isInstanceOf(IllegalStateException.class);
        healthy[0].say("still there");
        until(() -> healthy[1].bytes == 11);
    }

    @Test
    void whatIsNotDoneWithComesAgainWithWhatFollows() {
        End[] ends = pair(IPV4);
        ends[1].needs = 10;
        ends[0].say("half");
        until(() -> link.move(0) > 0);
        ends[0].say(" and half");
        until(() -> ends[1].bytes > 0);

        assertThat(ends[1].text.toString()).isEqualTo("half and half");
    }

    @Test
    void aFullSocketKeepsTheRestAndSaysWhenThereIsRoom() throws IOException {
        var accepted = new ArrayList<End>();
        try (var port = closing(listen(IPV4, accepted));
                var slow = new Socket()) {
            slow.setReceiveBufferSize(4_096);
            slow.connect(new InetSocketAddress(IPV4.address(), port.port.number()));
            until(() -> accepted.size() == 1);
            End end = accepted.getFirst();
            long written = 0;
            String block = "0123456789abcdef".repeat(256);
            while (!end.socket().isFull()) {
                end.say(block);
                written += block.length();
            }
            assertThat(end.writable).isZero();

            long read = 0;
            byte[] some = new byte[65_536];
            slow.setSoTimeout(10_000);
            while (read < written) {
                link.move(0);
                if (slow.getInputStream().available() > 0) {
                    int n = slow.getInputStream().read(some);
                    for (int i = 0; i < n; i++) {
                        assertThat(some[i]).isEqualTo((byte) block.charAt((int) ((read + i) % 16)));
                    }
                    read += n;
                } else {
                    link.await(1_000_000);
                }
            }
            until(() -> end.writable == 1);
            assertThat(end.socket().isFull()).isFalse();
        }
    }

    @Test
    void whatIsDirectedLandsWhereItBelongs() {
        try (Arena arena = Arena.ofShared()) {
            End[] ends = pair(IPV4);
            MemorySegment place = arena.allocate(100_000);
            ends[1].into = place;
            String block = "x".repeat(4_000);
            for (int i = 0; i < 25; i++) {
                ends[0].say(block);
                until(() -> !ends[0].socket().isFull());
            }
            ends[0].say("behind");
            until(() -> ends[1].bytes == 6);

            assertThat(ends[1].landed).isEqualTo(100_000);
            assertThat(place.asSlice(0, 100_000).toArray(ValueLayout.JAVA_BYTE)).containsOnly((byte) 'x');
            assertThat(ends[1].text.toString()).isEqualTo("behind");
        }
    }

    @Test
    void aPausedStreamGetsEverythingLater() {
        End[] ends = pair(IPV4);
        ends[1].socket().pause(true);
        ends[0].say("later");
        ends[0].socket().end();
        for (int i = 0; i < 10; i++) {
            link.move(0);
            link.await(1_000_000);
        }
        assertThat(ends[1].bytes).isZero();
        assertThat(ends[1].ended).isFalse();

        ends[1].socket().pause(false);
        until(() -> ends[1].ended);
        assertThat(ends[1].text.toString()).isEqualTo("later");
    }

    @Test
    void theEndComesAfterTheLastWord() {
        End[] ends = pair(IPV4);
        ends[0].say("last words");
        ends[0].socket().end();
        until(() -> ends[1].ended);

        assertThat(ends[1].text.toString()).isEqualTo("last words");
        assertThat(ends[1].cause).isNull();
        assertThat(ends[1].socket().isClosed()).isTrue();
        until(() -> ends[0].ended); // the other half
        assertThat(link.counters()).containsEntry("tcp.open", 0L);
    }

    @Test
    void aResetIsNoEnd() {
        End[] ends = pair(IPV4);
        ends[0].socket().close(true);
        until(() -> ends[1].cause != null);

        assertThat(ends[1].cause).isEqualTo(StreamHandler.Cause.RESET);
        assertThat(ends[1].why).contains("127.0.0.1").contains("broken");
        assertThat(ends[1].ended).isFalse();
        assertThat(ends[0].cause).as("the closing side is not told").isNull();
    }

    @Test
    void whereNobodyListensItIsRefused() {
        TcpPort free = link.bind(IPV4, 0);
        int number = free.number();
        free.close();
        End end = connect(IPV4, number);
        until(() -> end.cause != null);

        assertThat(end.cause).isEqualTo(StreamHandler.Cause.REFUSED);
        assertThat(end.why).contains("no program listens").contains("" + number);
    }

    /// From the port that it goes to, TCP connects a socket with itself.
    @Test
    void aStreamThatLeadsToItselfIsRefused() {
        TcpPort own = link.bind(IPV4, 0);
        var end = new End();
        end.socket = link.connect(own, IPV4, IPV4, own.number(), end);
        until(() -> end.cause != null);

        assertThat(end.cause).isEqualTo(StreamHandler.Cause.REFUSED);
        assertThat(end.why).contains("no program listens");
    }

    @Test
    void whereThereIsNoWayItSaysSo() {
        // A network for documents only (RFC 5737), from loopback, which has no route to it.
        var end = new End();
        try {
            end.socket = link.connect(null, IPV4, Gid.parse("192.0.2.1"), 7, end);
        } catch (LinkException e) {
            assertThat(e.getMessage()).isNotEmpty();
            return;
        }
        until(() -> end.cause != null);

        assertThat(end.cause).isEqualTo(StreamHandler.Cause.UNREACHABLE);
    }

    @Test
    void aPortThatListensIsTaken() {
        try (var port = closing(listen(IPV4, new ArrayList<>()))) {
            assertThatThrownBy(() -> {
                        TcpPort second = link.bind(IPV4, port.port.number());
                        try {
                            second.listen((_, _) -> null);
                        } finally {
                            second.close();
                        }
                    })
                    .isInstanceOfSatisfying(
                            LinkException.class, e -> assertThat(e.kind()).isEqualTo(LinkException.Kind.PORT_IN_USE))
                    .hasMessageContaining("" + port.port.number());
        }
        assertThatThrownBy(() -> link.bind(Gid.parse("192.0.2.1"), 0))
                .isInstanceOfSatisfying(
                        LinkException.class, e -> assertThat(e.kind()).isEqualTo(LinkException.Kind.ADDRESS_NOT_LOCAL));
    }

    @Test
    void anUnwantedStreamIsReset() throws IOException {
        TcpPort port = link.bind(IPV4, 0);
        port.listen((_, _) -> null);
        try (var client = new Socket(IPV4.address(), port.number())) {
            until(() -> link.counters().get("tcp.resets") == 1);
            link.move(0);
            client.setSoTimeout(10_000);
            assertThatThrownBy(() -> client.getInputStream().read())
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(SocketTimeoutException.class);
        } finally {
            port.close();
        }
    }

    @Test
    void hundredsOfStreamsAtOnce() {
        int count = 300;
        var accepted = new ArrayList<End>();
        try (var port = closing(listen(IPV4, accepted))) {
            var active = new ArrayList<End>();
            for (int i = 0; i < count; i++) {
                active.add(connect(IPV4, port.port.number()));
                int wanted = i + 1;
                until(() -> accepted.size() == wanted);
            }
            until(() -> active.stream().allMatch(end -> end.connected));
            active.forEach(end -> end.say("hello"));
            until(() -> accepted.stream().allMatch(end -> end.bytes == 5));
            assertThat(link.counters()).containsEntry("tcp.open", 2L * count);
            active.forEach(end -> end.socket().end());
            until(() -> accepted.stream().allMatch(end -> end.ended)
                    && active.stream().allMatch(end -> end.ended));

            assertThat(link.counters()).containsEntry("tcp.open", 0L).containsEntry("tcp.resets", 0L);
        }
    }

    @Test
    void aSleeperWakesForAConnectionAndForAWakeup() throws Exception {
        var accepted = new ArrayList<End>();
        try (var port = closing(listen(IPV4, accepted))) {
            link.await(0); // clears earlier wake-ups
            Thread caller = Thread.ofPlatform().start(() -> {
                try (var client = new Socket(InetAddress.getLoopbackAddress(), port.port.number())) {
                    assertThat(client.isConnected()).isTrue();
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            until(() -> accepted.size() == 1);
            caller.join();
            until(() -> accepted.getFirst().ended);
            Thread.ofPlatform().start(link::wakeup).join();
            link.await(-1); // or the test hangs
        }
    }

    @Test
    void closingEndsASleepAndEverySocket() throws Exception {
        End[] ends = pair(IPV4);
        Thread sleeper = Thread.ofPlatform().start(() -> link.await(-1));
        link.close();
        sleeper.join();

        assertThat(ends[0].socket().isClosed()).isTrue();
        assertThat(link.move(0)).isZero();
        link.close();
    }
}
