package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// Shared receive queues, solicited events and notifications (IBTA 10.2.9, 11.4.2.2).
class ReceiveQueueTest {
    @Test
    void aSharedReceiveQueueTellsWhenItRunsLow() {
        rc().srq().run("""
                b         post  recv 10 wr 1
                b         post  recv 10 wr 2
                b         post  recv 10 wr 3
                b         arm   limit 2
                peer -> b    SEND_ONLY  psn 100  | 1
                b         event  none
                peer -> b    SEND_ONLY  psn 101  | 1
                b         event  SRQ_LIMIT_REACHED
                peer -> b    SEND_ONLY  psn 102  | 1
                b         event  none
                b         completion  wr 1 success
                b         completion  wr 2 success
                b         completion  wr 3 success
                """);
    }

    @Test
    void aSharedReceiveQueueIsNotFlushedWithAQueuePair() {
        rc().srq().run("""
                b         post  recv 10 wr 1
                b         modify  ERR
                b         completion  none
                b         event  QP_LAST_WQE_REACHED
                """);
    }

    @Test
    void aSharedReceiveInUseIsFlushed() {
        rc().srq().mtu(256).run("""
                b         post  recv 1000 wr 1
                b         post  recv 1000 wr 2
                peer -> b    SEND_FIRST  psn 100  | 256
                b         modify  ERR
                b         completion  wr 1 wr-flush-err
                b         completion  none
                b         event  QP_LAST_WQE_REACHED
                """);
    }

    @Test
    void anEmptySharedReceiveQueueIsNotReady() {
        rc().srq().run("""
                peer -> b    SEND_ONLY  psn 100  | 1  => receiver-not-ready
                b -> peer    RNR timer 12  psn 100
                """);
    }

    @Test
    void receivesOfASharedQueueSurviveReset() {
        rc().srq().run("""
                b         post  recv 10 wr 1
                b         modify  RESET
                b         modify  INIT
                b         modify  RTR
                b         modify  RTS
                peer -> b    SEND_ONLY  psn 100  | 1  => accepted
                b         completion  wr 1 success
                """);
    }

    @Test
    void twoConnectionsTakeFromOneSharedReceiveQueueInTheOrderOfTheirMessages() {
        rc().srq().twoConnections().run("""
                b         post  recv 10 wr 1
                b         post  recv 10 wr 2
                c         post  send 10 wr 7
                c -> d    SEND_ONLY  psn 100  ackreq  | 10
                a         post  send 10 wr 8
                a -> b    SEND_ONLY  psn 100  ackreq  | 10
                d -> c    ACK  psn 100  msn 1
                b -> a    ACK  psn 100  msn 1
                d         completion  wr 1 success byte-len 10
                b         completion  wr 2 success byte-len 10
                """);
    }

    @Test
    void aReceiveThatOneConnectionHasTakenIsNotForTheOther() {
        rc().srq().twoConnections().mtu(256).run("""
                b         post  recv 1000 wr 1
                b         post  recv 10 wr 2
                a         post  send 300
                a -> b    SEND_FIRST  psn 100  | 256
                c         post  send 10
                c -> d    SEND_ONLY   psn 100  | 10
                a -> b    SEND_LAST   psn 101  | 44
                d         completion  wr 2 success byte-len 10
                b         completion  wr 1 success byte-len 300
                d -> c    ACK  psn 100
                b -> a    ACK  psn 101
                """);
    }

    @Test
    void aConnectionThatFindsTheSharedQueueEmptyWaitsForWhatEitherSidePosts() {
        rc().srq().twoConnections().run("""
                b         post  recv 10 wr 1
                a         post  send 10
                a -> b    SEND_ONLY  psn 100
                c         post  send 10
                c -> d    SEND_ONLY  psn 100  => receiver-not-ready
                d -> c    RNR timer 12  psn 100
                b -> a    ACK  psn 100
                b         post  recv 10 wr 2
                +0.64ms  c -> d    SEND_ONLY  psn 100
                d -> c    ACK  psn 100
                b         completion  wr 1 success
                d         completion  wr 2 success
                """);
    }

    @Test
    void whenOneConnectionFailsTheOtherKeepsTheSharedReceives() {
        rc().srq().twoConnections().run("""
                b         post  recv 10 wr 1
                b         modify  ERR
                b         event  QP_LAST_WQE_REACHED
                c         post  send 10
                c -> d    SEND_ONLY  psn 100
                d -> c    ACK  psn 100
                d         completion  wr 1 success
                d         state  RTS
                """);
    }

    @Test
    void theLimitOfASharedQueueCountsWhatAllConnectionsTake() {
        rc().srq().twoConnections().run("""
                b         post  recv 10 wr 1
                b         post  recv 10 wr 2
                b         arm   limit 1
                peer -> b    SEND_ONLY  psn 100  | 1
                b         event  none
                peer -> d    SEND_ONLY  psn 100  | 1
                d         event  SRQ_LIMIT_REACHED
                b         completion  wr 1 success
                d         completion  wr 2 success
                """);
    }

    @Test
    void theSolicitedBitIsOnTheLastPacketOnly() {
        rc().mtu(256).run("""
                b         post  recv 1000 wr 1
                b         arm  solicited
                a         post  send 300 solicited
                a -> b    SEND_FIRST  psn 100
                b         notified 0
                a -> b    SEND_LAST   psn 101  solicited
                b         notified 1
                b -> a    ACK  psn 101
                b         completion  wr 1 success
                """);
    }

    @Test
    void anUnsolicitedMessageDoesNotWakeWhoWaitsForSolicitedOnes() {
        rc().run("""
                b         post  recv 10 wr 1
                b         post  recv 10 wr 2
                b         arm  solicited
                peer -> b    SEND_ONLY  psn 100  | 1
                b         notified 0
                peer -> b    SEND_ONLY  psn 101  solicited  | 1
                b         notified 1
                b         completion  wr 1 success
                b         completion  wr 2 success
                """);
    }

    @Test
    void anErrorWakesWhoWaitsForSolicitedOnes() {
        rc().run("""
                b         post  recv 10 wr 1
                b         arm  solicited
                b         modify  ERR
                b         notified 1
                b         completion  wr 1 wr-flush-err
                """);
    }

    @Test
    void oneArmingGivesOneNotification() {
        rc().run("""
                b         post  recv 10 wr 1
                b         post  recv 10 wr 2
                b         arm
                peer -> b    SEND_ONLY  psn 100  | 1
                peer -> b    SEND_ONLY  psn 101  | 1
                b         notified 1
                b         completion  wr 1 success
                b         completion  wr 2 success
                """);
    }

    @Test
    void aSolicitedWriteWithImmediateWakes() {
        rc().run("""
                b         post  recv wr 1
                b         arm  solicited
                a         post  write 8 -> r1+0  imm 1 solicited
                a -> b    WRITE_ONLY_IMMEDIATE  psn 100  solicited
                b         notified 1
                b -> a    ACK  psn 100
                b         completion  wr 1 success
                """);
    }

    @Test
    void immediateDataIsTheSameNumberOnBothSidesAndBigEndianOnTheWire() {
        rc().run("""
                b         post  recv 10 wr 1
                a         post  send 1 imm 0x01020304
                a -> b    SEND_ONLY_IMMEDIATE  psn 100  imm 0x01020304
                b -> a    ACK  psn 100
                b         completion  wr 1 success imm 0x01020304
                """);
    }

    @Test
    void aReadOrWriteWithoutImmediateWakesNobody() {
        rc().run("""
                b         arm
                peer -> b    WRITE_ONLY  psn 100  solicited  r1+0  | 8
                peer -> b    READ_REQUEST  psn 101  solicited  r1+0 len 8
                b -> peer    READ_RESPONSE_ONLY  psn 101
                b         notified 0
                b         completion  none
                """);
    }
}
