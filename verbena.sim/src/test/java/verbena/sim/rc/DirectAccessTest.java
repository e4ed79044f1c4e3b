package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// One-sided requests that are carried out on the peer's memory without a packet, and how they mix with those that
/// go by packets: order, draining, fences, errors and turns.
class DirectAccessTest {
    @Test
    void aWriteThatIsAloneNeedsNoPacket() {
        rc().run("""
                a         direct
                a         post  write 100 -> r1+8  wr 7 signaled
                nothing ever
                a         completion  wr 7 success opcode rdma-write byte-len 100
                b         memory  r1+8 len 100 as sent only
                b         completion  none
                """);
    }

    @Test
    void aReadThatIsAloneNeedsNoPacket() {
        rc().run("""
                a         direct
                a         post  read 100 <- r1+8  wr 7 signaled
                nothing ever
                a         completion  wr 7 success opcode rdma-read byte-len 100
                a         memory  in+0 len 100 as b r1+8 only
                """);
    }

    @Test
    void atomicsNeedNoPacket() {
        rc().run("""
                b         set  r1+16  word 40
                a         direct
                a         post  fetch-add 2 -> r1+16  wr 1 signaled into in+0 len 8
                a         post  cmp-swap 42 99 -> r1+16  wr 2 signaled into in+8 len 8
                a         post  cmp-swap 42 1 -> r1+16  wr 3 signaled into in+16 len 8
                a         post  atomic-write 5 -> r1+24  wr 4 signaled
                nothing ever
                a         completion  wr 1 success opcode fetch-add
                a         completion  wr 2 success opcode comp-swap
                a         completion  wr 3 success
                a         completion  wr 4 success opcode atomic-write
                a         word  in+0 is 40
                a         word  in+8 is 42
                a         word  in+16 is 99
                b         word  r1+16 is 99
                b         word  r1+24 is 5
                """);
    }

    @Test
    void theThreadThatPostsDoesWhatNeedsNoPacket() {
        rc().run("""
                a         direct
                a         post  write 100 -> r1+0  wr 1 signaled
                a         post  fetch-add 2 -> r1+104  wr 2 signaled into in+0 len 8
                a         at-once  all
                a         completion  wr 1 success
                a         completion  wr 2 success
                b         memory  r1+0 len 100 as wr 1
                nothing ever
                """);
    }

    /// Of 70 requests, 64 are done in one turn; the queue pair is polled for the others.
    @Test
    void theThreadThatPostsLeavesTheRest() {
        var script = new StringBuilder("a  direct\n");
        for (int i = 0; i < 70; i++) {
            script.append("a  post  write 8 -> r1+%d  wr %d signaled\n".formatted(8 * i, i));
        }
        script.append("a  at-once  some\n");
        for (int i = 0; i < 70; i++) {
            script.append("a  completion  wr %d success\n".formatted(i));
        }
        rc().run(script.append("a  at-once  all\nnothing ever\n").toString());
    }

    @Test
    void theThreadThatPostsLeavesWhatNeedsPackets() {
        rc().run("""
                a         direct
                b         post  recv 100
                a         post  write 10 -> r1+0  wr 1 signaled
                a         post  send 10  wr 2 signaled
                a         post  write 10 -> r1+10  wr 3 signaled
                a         at-once  some
                a         completion  wr 1 success
                a         completion  none
                a -> b    SEND_ONLY   psn 100
                a         at-once  some
                a -> b    WRITE_ONLY  psn 101
                b -> a    ACK  psn 101
                a         completion  wr 2 success
                a         completion  wr 3 success
                a         at-once  all
                b         completion  success
                """);
    }

    @Test
    void theThreadThatPostsFindsALocalError() {
        rc().run("""
                a         direct
                a         post  write 100 -> r1+0 from out+65500 len 100 wr 2
                a         at-once  some
                a         completion  wr 2 loc-prot-err
                a         state  ERR
                a         post  write 8 -> r1+0  wr 3
                a         at-once  some
                nothing
                a         completion  wr 3 wr-flush-err
                """);
    }

    @Test
    void aWriteIsShownAsThePacketsThatItWouldHaveSent() {
        rc().run("""
                b         post  recv 8
                a         post  send 8  wr 1
                a -> b    SEND_ONLY  psn 100
                b         completion  success
                b -> a    ACK  psn 100
                a         direct  step 1000
                a         post  write 3000 -> r1+8  wr 2 signaled
                a silent
                a silent
                a         shown nothing
                nothing ever
                a         completion  wr 2 success
                a         shown WRITE_FIRST   psn 101  qp b  r1+8 len 3000  | 1024
                a         shown WRITE_MIDDLE  psn 102  qp b                 | 1024
                a         shown WRITE_LAST    psn 103  qp b  ackreq         | 952
                a         shown nothing
                b         shown nothing
                b         post  recv 8
                a         post  send 8  wr 3
                a -> b    SEND_ONLY  psn 101
                b         completion  success
                b -> a    ACK  psn 101
                """);
    }

    /// A window of 4 packets lets a READ ask for 2 at once.
    @Test
    void aReadIsShownWithTheAnswersThatItWouldHaveGot() {
        rc().window(4).run("""
                a         direct
                a         post  read 2500 <- r1+8  wr 1 signaled
                nothing ever
                a         completion  wr 1 success
                a         shown READ_REQUEST         psn 100  qp b  ackreq  r1+8 len 2048
                a         shown READ_RESPONSE_FIRST  psn 100  qp a  msn 0  | 1024
                a         shown READ_RESPONSE_LAST   psn 101  qp a  msn 0  | 1024
                a         shown READ_REQUEST         psn 102  qp b  ackreq  r1+2056 len 452
                a         shown READ_RESPONSE_ONLY   psn 102  qp a  msn 0  | 452
                a         shown nothing
                """);
    }

    @Test
    void atomicsAreShownWithWhatTheMemoryHeld() {
        rc().run("""
                b         set  r1+16  word 40
                a         direct
                a         post  fetch-add 2 -> r1+16  wr 1 signaled into in+0 len 8
                a         post  cmp-swap 42 99 -> r1+16  wr 2 signaled into in+8 len 8
                a         post  atomic-write 5 -> r1+24  wr 3 signaled
                nothing ever
                a         completion  wr 1 success
                a         completion  wr 2 success
                a         completion  wr 3 success
                a         shown FETCH_ADD           psn 100  qp b  r1+16 add 2
                a         shown ATOMIC_ACKNOWLEDGE  psn 100  qp a  original 40
                a         shown COMPARE_SWAP        psn 100  qp b  r1+16 compare 42 swap 99
                a         shown ATOMIC_ACKNOWLEDGE  psn 100  qp a  original 42
                a         shown ATOMIC_WRITE        psn 100  qp b  r1+24 len 8  | 8
                a         shown nothing
                """);
    }

    @Test
    void whatIsDeclinedIsNotShown() {
        rc().run("""
                a         direct  step 40
                a         post  write 100 -> r1+0  wr 1 signaled
                a silent
                a         direct  off
                a -> b    WRITE_ONLY  psn 100
                b -> a    ACK  psn 100
                a         completion  wr 1 success
                a         shown nothing
                """);
    }

    @Test
    void anInlineWriteNeedsNoPacket() {
        rc().run("""
                a         direct
                a         post  write 40 -> r1+0  wr 7 signaled inline
                nothing ever
                a         completion  wr 7 success byte-len 40
                b         memory  r1+0 len 40 as wr 7 only
                """);
    }

    @Test
    void aWriteBehindAnUnansweredSendGoesByPackets() {
        rc().run("""
                a         direct
                b         post  recv 100
                a         post  send 10  wr 1 signaled
                a         post  write 10 -> r1+0  wr 2 signaled
                a -> b    SEND_ONLY   psn 100
                a -> b    WRITE_ONLY  psn 101
                b -> a    ACK  psn 101
                a         completion  wr 1 success
                a         completion  wr 2 success
                b         completion  success
                """);
    }

    /// Of ten WRITEs behind a SEND, eight go by packets; the others wait, and then need none.
    @Test
    void aStreamThatBeganByPacketsGoesOnWithout() {
        rc().run("""
                a         direct
                b         post  recv 100
                a         post  send 10  wr 1 signaled
                a         post  write 10 -> r1+0  wr 2 signaled
                a         post  write 10 -> r1+10  wr 3 signaled
                a         post  write 10 -> r1+20  wr 4 signaled
                a         post  write 10 -> r1+30  wr 5 signaled
                a         post  write 10 -> r1+40  wr 6 signaled
                a         post  write 10 -> r1+50  wr 7 signaled
                a         post  write 10 -> r1+60  wr 8 signaled
                a         post  write 10 -> r1+70  wr 9 signaled
                a         post  write 10 -> r1+80  wr 10 signaled
                a         post  write 10 -> r1+90  wr 11 signaled
                a -> b    SEND_ONLY   psn 100
                a -> b    WRITE_ONLY  psn 101
                a -> b    WRITE_ONLY  psn 102
                a -> b    WRITE_ONLY  psn 103
                a -> b    WRITE_ONLY  psn 104
                a -> b    WRITE_ONLY  psn 105
                a -> b    WRITE_ONLY  psn 106
                a -> b    WRITE_ONLY  psn 107
                a -> b    WRITE_ONLY  psn 108
                b -> a    ACK  psn 108
                a         completion  wr 1 success
                a         completion  wr 2 success
                a         completion  wr 3 success
                a         completion  wr 4 success
                a         completion  wr 5 success
                a         completion  wr 6 success
                a         completion  wr 7 success
                a         completion  wr 8 success
                a         completion  wr 9 success
                a         completion  wr 10 success
                a         completion  wr 11 success
                b         completion  success
                nothing ever
                """);
    }

    /// Its packets would cost more than the wait.
    @Test
    void aLongWriteBehindAnUnansweredSendWaitsForTheAnswer() {
        rc().run("""
                a         direct
                b         post  recv 100
                a         post  send 10  wr 1
                a         post  write 4096 -> r1+0  wr 2 signaled
                a -> b    SEND_ONLY   psn 100  ackreq
                b -> a    ACK  psn 100
                b         completion  success
                a         completion  wr 2 success
                b         memory  r1+0 len 4096 as wr 2 only
                nothing ever
                """);
    }

    /// PSNs belong to packets: what needs none takes none.
    @Test
    void completionsStayInOrderWhicheverWayRequestsTook() {
        rc().run("""
                a         direct
                b         post  recv 100
                b         post  recv 100
                a         post  write 10 -> r1+0   wr 1 signaled
                a         post  send 10  wr 2 signaled
                a         post  read 10 <- r1+0   wr 3 signaled
                a -> b    SEND_ONLY     psn 100
                a -> b    READ_REQUEST  psn 101
                a         completion  wr 1 success
                a         completion  none
                b -> a    ACK  psn 100
                a         completion  wr 2 success
                a         post  write 10 -> r1+20  wr 4 signaled
                a -> b    WRITE_ONLY  psn 102
                a         completion  none
                b -> a    READ_RESPONSE_ONLY  psn 101
                b -> a    ACK  psn 102
                a         completion  wr 3 success
                a         completion  wr 4 success
                a         post  write 10 -> r1+40  wr 5 signaled
                nothing
                a         completion  wr 5 success
                a         post  send 10  wr 6 signaled
                a -> b    SEND_ONLY  psn 103
                b -> a    ACK  psn 103
                a         completion  wr 6 success
                b         completion  success
                b         completion  success
                """);
    }

    @Test
    void aSendBehindALongWriteLeavesWhenTheWriteIsDone() {
        rc().run("""
                a         direct  step 40
                b         post  recv 100
                a         post  write 100 -> r1+0  wr 1
                a         post  send 10  wr 2 signaled
                a silent
                a silent
                b         memory  r1+0 len 80 as wr 1 only
                a -> b    SEND_ONLY  psn 100
                b         memory  r1+0 len 100 as wr 1 only
                b         completion  success
                b -> a    ACK  psn 100
                a         completion  wr 2 success
                """);
    }

    @Test
    void whatIsDeclinedGoesByPacketsAndTheResponderRefusesIt() {
        rc().run("""
                a         direct
                a         post  write 10 -> r1+65530  wr 1 signaled
                a -> b    WRITE_ONLY  psn 100
                b -> a    NAK access  psn 100
                a         completion  wr 1 rem-access-err
                a         state  ERR
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void aRefusalInTheMiddleFallsBackToPacketsFromTheBeginning() {
        rc().run("""
                a         direct  step 40
                a         post  write 100 -> r1+0  wr 1 signaled
                a silent
                b         memory  r1+0 len 40 as wr 1 only
                b         set  r1+0  len 40 byte 0
                a         direct  off
                a -> b    WRITE_ONLY  psn 100  r1+0 len 100  | 100
                b -> a    ACK  psn 100
                a         completion  wr 1 success
                b         memory  r1+0 len 100 as wr 1 only
                """);
    }

    @Test
    void aRegionThatIsClosedInTheMiddleIsRefusedByTheResponder() {
        rc().run("""
                a         direct  step 40
                a         post  write 100 -> r1+0  wr 1 signaled
                a silent
                b         close  region r1
                a -> b    WRITE_ONLY  psn 100
                b -> a    NAK access  psn 100
                a         completion  wr 1 rem-access-err
                b         event  QP_ACCESS_ERR
                """);
    }

    /// The end of the way itself asserts that it is told first.
    @Test
    void theEndOfAccessComesBeforeTheReceiveThatFails() {
        rc().run("""
                b         direct
                b         post  recv 8  wr 2
                a         post  send 100  wr 1 signaled
                a -> b    SEND_ONLY  psn 100
                b         completion  wr 2 loc-len-err
                b         state  ERR
                b -> a    NAK invalid-request  psn 100
                a         completion  wr 1 rem-inv-req-err
                """);
    }

    @Test
    void aLocalErrorIsFoundFirst() {
        rc().run("""
                a         direct
                a         post  write 8 -> r1+0  wr 1 signaled
                a         post  write 100 -> r1+0 from out+65500 len 100 wr 2
                a         post  write 8 -> r1+0  wr 3
                nothing
                a         completion  wr 1 success
                a         completion  wr 2 loc-prot-err
                a         completion  wr 3 wr-flush-err
                a         state  ERR
                """);
    }

    @Test
    void aLocalRegionThatIsClosedInTheMiddleFailsTheRequest() {
        rc().run("""
                a         direct  step 40
                a         post  write 100 -> r1+0  wr 1
                a silent
                a         close  region out
                nothing
                a         completion  wr 1 loc-prot-err
                """);
    }

    @Test
    void anArenaThatIsClosedFailsTheRequestAsItDoesByPackets() {
        rc().run("""
                a         direct
                a         post  write 100 -> r1+0  wr 1
                a         close  arena out
                nothing
                a         completion  wr 1 loc-prot-err
                b         memory  unchanged
                """);
    }

    @Test
    void withoutReadsAllowedNoneIsCarriedOut() {
        rc().reads(0).run("""
                a         direct
                a         post  read 8 <- r1+0  wr 1
                nothing
                a         completion  wr 1 loc-qp-op-err
                a         memory  unchanged
                """);
    }

    @Test
    void aRequestOfNoBytesAsksThePeer() {
        rc().run("""
                a         direct
                a         post  write 0 -> r1+0  wr 1 signaled
                a -> b    WRITE_ONLY  psn 100
                b -> a    ACK  psn 100
                a         completion  wr 1 success
                """);
    }

    @Test
    void aWriteWithImmediateAndAFlushGoByPackets() {
        rc().run("""
                a         direct
                b         post  recv 0
                a         post  write 8 -> r1+0 imm 5 wr 1 signaled
                a -> b    WRITE_ONLY_IMMEDIATE  psn 100
                b -> a    ACK  psn 100
                a         completion  wr 1 success
                b         completion  imm 5
                b         modify  access remote-write flush-global
                b         region  f access flush-global remote-write
                a         post  flush 8 -> f+0 global wr 2 signaled
                a -> b    FLUSH  psn 101
                b -> a    READ_RESPONSE_ONLY  psn 101
                a         completion  wr 2 success
                """);
    }

    @Test
    void whatIsNotSignaledCompletesInSilence() {
        rc().run("""
                a         direct
                a         post  write 8 -> r1+0  wr 1
                a         post  write 8 -> r1+8  wr 2
                a         post  write 8 -> r1+16  wr 3 signaled
                nothing
                a         completion  wr 3 success
                a         completion  none
                """);
        rc().signalAll().run("""
                a         direct
                a         post  write 8 -> r1+0  wr 1
                nothing
                a         completion  wr 1 success
                """);
    }

    /// Slots are retired: more requests than the queue holds pass through it.
    @Test
    void slotsAreFreeAgain() {
        rc().run("a direct\n"
                + "a post write 8 -> r1+0 wr 1 signaled\nnothing\na completion wr 1 success\n".repeat(600));
    }

    @Test
    void aFencedRequestWaitsForTheReadBeforeIt() {
        rc().run("""
                a         post  read 8 <- r1+0  wr 1 signaled
                a -> b    READ_REQUEST  psn 100
                a         direct
                a         post  write 8 -> r1+8  wr 2 signaled fence
                a silent
                b         memory  unchanged
                b -> a    READ_RESPONSE_ONLY  psn 100
                nothing
                a         completion  wr 1 success
                a         completion  wr 2 success
                b         memory  r1+8 len 8 as wr 2 only
                """);
    }

    @Test
    void aFencedWriteBehindADirectReadIsDirect() {
        rc().run("""
                a         direct
                a         post  read 8 <- r1+0  wr 1 signaled
                a         post  write 8 -> r1+8  wr 2 signaled fence
                nothing
                a         completion  wr 1 success
                a         completion  wr 2 success
                """);
    }

    @Test
    void sixtyFourRequestsAreOneTurn() {
        rc().run("a direct\n" + "a post write 8 -> r1+0 wr 1\n".repeat(140) + """
                a silent
                a counter completions 0
                a post send 8 wr 2 signaled
                a silent
                b post recv 8
                a -> b    SEND_ONLY  psn 100
                b -> a    ACK  psn 100
                a         completion  wr 2 success
                b         completion  success
                """);
    }

    @Test
    void aMebibyteIsOneTurn() {
        String twice = "a post write 131072 -> big+0 from large+0 len 131072 wr 1 signaled\n";
        rc().run("b region big len 131072\na region large len 131072\na direct\n" + twice.repeat(9) + """
                a silent
                a counter completions 8
                a silent
                a counter completions 9
                """
                + "a completion wr 1 success\n".repeat(9));
    }

    // ---- states

    @Test
    void aDrainingQueueFinishesWhatHasBegunAndStartsNothing() {
        rc().run("""
                a         direct  step 40
                a         post  write 100 -> r1+0  wr 1 signaled
                a         post  write 8 -> r1+200  wr 2 signaled
                a silent
                a         modify  notify-drained SQD
                a         event  none
                a silent
                a         event  none
                a silent
                a         event  SQ_DRAINED
                a         completion  wr 1 success
                nothing ever
                a         completion  none
                b         memory  r1+0 len 100 as wr 1 only
                a         modify  RTS
                nothing
                a         completion  wr 2 success
                """);
    }

    @Test
    void whatHasBegunAndIsDeclinedIsFinishedByPacketsWhileDraining() {
        rc().run("""
                a         direct  step 40
                a         post  write 100 -> r1+0  wr 1 signaled
                a silent
                a         modify  notify-drained SQD
                a         direct  off
                a -> b    WRITE_ONLY  psn 100
                a         event  none
                b -> a    ACK  psn 100
                a         event  SQ_DRAINED
                a         completion  wr 1 success
                """);
    }

    @Test
    void aDrainedQueueStartsNothing() {
        rc().run("""
                a         direct
                a         modify  notify-drained SQD
                a         event  SQ_DRAINED
                a         post  write 8 -> r1+0  wr 1 signaled
                nothing ever
                a         completion  none
                b         memory  unchanged
                a         modify  RTS
                nothing
                a         completion  wr 1 success
                """);
    }

    @Test
    void errInTheMiddleFlushesTheRequest() {
        rc().run("""
                a         direct  step 40
                a         post  write 100 -> r1+0  wr 1
                a         post  write 8 -> r1+0  wr 2
                a silent
                a         modify  ERR
                nothing ever
                a         completion  wr 1 wr-flush-err
                a         completion  wr 2 wr-flush-err
                b         memory  r1+0 len 40 as wr 1 only
                """);
    }

    @Test
    void resetInTheMiddleForgetsTheRequest() {
        rc().run("""
                a         direct  step 40
                a         post  write 100 -> r1+0  wr 1 signaled
                a silent
                a         modify  RESET
                a         modify  INIT
                a         modify  RTR
                a         modify  RTS
                a         modify  notify-drained SQD
                a         event  SQ_DRAINED
                a         modify  RTS
                a         post  write 100 -> r1+0  wr 2 signaled
                a silent
                a silent
                a silent
                a         completion  wr 2 success
                b         memory  r1+0 len 100 as wr 2 only
                """);
    }

    // ---- signs of life

    @Test
    void directAccessIsNoSignOfLife() {
        rc().run("""
                a         direct
                a         modify keep-alive 100ms
                +60ms     a         post  write 8 -> r1+0  wr 1 signaled
                nothing until +39.999999ms
                a         completion  wr 1 success
                +1ns      a -> b    WRITE_ONLY  psn 100  ackreq
                a         post  write 8 -> r1+0  wr 2 signaled
                a -> b    WRITE_ONLY  psn 101  | 8
                b -> a    ACK  psn 101
                a         completion  wr 2 success
                """);
    }

    @Test
    void aKeepAliveWaitsForARequestThatHasBegun() {
        rc().run("""
                a         direct  step 40
                a         modify keep-alive 100ms
                a         post  write 50 -> r1+0  wr 1 signaled
                a silent
                nobody moves until +100ms
                a silent
                a         completion  wr 1 success
                nothing until +99.999999ms
                +1ns      a -> b    WRITE_ONLY  psn 100  ackreq
                b -> a    ACK  psn 100
                """);
    }

    @Test
    void whilePacketsWaitAsThePeerAskedNothingIsDirect() {
        rc().rnrTimer(12).run("""
                a         direct
                a         post  send 8  wr 1 signaled
                a         post  write 8 -> r1+0  wr 2 signaled
                a -> b    SEND_ONLY   psn 100
                a -> b    WRITE_ONLY  psn 101
                b -> a    RNR timer 12  psn 100
                nothing until +639us
                b         memory  unchanged
                b         post  recv 8
                +1us      a -> b    SEND_ONLY   psn 100
                a -> b    WRITE_ONLY  psn 101
                b -> a    ACK  psn 101
                a         completion  wr 1 success
                a         completion  wr 2 success
                b         completion  success
                """);
    }
}
