package verbena.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Gid;

class PingpongPeerTest {
    /// As ibv_rc_pingpong of rdma-core 44 sent it over TCP.
    private static final String FROM_C = "0000:000011:f33a36:00000000000000000000ffff0a4d000b\0";

    private static final PingpongPeer PEER = new PingpongPeer(0, 0x11, 0xF33A36, Gid.parse("10.77.0.11"));

    @Test
    void theMessageIsThatOfTheCProgram() {
        assertThat(PingpongPeer.parse(FROM_C)).isEqualTo(PEER);
        assertThat(PEER.message()).isEqualTo(FROM_C);
        assertThat(PingpongPeer.MESSAGE_BYTES).isEqualTo(FROM_C.length()).isEqualTo(52);
    }

    @Test
    void theLineIsThatOfTheCProgram() {
        assertThat(PEER).hasToString("LID 0x0000, QPN 0x000011, PSN 0xf33a36, GID ::ffff:10.77.0.11");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "GET / HTTP/1.1\r\nHost: somewhere with a long name\r\n",
                "0000:000011:f33a36:00000000000000000000ffff0a4d000b ",
                "0000:000011:f33a36:00000000000000000000ffff0a4d000\0",
                "0000-000011-f33a36-00000000000000000000ffff0a4d000b\0",
                "0000:00001g:f33a36:00000000000000000000ffff0a4d000b\0"
            })
    void anythingElseIsRefused(String message) {
        assertThatThrownBy(() -> PingpongPeer.parse(message))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("LID:QPN:PSN:GID expected")
                .hasMessageNotContaining("\n");
    }
}
