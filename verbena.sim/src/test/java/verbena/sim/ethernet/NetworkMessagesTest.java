package verbena.sim.ethernet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NetworkMessagesTest {
    private static final int MTU = 4096;
    private static final int HEADERS = 82;
    private static final long PICOS_PER_BYTE = 80;

    private final EthernetNetwork network = new EthernetNetwork(1);
    private final List<String> log = new ArrayList<>();

    private NetworkMessages over(String text) {
        NetworkText.build(network, text.lines().toList());
        return new NetworkMessages(network, (number, now) -> log.add(number + " at " + now));
    }

    private static void run(NetworkMessages messages) {
        while (messages.due() != Long.MAX_VALUE) {
            messages.step();
        }
    }

    private static long onLink(long bytes) {
        return bytes * PICOS_PER_BYTE;
    }

    @Test
    void aMessageHasArrivedWhenItsLastPacketHas() {
        NetworkMessages messages = over("host a\nhost b\nlink a b 100G 30ns");
        messages.send(0, 1, 5000, MTU, HEADERS, 7, 1_000);
        run(messages);
        assertThat(log).containsExactly("7 at " + (1_000 + onLink(5000 + 2 * HEADERS) + 30_000));
        assertThat(messages.lost()).isZero();
    }

    @Test
    void aMessageWithoutBytesIsAPacket() {
        NetworkMessages messages = over("host a\nhost b\nlink a b 100G 30ns");
        messages.send(1, 0, 0, MTU, HEADERS, 0, 0);
        run(messages);
        assertThat(log).containsExactly("0 at " + (onLink(HEADERS) + 30_000));
    }

    @Test
    void aSwitchSendsWholePacketsOnAndTwoSendersTakeTurns() {
        NetworkMessages messages = over("star 3 100G 100ns");
        messages.send(0, 2, MTU, MTU, HEADERS, 1, 0);
        messages.send(1, 2, MTU, MTU, HEADERS, 2, 0);
        run(messages);
        long packet = onLink(MTU + HEADERS);
        assertThat(log).containsExactly("1 at " + (2 * packet + 200_000), "2 at " + (3 * packet + 200_000));
        assertThat(network.switches().getFirst().mostUsed())
                .as("the second alone: the first leaves at once")
                .isEqualTo(MTU + HEADERS);
    }

    @Test
    void theCallersTimeIsTheNetworks() {
        NetworkMessages messages = over("star 2 100G 100ns");
        messages.send(0, 1, 8, MTU, HEADERS, 1, 5_000_000);
        assertThat(messages.due()).isEqualTo(5_000_000 + onLink(8 + HEADERS) + 100_000);
        run(messages);
        assertThat(log).containsExactly("1 at " + (5_000_000 + 2 * onLink(8 + HEADERS) + 200_000));
    }

    @Test
    void whatASwitchDropsIsLost() {
        NetworkMessages messages = over("star 3 100G 100ns buffer=20KB drop");
        for (int i = 0; i < 20; i++) {
            messages.send(i % 2, 2, MTU, MTU, HEADERS, i, 0);
        }
        run(messages);
        assertThat(messages.lost()).isPositive().isEqualTo(20 - log.size());
    }
}
