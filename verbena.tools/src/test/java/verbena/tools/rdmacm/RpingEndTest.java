package verbena.tools.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/// What `rping` says on the wire.
class RpingEndTest {
    @Test
    void theMessageIsInNetworkOrder() {
        MemorySegment message = MemorySegment.ofArray(new byte[RpingInfo.BYTES]);
        var info = new RpingInfo(0x0000_552a_ac24_4190L, 0x53c, 64);

        info.writeTo(message);

        // As rping sent it to another.
        assertThat(HexFormat.of().formatHex(message.toArray(ValueLayout.JAVA_BYTE)))
                .isEqualTo("0000552aac244190" + "0000053c" + "00000040");
        assertThat(RpingInfo.from(message)).isEqualTo(info).hasToString("rkey 53c addr 552aac244190 len 64");
    }

    @Test
    void theDataAreThoseOfTheCProgram() {
        assertThat(data(64, 0)).isEqualTo("rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr\0");
        assertThat(data(64, 2)).isEqualTo("rdma-ping-2: CDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrst\0");
        assertThat(data(80, 0)).endsWith("xyzABCDEFGH\0");
        assertThat(data(23, 57)).isEqualTo("rdma-ping-57: zABCDEFG\0");
        assertThat(data(23, 58)).isEqualTo("rdma-ping-58: ABCDEFGH\0");
        assertThat(data(99, Integer.MAX_VALUE))
                .startsWith("rdma-ping-2147483647: ")
                .endsWith("WXY\0");
        assertThat(data(23, Integer.MAX_VALUE)).isEqualTo("rdma-ping-2147483647: \0");
    }

    private static String data(int size, int ping) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(size);
            RpingEnd.fill(buffer, ping);
            return new String(buffer.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII);
        }
    }
}
