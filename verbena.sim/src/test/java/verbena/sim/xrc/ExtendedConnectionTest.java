package verbena.sim.xrc;

import static verbena.sim.script.PacketScript.xrc;

import org.junit.jupiter.api.Test;

/// Extended reliable connections (IBTA A14): what is different from reliable ones. Each request names the shared
/// receive queue that it is for, and with that the protection domain whose memory it reaches. An initiator only
/// sends, a target only answers.
class ExtendedConnectionTest {
    @Test
    void aSendTakesTheReceiveOfTheQueueThatItNames() {
        xrc().run("""
                b         srq   78
                b         post  recv srq 77 100 wr 1
                b         post  recv srq 78 100 wr 2 into in+200 len 100
                a         post  send 10 wr 7 signaled srq 78
                a -> b    XRC_SEND_ONLY  psn 100  ackreq  srq 78  | 10  => accepted
                b -> a    XRC_ACK        psn 100  msn 1  => accepted
                a         completion  wr 7 success
                b         completion  wr 2 success byte-len 10 qp b
                b         completion  none
                b         memory  in+200 len 10 as sent only
                """);
    }

    @Test
    void everyPacketOfAMessageNamesIt() {
        xrc().mtu(256).run("""
                b         post  recv 1000 wr 1
                a         post  send 600 imm 0x1 wr 7 signaled
                a -> b    XRC_SEND_FIRST           psn 100  srq 77  | 256
                a -> b    XRC_SEND_MIDDLE          psn 101  srq 77  | 256
                a -> b    XRC_SEND_LAST_IMMEDIATE  psn 102  ackreq  srq 77  imm 0x1  | 88
                b -> a    XRC_ACK  psn 102  msn 1
                a         completion  wr 7 success
                b         completion  wr 1 success byte-len 600 imm 0x1
                b         memory  in+0 len 600 as sent only
                """);
    }

    @Test
    void messagesOfOneConnectionGoToSeveralQueues() {
        xrc().mtu(256).run("""
                b         srq   78
                b         post  recv 1000 wr 1
                b         post  recv srq 78 1000 wr 2 into in+1000 len 1000
                a         post  send 300 wr 6
                a         post  send 300 wr 7 signaled srq 78
                a -> b    XRC_SEND_FIRST  psn 100  srq 77
                a -> b    XRC_SEND_LAST   psn 101  srq 77
                a -> b    XRC_SEND_FIRST  psn 102  srq 78
                a -> b    XRC_SEND_LAST   psn 103  srq 78
                b -> a    XRC_ACK  psn 103  msn 2
                a         completion  wr 7 success
                b         completion  wr 1 success
                b         completion  wr 2 success
                b         memory  in+0 len 300 as wr 6
                b         memory  in+1000 len 300 as wr 7
                """);
    }

    @Test
    void severalConnectionsGoToOneQueue() {
        xrc().twoConnections().run("""
                b         post  recv 100 wr 1
                b         post  recv 100 wr 2 into in+100 len 100
                a         post  send 10
                c         post  send 20
                c -> d    XRC_SEND_ONLY  psn 100  srq 77
                a -> b    XRC_SEND_ONLY  psn 100  srq 77
                b -> a    XRC_ACK  psn 100  msn 1
                d -> c    XRC_ACK  psn 100  msn 1
                b         completion  wr 1 success byte-len 20 qp d
                b         completion  wr 2 success byte-len 10 qp b
                """);
    }

    @Test
    void writesReadsAndAtomicsReachMemoryOfTheQueuesProtectionDomain() {
        xrc().run("""
                b         srq   78 pd 2
                b         region  r3 len 4096 pd 2 access remote-write remote-read remote-atomic local-write
                b         set   r3+0 word 100
                a         post  fetch-add 5 -> r3+0 wr 1 signaled srq 78
                a -> b    XRC_FETCH_ADD  psn 100  srq 78  r3+0  add 5
                b -> a    XRC_ATOMIC_ACKNOWLEDGE  psn 100  msn 1  original 100
                a         completion  wr 1 success opcode fetch-add
                b         word  r3+0 is 105
                a         post  cmp-swap 105 9 -> r3+0 wr 2 signaled srq 78
                a -> b    XRC_COMPARE_SWAP  psn 101  srq 78  r3+0  compare 105  swap 9
                b -> a    XRC_ATOMIC_ACKNOWLEDGE  psn 101  msn 2  original 105
                a         completion  wr 2 success
                a         post  write 100 -> r3+8 wr 3 signaled srq 78
                a -> b    XRC_WRITE_ONLY  psn 102  srq 78  r3+8 len 100  | 100
                b -> a    XRC_ACK  psn 102  msn 3
                a         completion  wr 3 success
                b         memory  r3+8 len 100 as wr 3
                a         post  read 2000 <- r3+0 wr 4 signaled srq 78
                a -> b    XRC_READ_REQUEST  psn 103  srq 78  r3+0 len 2000
                b -> a    XRC_READ_RESPONSE_FIRST  psn 103  msn 4  | 1024
                b -> a    XRC_READ_RESPONSE_LAST   psn 104  msn 4  | 976
                a         completion  wr 4 success
                a         memory  in+0 len 2000 as r3+0
                """);
    }

    @Test
    void memoryOfAnotherProtectionDomainIsRefused() {
        xrc().run("""
                b         srq   78 pd 2
                a         post  write 100 -> r1+0 wr 3 srq 78
                a -> b    XRC_WRITE_ONLY  psn 100  srq 78  => refused
                b -> a    XRC_NAK access  psn 100  msn 0
                a         completion  wr 3 rem-access-err
                b         event  QP_ACCESS_ERR
                b         event  QP_LAST_WQE_REACHED
                b         memory  unchanged
                """);
    }

    @Test
    void aReadIsAnsweredFromTheDomainThatItWasForWhateverComesNext() {
        xrc().mtu(256).run("""
                b         srq   78 pd 2
                b         post  recv srq 78 100 wr 1
                b         region  r3 len 4096 pd 2
                a         post  read 600 <- r1+0 wr 4 signaled
                a         post  write 10 -> r3+0 wr 5 signaled srq 78
                a -> b    XRC_READ_REQUEST  psn 100  srq 77
                a -> b    XRC_WRITE_ONLY    psn 103  srq 78
                b -> a    XRC_READ_RESPONSE_FIRST   psn 100
                b -x a    XRC_READ_RESPONSE_MIDDLE  psn 101                lost
                b -> a    XRC_READ_RESPONSE_LAST    psn 102  => dropped.early-response
                a -> b    XRC_READ_REQUEST  psn 101  srq 77  r1+256 len 344  => duplicate
                b -> a    XRC_ACK  psn 103
                b -> a    XRC_READ_RESPONSE_FIRST  psn 101
                b -> a    XRC_READ_RESPONSE_LAST   psn 102
                a -> b    XRC_WRITE_ONLY    psn 103  srq 78  => duplicate
                b -> a    XRC_ACK  psn 103
                a         completion  wr 4 success
                a         completion  wr 5 success
                a         memory  in+0 len 600 as r1+0
                """);
    }

    @Test
    void aWriteWithImmediateTakesAReceiveOfTheQueue() {
        xrc().mtu(256).run("""
                b         post  recv 0 wr 1
                a         post  write 300 -> r1+0 imm 0x7 wr 3 signaled
                a -> b    XRC_WRITE_FIRST           psn 100  srq 77  r1+0 len 300
                a -> b    XRC_WRITE_LAST_IMMEDIATE  psn 101  srq 77  imm 0x7
                b -> a    XRC_ACK  psn 101  msn 1
                a         completion  wr 3 success
                b         completion  wr 1 success byte-len 300 imm 0x7 qp b
                """);
    }

    /// A window of type 2 is bound by a queue pair that sends, and gives access to that one only.
    @Test
    void noWindowCanBeWithdrawnThroughATarget() {
        xrc().timeout(0).run("""
                b         window  w1 type 2
                b         post  recv 100 wr 1
                a         post  send 10 inv w1
                a -> b    XRC_SEND_ONLY_INVALIDATE  psn 100  srq 77  inv w1  => refused
                b         completion  wr 1 rem-inv-req-err
                b         event  QP_LAST_WQE_REACHED
                nothing until +1s
                """);
    }

    // ---- names that are none

    @Test
    void aNumberThatIsNoneIsRefused() {
        xrc().run("""
                a         post  send 10 wr 7 srq 5
                a         post  send 10 wr 8
                a -> b    XRC_SEND_ONLY  psn 100  srq 5  => refused
                a -> b    XRC_SEND_ONLY  psn 101  srq 77  => dropped.state
                b -> a    XRC_NAK access  psn 100  msn 0
                b         event  QP_ACCESS_ERR
                b         event  QP_LAST_WQE_REACHED
                b         state  ERR
                b         counter  sent.nak.access 1
                a         completion  wr 7 rem-access-err
                a         completion  wr 8 wr-flush-err
                a         state  ERR
                """);
    }

    @Test
    void aQueueOfAnotherXrcDomainIsRefused() {
        xrc().run("""
                b         srq   78 xrcd 2
                b         post  recv srq 78 100 wr 1
                a         post  send 10 wr 7 srq 78
                a -> b    XRC_SEND_ONLY  psn 100  srq 78  => refused
                b -> a    XRC_NAK access  psn 100  msn 0
                b         event  QP_ACCESS_ERR
                b         event  QP_LAST_WQE_REACHED
                b         completion  none
                a         completion  wr 7 rem-access-err
                """);
    }

    @Test
    void readsAndWritesNameAQueueTooThatHasToBeOne() {
        xrc().run("""
                a         post  read 10 <- r1+0 wr 7 srq 5
                a -> b    XRC_READ_REQUEST  psn 100  srq 5  => refused
                b -> a    XRC_NAK access  psn 100  msn 0
                b         event  QP_ACCESS_ERR
                b         event  QP_LAST_WQE_REACHED
                a         completion  wr 7 rem-access-err
                """);
    }

    @Test
    void aReceiveInUseGoesWithItsQueue() {
        xrc().mtu(256).run("""
                b         post  recv 1000 wr 1
                a         post  send 600 wr 7
                a -> b    XRC_SEND_FIRST   psn 100  srq 77
                b         close  srq 77
                a -> b    XRC_SEND_MIDDLE  psn 101  srq 77  => refused
                b -> a    XRC_NAK access   psn 101  msn 0
                b         completion  none
                b         event  QP_ACCESS_ERR
                b         event  QP_LAST_WQE_REACHED
                a         completion  wr 7 rem-access-err
                """);
    }

    @Test
    void aTargetThatEndsLaterFlushesNoReceiveOfAClosedQueue() {
        xrc().mtu(256).run("""
                b         post  recv 1000 wr 1
                a         post  send 600 wr 7
                a -> b    XRC_SEND_FIRST   psn 100  srq 77
                a -x b    XRC_SEND_MIDDLE  psn 101  srq 77                 lost
                a -x b    XRC_SEND_LAST    psn 102  srq 77                 lost
                b         close  srq 77
                b         modify  ERR
                b         event  QP_LAST_WQE_REACHED
                b         completion  none
                a         modify  ERR
                a         completion  wr 7 wr-flush-err
                """);
    }

    @Test
    void aTargetThatEndsFlushesTheReceiveInUse() {
        xrc().mtu(256).run("""
                b         post  recv 1000 wr 1
                b         post  recv 1000 wr 2
                a         post  send 300 wr 7
                a -> b    XRC_SEND_FIRST  psn 100  srq 77
                a -x b    XRC_SEND_LAST   psn 101  srq 77                  lost
                b         modify  ERR
                b         completion  wr 1 wr-flush-err
                b         completion  none
                b         event  QP_LAST_WQE_REACHED
                a         modify  ERR
                a         completion  wr 7 wr-flush-err
                """);
    }

    @Test
    void aMessageStaysWithTheQueueThatItBeganWith() {
        xrc().mtu(256).run("""
                b         srq   78
                b         post  recv 1000 wr 1
                peer -> b    XRC_SEND_FIRST  psn 100  srq 77  | 256
                peer -> b    XRC_SEND_LAST   psn 101  srq 78  | 10  => refused
                b -> peer    XRC_NAK invalid-request  psn 101  msn 0
                b         completion  wr 1 rem-inv-req-err
                b         event  QP_LAST_WQE_REACHED
                """);
    }

    @Test
    void aMessageWithinAMessageIsRefusedWhateverItNames() {
        xrc().mtu(256).run("""
                b         srq   78
                b         post  recv 1000 wr 1
                peer -> b    XRC_SEND_FIRST  psn 100  srq 77  | 256
                peer -> b    XRC_SEND_ONLY   psn 101  srq 78  | 10  => refused
                b -> peer    XRC_NAK invalid-request  psn 101  msn 0
                b         completion  wr 1 rem-inv-req-err
                b         event  QP_LAST_WQE_REACHED
                """);
    }

    // ---- no receive

    @Test
    void anEmptyQueueIsNotReadyWhileOthersAre() {
        xrc().rnrTimer(12).run("""
                b         srq   78
                b         post  recv 100 wr 1
                a         post  send 10 wr 7 signaled srq 78
                a         post  send 20 wr 8 signaled
                a -> b    XRC_SEND_ONLY  psn 100  srq 78  => receiver-not-ready
                a -> b    XRC_SEND_ONLY  psn 101  srq 77  => out-of-sequence
                b -> a    XRC_RNR timer 12  psn 100  msn 0
                b         post  recv srq 78 100 wr 2
                nothing until +0.639999ms
                +1ns      a -> b    XRC_SEND_ONLY  psn 100  srq 78  => accepted
                a -> b    XRC_SEND_ONLY  psn 101  srq 77  => accepted
                b -> a    XRC_ACK  psn 101  msn 2
                a         completion  wr 7 success
                a         completion  wr 8 success
                b         completion  wr 2 success byte-len 10
                b         completion  wr 1 success byte-len 20
                """);
    }

    @Test
    void aQueueWithFewReceivesTellsAtItsLimit() {
        xrc().run("""
                b         post  recv 100 wr 1
                b         post  recv 100 wr 2
                b         arm   limit 2
                a         post  send 10
                a -> b    XRC_SEND_ONLY  psn 100  srq 77
                b -> a    XRC_ACK  psn 100
                b         completion  wr 1 success
                b         event  SRQ_LIMIT_REACHED
                """);
    }

    // ---- losses

    @Test
    void aLostPacketIsResentFromTheGapWithItsName() {
        xrc().mtu(256).run("""
                b         post  recv 1000 wr 1
                a         post  send 600 wr 7 signaled
                a -> b    XRC_SEND_FIRST   psn 100  srq 77
                a -x b    XRC_SEND_MIDDLE  psn 101  srq 77                 lost
                a -> b    XRC_SEND_LAST    psn 102  srq 77  => out-of-sequence
                b -> a    XRC_NAK sequence  psn 101
                a -> b    XRC_SEND_MIDDLE  psn 101  srq 77
                a -> b    XRC_SEND_LAST    psn 102  srq 77
                b -> a    XRC_ACK  psn 102  msn 1
                a         completion  wr 7 success
                b         completion  wr 1 success byte-len 600
                b         memory  in+0 len 600 as sent only
                """);
    }

    @Test
    void aDuplicateAtomicGetsItsFirstAnswer() {
        xrc().run("""
                b         set   r1+0 word 100
                a         post  fetch-add 5 -> r1+0 wr 1 signaled
                a -2> b   XRC_FETCH_ADD  psn 100  srq 77                   twice
                b -> a    XRC_ATOMIC_ACKNOWLEDGE  psn 100  original 100
                b -> a    XRC_ATOMIC_ACKNOWLEDGE  psn 100  original 100  => duplicate
                a         completion  wr 1 success
                b         word  r1+0 is 105
                """);
    }

    // ---- what is not for this end

    @Test
    void anInitiatorServesNoRequests() {
        xrc().run("""
                peer -> a    XRC_SEND_ONLY  psn 7000  srq 77  | 10  => dropped.wrong-service
                peer -> a    XRC_READ_REQUEST  psn 7000  srq 77  r2+0 len 10  => dropped.wrong-service
                a         state  RTS
                """);
    }

    @Test
    void aTargetHasAskedForNothing() {
        xrc().run("""
                peer -> b    XRC_ACK  psn 7000  msn 1  => dropped.wrong-service
                peer -> b    XRC_READ_RESPONSE_ONLY  psn 7000  msn 1  | 10  => dropped.wrong-service
                b         state  RTS
                """);
    }

    @Test
    void packetsOfOtherServicesAreDropped() {
        xrc().run("""
                peer -> b    SEND_ONLY     psn 100  | 10  => dropped.wrong-service
                peer -> b    UC_SEND_ONLY  psn 100  | 10  => dropped.wrong-service
                peer -> a    ACK  psn 100  msn 1  => dropped.wrong-service
                b         state  RTS
                """);
    }

    @Test
    void packetsOfOthersAreDropped() {
        xrc().run("""
                peer -> b    XRC_SEND_ONLY  psn 100  srq 77  | 10  from 10.0.0.9  => dropped.source
                peer -> b    XRC_SEND_ONLY  psn 100  srq 77  pkey 0x1234  | 10  => dropped.pkey
                peer -> a    XRC_ACK  psn 100  msn 1  from 10.0.0.9  => dropped.source
                """);
    }

    // ---- states

    @Test
    void anInitiatorIsDrained() {
        xrc().run("""
                b         post  recv 100 wr 1
                a         post  send 10
                a -> b    XRC_SEND_ONLY  psn 100  srq 77
                a         modify  notify-drained SQD
                a         post  send 20
                a         event  none
                b -> a    XRC_ACK  psn 100
                a         event  SQ_DRAINED
                b         completion  wr 1 success
                b         modify  notify-drained SQD
                b         event  SQ_DRAINED
                nothing until +1s
                a         modify  RESET
                """);
    }

    @Test
    void anAnswerThatDoesNotComeEndsAnInitiator() {
        xrc().timeout(14).retries(0).run("""
                a         post  send 10 wr 7
                a -x b    XRC_SEND_ONLY  psn 100  srq 77                   lost
                nothing until +67.108863ms
                nobody moves until +1us
                a         completion  wr 7 retry-exc-err
                a         state  ERR
                """);
    }
}
