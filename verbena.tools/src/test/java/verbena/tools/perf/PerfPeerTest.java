package verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Gid;

class PerfPeerTest {
    /// As `ib_write_bw` of perftest 4.5 sends it.
    private static final String TEXT = "0000:0001:000074:2822a2:00005f25:0000000040588000:"
            + "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:4d:00:0b:00000000:\0";

    private static final PerfPeer PEER =
            new PerfPeer(0, 1, 0x74, 0x2822a2, 0x5f25, 0x4058_8000L, Gid.parse("10.77.0.11"));

    @Test
    void theTextIsThatOfTheCProgram() {
        assertThat(new String(PEER.text(), StandardCharsets.US_ASCII)).isEqualTo(TEXT);
        assertThat(TEXT).hasSize(PerfPeer.TEXT_BYTES);
        assertThat(PerfPeer.ofText(TEXT.getBytes(StandardCharsets.US_ASCII))).isEqualTo(PEER);
    }

    @Test
    void theStructureIsThatOfTheCProgram() {
        String structure = "00000000 00000001 00000074 002822a2 00005f25 00000000 0000000040588000"
                + "00000000000000000000ffff0a4d000b 00000000 00000000";

        assertThat(HexFormat.of().formatHex(PEER.structure())).isEqualTo(structure.replace(" ", ""));
        assertThat(PerfPeer.ofStructure(PEER.structure())).isEqualTo(PEER);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "hello", "0000:0001:000074", "zzzz", "00000000000000:1:1:1:1:1"})
    void anythingElseIsRefused(String text) {
        byte[] message =
                (text + TEXT.substring(text.length())).replace("0a:4d", "zz:zz").getBytes(StandardCharsets.US_ASCII);

        assertThatThrownBy(() -> PerfPeer.ofText(message))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected, got");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10000:0001:000074:2822a2",
                "0000:ffffffff:000074:2822a2",
                "0000:0001:1000074:2822a2",
                "0000:0001:000074:ff2822a2"
            })
    void numbersThatNoQueuePairHasAreRefusedWhenTheyAreRead(String numbers) {
        byte[] text =
                (numbers + TEXT.substring("0000:0001:000074:2822a2".length())).getBytes(StandardCharsets.US_ASCII);
        byte[] structure = PEER.structure();
        String[] number = numbers.split(":", -1);
        for (int i = 0; i < number.length; i++) {
            ByteBuffer.wrap(structure).putInt(Integer.BYTES * i, HexFormat.fromHexDigits(number[i]));
        }

        assertThatThrownBy(() -> PerfPeer.ofText(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected, got");
        assertThatThrownBy(() -> PerfPeer.ofStructure(structure))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no queue pair has");
    }

    @Test
    void theLinesAreThoseOfTheCProgram() {
        assertThat(PEER.lines("remote", Verb.WRITE))
                .isEqualTo(" remote address: LID 0000 QPN 0x0074 PSN 0x2822a2 RKey 0x005f25 VAddr 0x00000040588000\n"
                        + " GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:77:00:11");
        assertThat(PEER.lines("local", Verb.READ)).contains("PSN 0x2822a2 OUT 0x01 RKey 0x005f25");
        assertThat(PEER.lines("local", Verb.SEND)).contains("PSN 0x2822a2\n");
    }
}
