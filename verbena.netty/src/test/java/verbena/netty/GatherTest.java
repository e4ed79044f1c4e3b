package verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Buffers that are flushed together leave together, as with a gathering write to a socket.
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GatherTest {
    private static final int PIECES = 200;
    private static final int PIECE_BYTES = 10;
    /// One has the data; others may have credits. Without gathering there would be 400.
    private static final long MESSAGES_MAX = 8;

    private final Random chance = new Random(1);
    private final ByteArrayOutputStream all = new ByteArrayOutputStream();

    private byte[] piece() {
        var made = new byte[PIECE_BYTES];
        chance.nextBytes(made);
        all.writeBytes(made);
        return made;
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "rocev2", "iwarp"})
    void smallBuffersAndPiecesLeaveTogether(String device) throws Exception {
        try (var ends = new NettyEnds(device)) {
            NettyEnds.Pair pair = ends.pair();
            long before = ends.serverCompletions();
            for (int i = 0; i < PIECES; i++) {
                var _ = pair.client().write(Unpooled.wrappedBuffer(piece()));
            }
            CompositeByteBuf composite = ByteBufAllocator.DEFAULT.compositeBuffer(PIECES);
            for (int i = 0; i < PIECES; i++) {
                composite.addComponent(true, Unpooled.directBuffer(PIECE_BYTES).writeBytes(piece()));
            }
            var _ = pair.client().writeAndFlush(composite);
            assertThat(pair.atServer().take(all.size())).isEqualTo(all.toByteArray());
            assertThat(ends.serverCompletions() - before).isLessThanOrEqualTo(MESSAGES_MAX);
        }
    }
}
