package verbena.stream.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;

/// Two ends of a stream in one thread, step by step: one that does not look gives nothing back.
@Timeout(180)
class ByteStreamTest {
    private static final int HALF = 2_048;
    private static final int CREDITS = 16;
    private static final StreamSizes SIZES = new StreamSizes(1 << 16, 2 * HALF, 64, CREDITS, 4);

    private final Context device = Device.named("rocev2").open();
    private final EventChannel events = EventChannel.open(device);
    private final ConnectionId listener = events.createId(PortSpace.TCP);
    private final ConnectionId asks = events.createId(PortSpace.TCP);
    private ConnectionId answers;
    private final ByteStream from;
    private ByteStream to;

    ByteStreamTest() {
        listener.bind(new InetSocketAddress(device.gid(1, 0).gid().address(), 0));
        listener.listen(1);
        asks.resolveAddress(listener.localAddress().orElseThrow());
        asks.resolveRoute();
        from = stream(asks);
        asks.connect(parameters(from));
        int established = 0;
        while (established < 2) {
            switch (events.poll().orElse(null)) {
                case ConnectionEvent.ConnectRequest request -> accept(request);
                case ConnectionEvent.Established it -> {
                    established++;
                    if (it.id() == asks) {
                        from.begin(hello(it.peer().privateData()));
                    }
                }
                case null, default -> Thread.onSpinWait();
            }
        }
    }

    private ByteStream stream(ConnectionId id) {
        return new ByteStream(
                id.context(), id::createQueuePair, SIZES, Optional.empty(), device::createCompletionQueue);
    }

    private static ConnectionParameters parameters(ByteStream of) {
        return ConnectionParameters.defaults().withPrivateData(of.hello().privateData());
    }

    private static StreamMessage.Hello hello(PrivateData data) {
        return StreamMessage.Hello.parse(data).orElseThrow();
    }

    private void accept(ConnectionEvent.ConnectRequest request) {
        answers = request.id();
        to = stream(answers);
        answers.accept(parameters(to));
        to.begin(hello(request.peer().privateData()));
    }

    @AfterEach
    void close() {
        from.close();
        to.close();
        asks.close();
        answers.close();
        listener.close();
        events.close();
        device.close();
    }

    private void until(ByteStream looks, BooleanSupplier wanted) {
        long begin = System.nanoTime();
        while (!wanted.getAsBoolean()) {
            looks.progress();
            assertThat(System.nanoTime() - begin).as("nanoseconds").isLessThan(20_000_000_000L);
        }
    }

    private long send(ByteBuffer data) {
        return from.send((at, length, into) -> into.put(data, (int) at, length), 0, data.capacity());
    }

    @Test
    void aPeerThatDoesNotLookGivesNoCreditsBack() {
        int messages = 0;
        while (from.canSend()) {
            assertThat(send(ByteBuffer.allocate(1))).isEqualTo(1);
            messages++;
        }
        assertThat(messages).isEqualTo(CREDITS);
        until(to, () -> to.available() == CREDITS);
        until(from, from::canSend);
    }

    /// Its memory may be closed while it is copied: then neither a byte nor a credit is used.
    @Test
    void aSourceThatFailsSendsNothingAndCostsNothing() {
        for (int i = 0; i < 2 * CREDITS; i++) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> from.send(
                            (_, _, into) -> {
                                into.put(ByteBuffer.wrap(new byte[] {1, 2, 3}), 0, 3);
                                throw new IllegalStateException("closed");
                            },
                            0,
                            5));
        }
        assertThat(send(ByteBuffer.wrap(new byte[] {4, 5}))).isEqualTo(2);
        until(to, () -> to.available() > 0);
        byte[] got = new byte[10];
        assertThat(to.receive(ByteBuffer.wrap(got), 0, 10)).isEqualTo(2);
        assertThat(got).startsWith(4, 5, 0);
    }

    @Test
    void aHalfIsShownAgainWhenItHasBeenRead() {
        assertThat(send(ByteBuffer.allocate(10 * HALF))).isEqualTo(HALF); // what the greeting has shown
        until(to, () -> to.available() == HALF);
        until(from, from::canSend); // the other half
        assertThat(send(ByteBuffer.allocate(10 * HALF))).isEqualTo(HALF);
        until(to, () -> to.available() == 2 * HALF);
        until(from, from::isSent);
        assertThat(from.canSend()).isFalse();
        assertThat(to.receive(ByteBuffer.allocate(HALF - 1), 0, HALF - 1)).isEqualTo(HALF - 1);
        to.progress();
        until(to, to::isSent); // nothing was said, and so nothing is on its way
        from.progress();
        assertThat(from.canSend()).isFalse();
        assertThat(to.receive(ByteBuffer.allocate(1), 0, 1)).isEqualTo(1);
        until(from, from::canSend);
    }

    @Test
    void bytesKeepTheirOrderAcrossTheEndsOfBothRings() {
        var chance = new Random(7);
        int sent = 0;
        int read = 0;
        for (int round = 0; read < 300_000; round++) {
            assertThat(round).isLessThan(1_000_000);
            ByteBuffer data = ByteBuffer.allocate(1 + chance.nextInt(5_000));
            for (int i = 0; i < data.capacity(); i++) {
                data.put(i, byteAt(sent + i));
            }
            sent += (int) send(data);
            from.progress();
            to.progress();
            boolean isPeek = chance.nextBoolean();
            MemorySegment into = MemorySegment.ofArray(new byte[1 + chance.nextInt(5_000)]);
            int over = isPeek ? chance.nextInt(3) : 0;
            long count = to.receive(into, 0, into.byteSize(), isPeek, over);
            for (int i = 0; i < count; i++) {
                assertThat(into.get(ValueLayout.JAVA_BYTE, i)).isEqualTo(byteAt(read + over + i));
            }
            read += isPeek ? 0 : (int) count;
        }
    }

    private static byte byteAt(int place) {
        return (byte) ((place * 0x9E37_79B9) >>> 24);
    }

    @Test
    void aPeerWritesToWhatIsMappedForIt() {
        try (var arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(64);
            assertThat(to.mappings().map(memory, true, 0x1000)).isTrue();
            assertThat(to.mappings().unmap(memory.address(), 63)).isFalse();
            until(to, to::isSent);
            until(from, () -> from.mappings().write(MemorySegment.ofArray(new byte[] {5}), 0, 1, 0x103F) == 1);
            assertThat(from.mappings().write(MemorySegment.ofArray(new byte[1]), 0, 1, 0x1040))
                    .isEqualTo(-1);
            until(from, from::isSent);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, 63)).isEqualTo((byte) 5);
            assertThat(to.mappings().unmap(memory.address(), 64)).isTrue();
        }
    }

    @Test
    void theEndOfOneDirectionIsSaidAndTheEndOfBoth() {
        var ends = new StreamEnds();
        var theirs = new StreamEnds();
        ends.begin();
        theirs.begin();
        assertThat(ends.shutdown(true, false)).isEqualTo(StreamEnds.NOTHING);
        assertThat(ends.shutdown(false, true)).isEqualTo(StreamMessage.DISCONNECT);
        assertThat(theirs.shutdown(false, true)).isEqualTo(StreamMessage.SHUTDOWN);
        assertThat(theirs.shutdown(false, true)).isEqualTo(StreamEnds.NOTHING);
        theirs.say(StreamMessage.SHUTDOWN, to);
        until(from, from::peerSendsNoMore);
        ends.say(StreamMessage.DISCONNECT, from);
        until(to, to::isOver);
        assertThat(theirs.look(to)).isTrue();
        assertThat(to.failure()).isNull();
    }
}
