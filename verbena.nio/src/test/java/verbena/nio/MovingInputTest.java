package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A reader that waits in the kernel while its peer moves, and sleeps on until the peer has gone back: it finds the
/// mark in the middle of what it reads.
class MovingInputTest {
    /// The calls by which a program reads.
    enum How {
        BUFFER,
        BUFFERS,
        ARRAY
    }

    private final Queue<Runnable> meanwhile = new ArrayDeque<>();
    private final Queue<String> byTcp = new ArrayDeque<>();
    private final Queue<String> byStream = new ArrayDeque<>();
    /// The milliseconds that the reads into arrays may wait.
    private final List<Integer> limits = new ArrayList<>();
    private final Carrier stream = carrier(byStream);
    private final MoveState state = new MoveState(new ReentrantLock());
    private final MovingInput input =
            new MovingInput(carrier(byTcp), state, new Use(Pace.ofMillis(0, 0)), new ReentrantLock());

    /// A carrier whose reads find these pieces, and then the end.
    private Carrier carrier(Queue<String> pieces) {
        return (Carrier) Proxy.newProxyInstance(
                Carrier.class.getClassLoader(), new Class<?>[] {Carrier.class}, (_, method, arguments) -> {
                    assertThat(method.getName()).isEqualTo("read");
                    if (!meanwhile.isEmpty()) {
                        meanwhile.remove().run();
                    }
                    if (pieces.isEmpty()) {
                        Object end = -1;
                        return method.getReturnType() == int.class ? end : -1L;
                    }
                    ByteBuffer piece = ByteBuffer.wrap(pieces.remove().getBytes(StandardCharsets.US_ASCII));
                    return switch (arguments[0]) {
                        case ByteBuffer into -> new Reads.One(into).from(piece);
                        case ByteBuffer[] into ->
                            (long) Reads.of(into, 0, into.length).from(piece);
                        case byte[] into -> {
                            limits.add((int) arguments[3]);
                            yield Reads.of(into, (int) arguments[1], (int) arguments[2], 0)
                                    .from(piece);
                        }
                        default -> throw new AssertionError(method);
                    };
                });
    }

    private String read(How how) throws IOException, InterruptedException {
        byte[] array = new byte[100];
        var into = new ByteBuffer[] {
            ByteBuffer.wrap(array, 0, 2),
            ByteBuffer.wrap(array, 2, 1).slice(),
            ByteBuffer.wrap(array, 3, 97).slice()
        };
        long done = input.read(
                switch (how) {
                    case BUFFER -> new Reads.One(ByteBuffer.wrap(array));
                    case BUFFERS -> Reads.of(into, 0, into.length);
                    case ARRAY -> Reads.of(array, 0, array.length, 0);
                });
        return done < 0 ? String.valueOf(done) : new String(array, 0, (int) done, StandardCharsets.US_ASCII);
    }

    private void peerMoves(int bytes) {
        assertThat(input.endsAfter(bytes)).as("wants a mark").isTrue();
        input.follow(stream);
    }

    @ParameterizedTest
    @EnumSource
    void whatIsBehindTheMarkIsReadAfterTheStream(How how) throws Exception {
        meanwhile.add(() -> peerMoves(4));
        byTcp.add("abcd*efgh");
        byStream.add("stream");
        assertThat(read(how)).isEqualTo("abcd");
        assertThat(read(how)).isEqualTo("stream");
        assertThat(input.hasKept()).isFalse();
        assertThat(read(how)).isEqualTo(String.valueOf(MovingInput.AGAIN));
        assertThat(input.hasKept()).isTrue();
        assertThat(input.available()).isEqualTo(4);
        assertThat(input.endsAfter(9)).as("a mark, though no thread reads").isFalse();
        input.follow(stream);
        byStream.add("again");
        assertThat(input.looksMoved()).isFalse();
        assertThat(read(how)).isEqualTo("efgh");
        assertThat(input.hasKept()).isFalse();
        assertThat(read(how)).as("9 bytes have come by TCP, the mark with them").isEqualTo("again");
    }

    /// A peer that has waited in vain for this end's answer stays with TCP, and goes on there before this end knows.
    @ParameterizedTest
    @EnumSource
    void whatWasTakenForAMarkIsDataIfThePeerStays(How how) throws Exception {
        meanwhile.add(() -> assertThat(input.endsAfter(4)).as("wants a mark").isTrue());
        byTcp.add("abcdefg");
        assertThat(read(how)).isEqualTo("abcd");
        assertThat(input.hasKept()).isFalse();
        input.doesNotEnd();
        assertThat(input.hasKept()).isTrue();
        assertThat(input.available()).isEqualTo(3);
        assertThat(read(how)).isEqualTo("efg");
        assertThat(input.hasKept()).isFalse();
        assertThat(input.endsAfter(7)).as("a mark, though no thread reads").isFalse();
        input.follow(stream);
        byStream.add("stream");
        assertThat(read(how)).as("7 bytes have come by TCP").isEqualTo("stream");
    }

    @Test
    void aMarkAloneIsNoData() throws Exception {
        meanwhile.add(() -> peerMoves(0));
        byTcp.add("*");
        byStream.add("stream");
        assertThat(read(How.BUFFER)).isEqualTo("stream");
    }

    /// The limit is that of the call, also where the call waits for TCP first, and then for the stream.
    @Test
    void aTimeLimitBeginsOnce() throws Exception {
        meanwhile.add(() -> {
            peerMoves(0);
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(5);
            while (System.nanoTime() < end) {
                Thread.onSpinWait();
            }
        });
        byTcp.add("*");
        byStream.add("stream");
        assertThat(input.read(Reads.of(new byte[100], 0, 100, 60_000))).isEqualTo(6);
        assertThat(limits).hasSize(2);
        assertThat(limits.getLast()).isLessThan(limits.getFirst());
    }

    /// The peer has ended its data before it could write the mark.
    @Test
    void anEndInPlaceOfTheMarkIsNoEndOfData() throws Exception {
        meanwhile.add(() -> peerMoves(0));
        byStream.add("stream");
        assertThat(read(How.BUFFER)).isEqualTo("stream");
    }
}
