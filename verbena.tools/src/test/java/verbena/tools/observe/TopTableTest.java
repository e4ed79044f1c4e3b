package verbena.tools.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.nic.management.PeerStatus;
import verbena.nic.management.QueuePairStatus;
import verbena.tools.observe.Look.DeviceLook;
import verbena.tools.observe.Look.ProcessLook;
import verbena.tools.observe.TopTable.Order;

class TopTableTest {
    private static final long SECOND = 1_000_000_000L;

    private static QueuePairStatus queuePair(int qpn, long packets, long again, long outstanding, String cause) {
        return new QueuePairStatus(
                qpn,
                "RC",
                cause.isEmpty() ? "RTS" : "ERR",
                "10.0.0.2",
                0x17,
                packets,
                packets * 100,
                packets / 2,
                packets * 10,
                again,
                0,
                0,
                0,
                packets,
                cause.isEmpty() ? 0 : 3,
                outstanding,
                128,
                5,
                512,
                qpn == 2,
                1,
                64,
                cause);
    }

    private static Look look(long seconds, QueuePairStatus... queuePairs) {
        long sent = List.of(queuePairs).stream()
                .mapToLong(QueuePairStatus::sentPackets)
                .sum();
        var device = new DeviceLook(
                1,
                "rocev2_eth0",
                "INFINIBAND",
                "ACTIVE",
                seconds * SECOND,
                List.of("10.0.0.1"),
                Map.of("sent.packets", sent, "dropped.icrc", 2L, "dropped.state", 3L),
                List.of(queuePairs),
                List.of());
        return new Look(seconds * 1000, List.of(new ProcessLook(4711, "Server -x", null, List.of(device))));
    }

    @Test
    void ratesAreWhatHasChangedBetweenTwoLooks() {
        List<String> lines = TopTable.lines(
                look(10, queuePair(1, 1_000, 0, 0, "")), look(12, queuePair(1, 25_000, 7, 12, "")), Order.RATE);

        assertThat(lines.getFirst()).contains("1 process, 1 device, 1 queue pair; by rate");
        assertThat(lines.get(3)).matches(" +4711 rocev2_eth0 +ACTIVE +1 +12.0k +0 .* 5 +0  Server -x");
        assertThat(lines.get(6))
                .matches(
                        " +4711 0x000001 RC +RTS +10.0.0.2 0x17 +12.0k +6.00k +1.20M +120k +7 +0 +12/128 +5/512 +1 +0");
    }

    @Test
    void theFirstLookHasNoRates() {
        List<String> lines = TopTable.lines(null, look(10, queuePair(1, 1_000, 0, 0, "")), Order.RATE);

        assertThat(lines.get(3)).matches(" +4711 rocev2_eth0 +ACTIVE +1 +- +- +- +- .*");
        assertThat(lines.get(6)).matches(" +4711 0x000001 .* 0x17 +- +- +- +- +0 .*");
    }

    @Test
    void theWaysOfOneSidedRequestsAreTold() {
        Map<String, Long> before = Map.of("direct.requests", 1_000L);
        Map<String, Long> now =
                Map.of("direct.requests", 5_000L, "direct.system.requests", 24L, "direct.declined.requests", 8L);
        assertThat(TopTable.lines(sharedMemory(10, before), sharedMemory(12, now), Order.RATE))
                .contains("        ^ one-sided requests/s: 2.00k without packets (12 of them by the kernel), "
                        + "4 by the peer's engine");
    }

    @Test
    void messagesWithoutPacketsAreTold() {
        Map<String, Long> before = Map.of("direct.messages", 1_000L, "direct.message.bytes", 8_000L);
        Map<String, Long> now = Map.of("direct.messages", 5_000L, "direct.message.bytes", 40_000L);
        assertThat(TopTable.lines(sharedMemory(10, before), sharedMemory(12, now), Order.RATE))
                .contains("        ^ messages/s without packets: 2.00k, with 16.0k bytes");
    }

    @Test
    void peersAndTheirKeysAreTold() {
        var one = new PeerStatus(
                "10.0.0.2",
                "required",
                "encrypted",
                "AES_GCM_256",
                1000,
                0x1234,
                61_000,
                3,
                9,
                8,
                Map.of("forged", 2L));
        var other = new PeerStatus("10.0.0.3", "offered", "in the clear", "AES_GCM_256", 4791, 0, 0, 0, 0, 0, Map.of());
        var peers = new ArrayList<PeerStatus>(List.of(one, other));
        peers.addAll(Collections.nCopies(9, other));
        var device = new DeviceLook(
                1, "rocev2", "INFINIBAND", "ACTIVE", SECOND, List.of("10.0.0.1"), Map.of(), List.of(), peers);
        var look = new Look(1_000, List.of(new ProcessLook(4711, "Server -x", null, List.of(device))));
        assertThat(TopTable.lines(null, look, Order.RATE))
                .contains(
                        "        ^ psp 10.0.0.2: required, encrypted by AES_GCM_256 at UDP port 1000, SPI 0x00001234,"
                                + " for 61 s, keys no. 3, dropped {forged=2}",
                        "        ^ psp 10.0.0.3: offered, in the clear",
                        "        ^ and 3 more");
    }

    private static Look sharedMemory(long seconds, Map<String, Long> counters) {
        var device = new DeviceLook(
                1,
                "shm",
                "INFINIBAND",
                "ACTIVE",
                seconds * SECOND,
                List.of("127.0.0.1"),
                counters,
                List.of(),
                List.of());
        return new Look(seconds * 1000, List.of(new ProcessLook(4711, "Server -x", null, List.of(device))));
    }

    @Test
    void aQueuePairInErrSaysWhyAndASharedReceiveQueueIsMarked() {
        List<String> lines = TopTable.lines(
                null, look(10, queuePair(2, 0, 0, 0, "RETRY_EXC_ERR on the request with wrId 7: ...")), Order.RATE);

        assertThat(lines.get(6)).contains(" ERR ").contains("5/512s");
        assertThat(lines.get(7)).isEqualTo("                 ^ RETRY_EXC_ERR on the request with wrId 7: ...");
    }

    @ParameterizedTest
    @CsvSource({"RATE, 3 1 2", "RETRIES, 2 1 3", "QUEUE, 1 2 3", "ERRORS, 2 1 3", "NUMBER, 1 2 3"})
    void theMostComesFirst(Order order, String expected) {
        Look before = look(10, queuePair(1, 0, 0, 0, ""), queuePair(2, 0, 0, 0, ""), queuePair(3, 0, 0, 0, ""));
        Look now = look(11, queuePair(1, 50, 1, 9, ""), queuePair(2, 5, 9, 0, "broken"), queuePair(3, 500, 0, 0, ""));

        assertThat(TopTable.lines(before, now, order).stream()
                        .filter(line -> line.contains("0x00000"))
                        .map(line -> line.replaceFirst("^.*0x00000(\\d).*$", "$1")))
                .containsExactly(expected.split(" ", -1));
    }

    @Test
    void aProcessThatDoesNotAnswerIsThere() {
        var look = new Look(0, List.of(new ProcessLook(12, "", "does not answer", List.of())));

        assertThat(TopTable.lines(null, look, Order.RATE)).contains("     12 does not answer");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "7, 7",
        "999, 999",
        "999.6, 1.00k",
        "12345, 12.3k",
        "99960, 100k",
        "1234567, 1.23M",
        "5e9, 5.00G",
        "NaN, -",
        "-1, 0"
    })
    void numbersAreShort(double value, String text) {
        assertThat(TopTable.number(value)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "verbena.tools/verbena.tools.Verbena rping -s, Verbena rping -s",
        "com.example.Server, Server",
        "/opt/app/server.jar --port 7, server.jar --port 7",
        "'', ''"
    })
    void aProgramIsItsMainClassAndArguments(String command, String program) {
        assertThat(Observed.program(command)).isEqualTo(program);
    }

    @Test
    void wordsAsTheKernelHasThemAreSeparatedByBlanks() {
        assertThat(Observed.program("/usr/bin/ibv_rc_pingpong\0-g\0000\0")).isEqualTo("ibv_rc_pingpong -g 0");
        assertThat(Observed.program("a.Main \u001b[2J")).isEqualTo("Main \\x1b[2J");
    }
}
