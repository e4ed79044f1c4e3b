package verbena.sim.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.sim.script.Replay.Allowance;
import verbena.sim.script.Replay.Plan;

/// Replays every capture of the lab but those of connection management. Our end takes the place of one side, and is
/// given the other side's packets at their times. It has to send what the kernel's soft-RoCE sent, byte for byte,
/// ICRC included. Each capture is replayed twice: once as A, which asks, and once as B, which answers.
///
/// What legitimately differs is named here for each packet; the reasons are in [Allowance].
class GoldenReplayTest {
    private static List<Plan> plans() {
        List<Plan> plans = new ArrayList<>();
        for (int mtu : new int[] {256, 512, 1024, 2048, 4096}) {
            plans.add(new Plan("rc-send-multi-mtu" + mtu).receivesOfB(1, 16384));
        }
        for (int mtu : new int[] {256, 1024, 4096}) {
            plans.add(new Plan("rc-write-multi-mtu" + mtu));
            plans.add(new Plan("rc-read-multi-mtu" + mtu));
        }
        plans.add(new Plan("rc-send-only").receivesOfB(3, 1024));
        plans.add(new Plan("rc-send-solicited").receivesOfB(2, 1024));
        plans.add(new Plan("rc-send-imm-only").receivesOfB(1, 16384));
        plans.add(new Plan("rc-send-imm-multi").receivesOfB(1, 16384));
        plans.add(new Plan("rc-write-only"));
        plans.add(new Plan("rc-write-zero"));
        plans.add(new Plan("rc-write-imm-only").receivesOfB(1, 16384));
        plans.add(new Plan("rc-write-imm-multi").receivesOfB(1, 16384));
        plans.add(new Plan("rc-read-only"));
        plans.add(new Plan("rc-ipv6").receivesOfB(1, 4096));
        plans.add(new Plan("rc-psn-wrap").receivesOfB(1, 4096));
        plans.add(new Plan("rc-read-psn-wrap"));
        plans.add(new Plan("rc-atomic").wordOfB(512, 0x1122334455667788L).localOffsets(0, 8, 16));
        plans.add(
                new Plan("rc-many-outstanding").receivesOfB(4, 1024).localOffsets(0, 0, 0, 0, 0, 0, 4096, 8192, 9000));
        plans.add(new Plan("rc-both-ways").receivesOfB(1, 4096).receiveOfA(8192, 4096));
        plans.add(new Plan("rc-send-inv")
                .receivesOfB(2, 1024)
                .windowOfB(0x80001d5, 0x80001d6, 0x362b3000L, 4096)
                .failsWith(10));
        plans.add(new Plan("rc-rnr-nak").receiveOfBBefore(9, 1024));
        plans.add(new Plan("rc-rnr-exceeded").failsWith(13));
        plans.add(new Plan("rc-write-imm-rnr")
                .receiveOfBBefore(15, 1024)
                .allow(Allowance.WHOLE_WRITE_AGAIN_AFTER_RNR, 5, 6, 7, 8));
        plans.add(new Plan("rc-seq-nak").receivesOfB(1, 8192).lostToB(2));
        plans.add(new Plan("rc-timeout-retransmit").receivesOfB(1, 8192).lostToB(1));
        plans.add(new Plan("rc-ack-lost").receivesOfB(2, 8192).lostToA(2));
        plans.add(new Plan("rc-read-response-lost")
                .lostToA(4)
                .allow(Allowance.READ_RESUMED_WITHOUT_FIRST, 8)
                .allow(Allowance.ASKED_AGAIN_AT_ONCE, 7));
        plans.add(new Plan("rc-read-last-lost").lostToA(4).allow(Allowance.READ_RESUMED_WITHOUT_FIRST, 6));
        plans.add(new Plan("rc-atomic-lost").wordOfB(512, 100).lostToA(2));
        plans.add(new Plan("rc-retry-exceeded")
                .lostToB(1, 2, 3, 4)
                .allow(Allowance.TIMER_IN_TICKS, 2, 3, 4)
                .failsWith(12));
        plans.add(new Plan("rc-nak-write-bad-rkey").failsWith(10));
        plans.add(new Plan("rc-nak-read-bad-rkey").failsWith(10));
        plans.add(new Plan("rc-nak-write-out-of-bounds").failsWith(10));
        plans.add(new Plan("rc-nak-read-no-access").failsWith(9));
        plans.add(new Plan("rc-nak-write-no-access").failsWith(9));
        plans.add(new Plan("rc-nak-recv-too-small")
                .receivesOfB(1, 1000)
                .sendBytes(2500)
                .allow(Allowance.SHORT_RECEIVE_IS_OPERATIONAL, 2)
                .failsWith(11));
        plans.add(new Plan("rc-send-srq")
                .connection(0x6f, 0x6e, 0xa100)
                .connection(0x70, 0x6f, 0xb100)
                .receivesOfB(2, 1024)
                .received("wr 100 success opcode recv byte-len 100", "wr 101 success opcode recv byte-len 100"));
        plans.add(new Plan("uc-send")
                .receivesOfB(3, 4096)
                .dataOfAAt(0, 2500)
                .received(
                        "wr 100 success opcode recv byte-len 100",
                        "wr 101 success opcode recv byte-len 2500",
                        "wr 102 success opcode recv byte-len 100 imm 0xa5a5a5a5"));
        plans.add(new Plan("uc-write")
                .receivesOfB(2, 4096)
                .dataOfAAt(0, 2500)
                .received(
                        "wr 100 success opcode recv-rdma-with-imm byte-len 2500 imm 0x0a0b0c0d",
                        "wr 101 success opcode recv-rdma-with-imm byte-len 10 imm 0x00000001"));
        plans.add(new Plan("uc-lost-middle")
                .receivesOfB(2, 8192)
                .lostToB(2)
                .allow(Allowance.RECEIVES_AFTER_A_BROKEN_MESSAGE, 5)
                .received("wr 100 success opcode recv byte-len 100"));
        for (String name : List.of("ud-send", "ud-send-ipv6")) {
            plans.add(new Plan(name)
                    .receivesOfB(3, 2048, 2048)
                    .dataOfAAt(2 * 2048 + 40, 1021)
                    .received(
                            "wr 100 success opcode recv byte-len 104" + sender(name),
                            "wr 101 success opcode recv byte-len 140" + sender(name) + " imm 0x87654321",
                            "wr 102 success opcode recv byte-len 1061" + sender(name)));
        }
        plans.add(new Plan("ud-bad-qkey")
                .receivesOfB(2, 2048, 2048)
                .dataOfAAt(40, 64)
                .received("wr 100 success opcode recv byte-len 104 source-qp 0x76"));
        plans.add(new Plan("mcast-mckey")
                .receivesOfB(3, 140)
                .dataIsRecorded()
                .received(
                        "wr 100 success opcode recv byte-len 140 source-qp 0x80 imm 0x00000080",
                        "wr 101 success opcode recv byte-len 140 source-qp 0x80 imm 0x00000080",
                        "wr 102 success opcode recv byte-len 140 source-qp 0x80 imm 0x00000080"));
        return plans;
    }

    private static String sender(String name) {
        return name.equals("ud-send") ? " source-qp 0x74" : " source-qp 0x75";
    }

    static Path golden() {
        return Path.of(Objects.requireNonNull(System.getProperty("verbena.root"), "verbena.root is set by the build"))
                .resolve("golden");
    }

    @ParameterizedTest
    @MethodSource("plans")
    void weAnswerAsTheRecordedResponderDid(Plan plan) throws IOException {
        Replay.run(plan, golden(), false);
    }

    @ParameterizedTest
    @MethodSource("plans")
    void weAskAsTheRecordedRequesterDid(Plan plan) throws IOException {
        Replay.run(plan, golden(), true);
    }

    @Test
    void everyCaptureOfQueuePairsIsReplayed() throws IOException {
        try (Stream<Path> files = Files.list(golden())) {
            assertThat(files.map(file -> file.getFileName().toString())
                            .filter(name -> name.matches("(rc|uc|ud|mcast)-.*\\.pcap")))
                    .allSatisfy(name -> assertThat(plans()).anyMatch(plan -> name.equals(plan.name + ".pcap")));
        }
    }
}
