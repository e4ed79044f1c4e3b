package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// FLUSH (IBTA A19): what was written before is visible to all, or persistent, when its answer has come.
class FlushTest {
    @Test
    void itIsAnsweredWithAReadResponseOfNothing() {
        rc().run("""
                b         region  r3 access local-write remote-write flush-global
                b         modify  access remote-write flush-global
                a         post  flush 100 -> r3+8 global wr 7 signaled
                a -> b    FLUSH               psn 100  ackreq  sel 0 plt 1  r3+8 len 100
                b -> a    READ_RESPONSE_ONLY  psn 100  msn 1  | 0
                a         completion  wr 7 success opcode flush
                nothing ever
                """);
    }

    @Test
    void whatWasWrittenBeforeIsThereWhenItIsAnswered() {
        rc().run("""
                b         region  r3 access local-write remote-write flush-global
                b         modify  access remote-write flush-global
                a         post  write 100 -> r3+0
                a         post  flush 100 -> r3+0 global wr 7 signaled
                a -> b    WRITE_ONLY          psn 100
                a -> b    FLUSH               psn 101
                b         memory  r3+0 len 100 as sent only
                b -> a    ACK                 psn 100  msn 1
                b -> a    READ_RESPONSE_ONLY  psn 101  msn 2
                a         completion  wr 7 success
                """);
    }

    @Test
    void persistenceIsARightOfItsOwn() {
        rc().run("""
                b         region  r3 access local-write remote-write flush-global
                b         modify  access remote-write flush-global flush-persistent
                peer -> b    FLUSH  psn 100  sel 0 plt 2  r3+0 len 8  => refused
                b -> peer    NAK access  psn 100
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void bothAtOnceNeedBothRights() {
        rc().run("""
                b         region  r3 access local-write remote-write flush-persistent
                b         modify  access remote-write flush-global flush-persistent
                peer -> b    FLUSH  psn 100  sel 0 plt 3  r3+0 len 8  => refused
                b -> peer    NAK access  psn 100
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void theQueuePairHasToEnableEachOfThem() {
        rc().run("""
                b         region  r3 access local-write remote-write flush-global flush-persistent
                b         modify  access remote-write flush-global
                peer -> b    FLUSH  psn 100  sel 0 plt 3  r3+0 len 8  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void aQueuePairWithoutTheRightRefusesIt() {
        rc().run("""
                b         region  r3 access local-write remote-write flush-global
                peer -> b    FLUSH  psn 100  sel 0 plt 1  r3+0 len 8  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event  QP_REQ_ERR
                b         state  ERR
                """);
    }

    @Test
    void aRegionWithoutTheRightRefusesIt() {
        rc().run("""
                b         modify  access remote-write flush-global
                a         post  flush 8 -> r1+0 global wr 7
                a -> b    FLUSH       psn 100  => refused
                b -> a    NAK access  psn 100
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void aPlaceOutsideTheRegionIsRefused() {
        rc().run("""
                b         region  r3 len 4096 access local-write remote-write flush-global
                b         modify  access remote-write flush-global
                peer -> b    FLUSH  psn 100  sel 0 plt 1  r3+0 len 4096  => accepted
                b -> peer    READ_RESPONSE_ONLY  psn 100
                peer -> b    FLUSH  psn 101  sel 0 plt 1  r3+1 len 4096  => refused
                b -> peer    NAK access  psn 101
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void theWholeRegionHasNoPlace() {
        rc().run("""
                b         region  r3 len 4096 access local-write remote-write flush-global
                b         modify  access remote-write flush-global
                a         post  flush 0 -> r3+9999 whole global wr 7 signaled
                a -> b    FLUSH               psn 100  sel 1 plt 1
                b -> a    READ_RESPONSE_ONLY  psn 100
                a         completion  wr 7 success
                """);
    }

    @Test
    void theWholeOfAKeyThatIsNoneIsRefused() {
        rc().run("""
                b         modify  access remote-write flush-global
                peer -> b    FLUSH  psn 100  sel 1 plt 1  rkey 0x12345678  => refused
                b -> peer    NAK access  psn 100
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void noPlacementAtAllIsAnInvalidRequest() {
        rc().run("""
                b         region  r3 access local-write remote-write flush-global
                b         modify  access remote-write flush-global
                peer -> b    FLUSH  psn 100  sel 0 plt 0  r3+0 len 8  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void aPlacementThatIsReservedIsAnInvalidRequest() {
        rc().run("""
                b         region  r3 access local-write remote-write flush-global
                b         modify  access remote-write flush-global
                peer -> b    FLUSH  psn 100  sel 0 plt 5  r3+0 len 8  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void aSelectivityThatIsReservedIsAnInvalidRequest() {
        rc().run("""
                b         region  r3 access local-write remote-write flush-global
                b         modify  access remote-write flush-global
                peer -> b    FLUSH  psn 100  sel 2 plt 1  r3+0 len 8  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void aLostAnswerIsGivenAgain() {
        rc().run("""
                b         region  r3 access local-write remote-write flush-global
                b         modify  access remote-write flush-global
                a         post  flush 8 -> r3+0 global wr 7 signaled
                a -> b    FLUSH               psn 100  => accepted
                b -x a    READ_RESPONSE_ONLY  psn 100  msn 1
                +67.108864ms  a -> b    FLUSH  psn 100  => duplicate
                b -> a    READ_RESPONSE_ONLY  psn 100  msn 1
                a         completion  wr 7 success
                """);
    }

    @Test
    void aLostRequestIsSentAgain() {
        rc().run("""
                b         region  r3 access local-write remote-write flush-global
                b         modify  access remote-write flush-global
                a         post  flush 8 -> r3+0 global wr 7 signaled
                a -x b    FLUSH               psn 100
                +67.108864ms  a -> b    FLUSH  psn 100  => accepted
                b -> a    READ_RESPONSE_ONLY  psn 100
                a         completion  wr 7 success
                """);
    }

    @Test
    void aLostWriteBeforeItIsNoticed() {
        rc().run("""
                b         region  r3 access local-write remote-write flush-global
                b         modify  access remote-write flush-global
                a         post  write 100 -> r3+0
                a         post  flush 100 -> r3+0 global wr 7 signaled
                a -x b    WRITE_ONLY          psn 100
                a -> b    FLUSH               psn 101  => out-of-sequence
                b -> a    NAK sequence        psn 100
                a -> b    WRITE_ONLY          psn 100
                a -> b    FLUSH               psn 101  => accepted
                b         memory  r3+0 len 100 as sent only
                b -> a    ACK                 psn 100
                b -> a    READ_RESPONSE_ONLY  psn 101
                a         completion  wr 7 success
                """);
    }

    @Test
    void itCountsAmongTheReadsThatMayBeOutstanding() {
        rc().reads(1).run("""
                b         region  r3 access local-write remote-write flush-global
                b         modify  access remote-write remote-read flush-global
                a         post  read 8 <- r1+0
                a         post  flush 8 -> r3+0 global
                a -> b    READ_REQUEST        psn 100
                a         silent
                b -> a    READ_RESPONSE_ONLY  psn 100
                a -> b    FLUSH               psn 101
                b -> a    READ_RESPONSE_ONLY  psn 101
                """);
    }

    @Test
    void aRegionThatWasWithdrawnIsRefused() {
        rc().run("""
                b         region  r3 access local-write remote-write flush-global
                b         modify  access remote-write flush-global
                b         close   region r3
                peer -> b    FLUSH  psn 100  sel 0 plt 1  r3+0 len 8  => refused
                b -> peer    NAK access  psn 100
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void aRegionOfAnotherDomainIsRefused() {
        rc().run("""
                b         region  r3 pd 2 access local-write remote-write flush-global
                b         modify  access remote-write flush-global
                peer -> b    FLUSH  psn 100  sel 1 plt 1  r3+0  => refused
                b -> peer    NAK access  psn 100
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void aPacketWithAPayloadIsMalformed() {
        rc().run("""
                peer -> b    FLUSH  psn 100  sel 0 plt 1  r1+0 len 8  | 8  => dropped.malformed
                nothing ever
                """);
    }

    @Test
    void itTakesOnePsnHoweverMuchItNames() {
        rc().mtu(256).psn(0xFFFFFF).run("""
                b         region  r3 access local-write remote-write flush-global
                b         modify  access remote-write flush-global
                a         post  flush 60000 -> r3+0 global
                a         post  write 8 -> r3+0
                a -> b    FLUSH               psn 0xffffff  len 60000
                a -> b    WRITE_ONLY          psn 0
                b -> a    READ_RESPONSE_ONLY  psn 0xffffff
                b -> a    ACK                 psn 0
                """);
    }
}
