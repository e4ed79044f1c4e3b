package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;
import static verbena.sim.script.PacketScript.uc;
import static verbena.sim.script.PacketScript.ud;

import org.junit.jupiter.api.Test;

/// Packets whose path has a static rate leave with the space that it asks for (IBTA 9.11).
class StaticRateTest {
    /// A packet of a WRITE with 1,024 bytes takes 1,086 on the wire (1,102 with its RETH): 86.88 us (88.16 us).
    private static final long RATE = 100_000_000;

    @Test
    void packetsOfAConnectionAreSpaced() {
        rc().rate(RATE).run("""
                a         post  write 5120 -> r1+0  wr 1 signaled
                a -> b    WRITE_FIRST   psn 100  | 1024       # 50 us of the past are made up for
                +38.160us  a -> b    WRITE_MIDDLE  psn 101  | 1024
                +86.880us  a -> b    WRITE_MIDDLE  psn 102  | 1024
                +86.880us  a -> b    WRITE_MIDDLE  psn 103  | 1024
                +86.880us  a -> b    WRITE_LAST    psn 104  ackreq  | 1024
                b -> a    ACK  psn 104
                a         completion  wr 1 success
                b         memory  r1+0 len 5120 as sent
                """);
    }

    @Test
    void aSenderThatWasLateMakesUpForItAndSavesNoBurst() {
        rc().rate(RATE).run("""
                a         post  write 6144 -> r1+0  wr 1 signaled
                a -> b    WRITE_FIRST   psn 100  | 1024
                +38.160us  a -> b    WRITE_MIDDLE  psn 101  | 1024
                nobody moves until +100us
                a -> b    WRITE_MIDDLE  psn 102  | 1024
                +73.760us  a -> b    WRITE_MIDDLE  psn 103  | 1024
                nobody moves until +1ms
                a -> b    WRITE_MIDDLE  psn 104  | 1024
                +36.880us  a -> b    WRITE_LAST    psn 105  ackreq  | 1024
                b -> a    ACK  psn 105
                a         completion  wr 1 success
                """);
    }

    @Test
    void theEndThatAnswersAReadIsSlowedByItsOwnPath() {
        rc().rate(RATE).run("""
                a         post  read 3072 <- r1+0  wr 1 signaled
                a -> b    READ_REQUEST  psn 100
                b -> a    READ_RESPONSE_FIRST   psn 100  | 1024
                +37.200us  b -> a    READ_RESPONSE_MIDDLE  psn 101  | 1024
                +86.880us  b -> a    READ_RESPONSE_LAST  psn 102  | 1024
                a         completion  wr 1 success
                a         memory  in+0 len 3072 as b r1+0
                """);
    }

    @Test
    void theSlowerOfTheStaticRateAndTheRuleForCongestionCounts() {
        rc().rate(RATE)
                .congestion(
                        "dcqcn,rpg_max_rate:100000,rpg_min_rate:1,rpg_time_reset:10000,dce_tcp_rtt:10000,rpg_threshold:1")
                .run("""
                a         post  write 4096 -> r1+0  wr 1 signaled
                a -ce> b  WRITE_FIRST   psn 100  | 1024
                b -> a    CNP
                +38.160us  a -> b    WRITE_MIDDLE  psn 101  | 1024
                +86.880us  a -> b    WRITE_MIDDLE  psn 102  | 1024
                +86.880us  a -> b    WRITE_LAST    psn 103  ackreq  | 1024
                b -> a    ACK  psn 103
                a         completion  wr 1 success
                """);
    }

    @Test
    void anAlternatePathHasARateOfItsOwn() {
        rc().rate(RATE).migration().run("""
                a         modify  alternate 10.0.1.2 migration REARM
                b         modify  alternate 10.0.1.1 migration REARM
                b         post  write 1 -> r2+0
                b -> a    WRITE_ONLY  psn 7000  migrated 0
                a -> b    ACK  psn 7000  migrated 0
                a         post  write 1 -> r1+0
                a -> b    WRITE_ONLY  psn 100  migrated 0
                b -> a    ACK  psn 100  migrated 0
                a         modify  migration MIGRATED
                a         event  PATH_MIG
                a         post  write 3072 -> r1+0  wr 1 signaled
                a -> b    WRITE_FIRST   psn 101  migrated  | 1024
                b         event  PATH_MIG
                a -> b    WRITE_MIDDLE  psn 102  migrated  | 1024
                a -> b    WRITE_LAST    psn 103  migrated  | 1024
                b -> a    ACK  psn 103  migrated
                a         completion  wr 1 success
                """);
    }

    @Test
    void messagesOfAnUnreliableConnectionAreSpacedToo() {
        uc().rate(RATE).run("""
                a         post  write 2048 -> r1+0  wr 1 signaled
                a         post  write 1024 -> r1+0  wr 2 signaled
                a -> b    UC_WRITE_FIRST  psn 100  | 1024
                +38.160us  a -> b    UC_WRITE_LAST  psn 101  | 1024
                a         completion  wr 1 success
                +86.880us  a -> b    UC_WRITE_ONLY  psn 102  | 1024
                a         completion  wr 2 success
                """);
    }

    /// Requests leave in their order: what waits behind a datagram to a slow address waits as long as that does.
    @Test
    void aDatagramToASlowAddressWaitsForTheOneBeforeIt() {
        ud().with("c", "").run("""
                a         handle  h1 to b rate 100000000
                b         post  recv 2000
                b         post  recv 2000
                c         post  recv 2000
                a         post  send 1000 to h1 wr 1 signaled
                a         post  send 1000 to h1 wr 2 signaled
                a         post  send 1000 to c wr 3 signaled
                a -> b    UD_SEND_ONLY  | 1000
                a         completion  wr 1 success
                b         completion  success
                +35.600us  a -> b    UD_SEND_ONLY  | 1000
                a         completion  wr 2 success
                b         completion  success
                +85.600us  a -> c    UD_SEND_ONLY  | 1000
                a         completion  wr 3 success
                c         completion  success
                """);
    }

    @Test
    void datagramsThatWaitAreFlushedWithTheirQueuePair() {
        ud().run("""
                a         handle  h1 to b rate 100000000
                b         post  recv 2000
                a         post  send 1000 to h1 wr 1 signaled
                a         post  send 1000 to h1 wr 2 signaled
                a -> b    UD_SEND_ONLY  | 1000
                a         completion  wr 1 success
                b         completion  success
                a         modify  ERR
                a         completion  wr 2 wr-flush-err
                nothing ever
                """);
    }
}
