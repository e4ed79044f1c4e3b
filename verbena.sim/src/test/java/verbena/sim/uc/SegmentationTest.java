package verbena.sim.uc;

import static verbena.sim.script.PacketScript.uc;

import org.junit.jupiter.api.Test;

/// How messages of an unreliable connection are cut, and that nothing answers them (IBTA 9.8.2).
class SegmentationTest {
    @Test
    void aSendOfOnePacketIsOnlyAndCompletesWhenItHasLeft() {
        uc().run("""
                b         post  recv 100 wr 1
                a         post  send 100 wr 7 signaled
                a -> b    UC_SEND_ONLY  psn 100  | 100
                a         completion  wr 7 success opcode send
                b         completion  wr 1 success byte-len 100 opcode recv
                b         memory      in+0 len 100 as sent only
                nothing ever
                """);
    }

    @Test
    void aSendOfTwoPacketsIsFirstAndLast() {
        uc().mtu(256).run("""
                b         post  recv 300 wr 1
                a         post  send 300 wr 7 signaled
                a -> b    UC_SEND_FIRST  psn 100  | 256
                a -> b    UC_SEND_LAST   psn 101  | 44
                a         completion  wr 7 success
                b         completion  wr 1 success byte-len 300
                b         memory      in+0 len 300 as sent only
                """);
    }

    @Test
    void aSendOfThreePacketsHasAMiddle() {
        uc().run("""
                b         post  recv 3000 wr 1
                a         post  send 3000
                a -> b    UC_SEND_FIRST   psn 100  | 1024
                b         completion  none
                a -> b    UC_SEND_MIDDLE  psn 101  | 1024
                a -> b    UC_SEND_LAST    psn 102  | 952
                b         completion  wr 1 success byte-len 3000
                b         memory      in+0 len 3000 as sent only
                """);
    }

    @Test
    void aMultipleOfThePathMtuEndsWithAFullLast() {
        uc().mtu(512).run("""
                b         post  recv 1024 wr 1
                a         post  send 1024
                a -> b    UC_SEND_FIRST  psn 100  | 512
                a -> b    UC_SEND_LAST   psn 101  | 512
                b         completion  wr 1 success byte-len 1024
                """);
    }

    @Test
    void exactlyThePathMtuIsOnly() {
        uc().mtu(4096).run("""
                b         post  recv 4096 wr 1
                a         post  send 4096
                a -> b    UC_SEND_ONLY  psn 100  | 4096
                b         completion  wr 1 success byte-len 4096
                """);
    }

    @Test
    void anEmptySendTakesAReceive() {
        uc().run("""
                b         post  recv 10 wr 1
                a         post  send 0 wr 7 signaled
                a -> b    UC_SEND_ONLY  psn 100  | 0
                a         completion  wr 7 success
                b         completion  wr 1 success byte-len 0
                b         memory  unchanged
                """);
    }

    @Test
    void aPayloadIsPaddedToFourBytes() {
        uc().run("""
                b         post  recv 10 wr 1
                a         post  send 5
                a -> b    UC_SEND_ONLY  psn 100  pad 3  | 5
                b         completion  wr 1 success byte-len 5
                b         memory      in+0 len 5 as sent only
                """);
    }

    @Test
    void immediateDataOfOnePacket() {
        uc().run("""
                b         post  recv 10 wr 1
                a         post  send 10 imm 0x01020304
                a -> b    UC_SEND_ONLY_IMMEDIATE  psn 100  imm 0x01020304  | 10
                b         completion  wr 1 success byte-len 10 imm 0x01020304
                """);
    }

    @Test
    void immediateDataIsInTheLastPacket() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                a         post  send 600 imm 9
                a -> b    UC_SEND_FIRST           psn 100  | 256
                a -> b    UC_SEND_MIDDLE          psn 101  | 256
                a -> b    UC_SEND_LAST_IMMEDIATE  psn 102  imm 9  | 88
                b         completion  wr 1 success byte-len 600 imm 9
                """);
    }

    @Test
    void aWriteOfOnePacket() {
        uc().run("""
                a         post  write 100 -> r1+8 wr 7 signaled
                a -> b    UC_WRITE_ONLY  psn 100  r1+8 len 100  | 100
                a         completion  wr 7 success opcode rdma-write
                b         memory      r1+8 len 100 as sent only
                b         completion  none
                nothing ever
                """);
    }

    @Test
    void aWriteOfThreePacketsNamesItsMemoryOnce() {
        uc().run("""
                a         post  write 3000 -> r1+0 wr 7 signaled
                a -> b    UC_WRITE_FIRST   psn 100  r1+0 len 3000  | 1024
                a         completion  none
                a -> b    UC_WRITE_MIDDLE  psn 101  | 1024
                a -> b    UC_WRITE_LAST    psn 102  | 952
                a         completion  wr 7 success
                b         memory      r1+0 len 3000 as sent only
                """);
    }

    @Test
    void aWriteWithImmediateTakesAReceiveButNotItsMemory() {
        uc().run("""
                b         post  recv 10 wr 1
                a         post  write 100 -> r1+0 imm 5
                a -> b    UC_WRITE_ONLY_IMMEDIATE  psn 100  r1+0 len 100 imm 5  | 100
                b         completion  wr 1 success byte-len 100 imm 5 opcode recv-rdma-with-imm
                b         memory      r1+0 len 100 as sent only
                b         memory      in+0 unchanged
                """);
    }

    @Test
    void aLongWriteWithImmediate() {
        uc().mtu(256).run("""
                b         post  recv wr 1
                a         post  write 700 -> r1+0 imm 5
                a -> b    UC_WRITE_FIRST           psn 100  r1+0 len 700  | 256
                a -> b    UC_WRITE_MIDDLE          psn 101  | 256
                b         completion  none
                a -> b    UC_WRITE_LAST_IMMEDIATE  psn 102  imm 5  | 188
                b         completion  wr 1 success byte-len 700 imm 5
                b         memory      r1+0 len 700 as sent only
                """);
    }

    @Test
    void anEmptyWriteTouchesNothing() {
        uc().run("""
                a         post  write 0 -> r1+0 wr 7 signaled
                a -> b    UC_WRITE_ONLY  psn 100  len 0  | 0  => accepted
                a         completion  wr 7 success
                b         memory  unchanged
                """);
    }

    @Test
    void anEmptyWriteWithImmediateIsANotice() {
        uc().run("""
                b         post  recv wr 1
                a         post  write 0 -> r1+0 imm 77
                a -> b    UC_WRITE_ONLY_IMMEDIATE  psn 100  len 0 imm 77  | 0
                b         completion  wr 1 success byte-len 0 imm 77
                """);
    }

    @Test
    void dataIsGatheredAndScattered() {
        uc().mtu(256).run("""
                b         post  recv wr 1 into in+0 len 100, in+1000 len 300
                a         post  send 350 from out+0 len 200, out+5000 len 150
                a -> b    UC_SEND_FIRST  psn 100  | 256
                a -> b    UC_SEND_LAST   psn 101  | 94
                b         completion  wr 1 success byte-len 350
                b         memory      in+0 len 100 as sent
                b         memory      in+1000 len 100 as out+100
                """);
    }

    @Test
    void inlineDataIsSentAsItWasWhenPosted() {
        uc().run("""
                b         post  recv 10 wr 1
                a         post  send 10 inline
                a         set   out+0 len 10 byte 0xee
                a -> b    UC_SEND_ONLY  psn 100  | 10
                b         completion  wr 1 success
                b         memory      in+0 len 10 as sent only
                """);
    }

    @Test
    void messagesFollowOneAnotherWithoutWaiting() {
        uc().window(1).run("""
                b         post  recv 10 wr 1
                a         post  send 10
                a         post  write 8 -> r1+0
                a         post  write 8 -> r1+8 wr 7 signaled
                a -> b    UC_SEND_ONLY   psn 100
                a -> b    UC_WRITE_ONLY  psn 101
                a -> b    UC_WRITE_ONLY  psn 102
                a         completion  wr 7 success
                a         completion  none
                b         completion  wr 1 success
                nothing ever
                """);
    }

    @Test
    void bothSidesSendAtOnce() {
        uc().run("""
                a         post  recv 10 wr 1
                b         post  recv 10 wr 2
                a         post  send 10
                b         post  send 10
                a -> b    UC_SEND_ONLY  psn 100   | 10
                b -> a    UC_SEND_ONLY  psn 7000  | 10
                a         completion  wr 1 success
                b         completion  wr 2 success
                a         memory  in+0 len 10 as sent only
                b         memory  in+0 len 10 as sent only
                """);
    }

    @Test
    void everyRequestOfASignalAllQueuePairCompletes() {
        uc().signalAll().run("""
                a         post  write 8 -> r1+0 wr 1
                a         post  write 8 -> r1+8 wr 2
                a -> b    UC_WRITE_ONLY  psn 100
                a -> b    UC_WRITE_ONLY  psn 101
                a         completion  wr 1 success
                a         completion  wr 2 success
                """);
    }

    @Test
    void theSolicitedBitIsOnTheLastPacketAndWakes() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                b         arm   solicited
                a         post  send 300 solicited
                a -> b    UC_SEND_FIRST  psn 100
                b         notified 0
                a -> b    UC_SEND_LAST   psn 101  solicited
                b         notified 1
                b         completion  wr 1 success
                """);
    }

    @Test
    void anUnsolicitedMessageDoesNotWakeWhoWaitsForSolicitedOnes() {
        uc().run("""
                b         post  recv 10 wr 1
                b         arm   solicited
                a         post  send 1
                a -> b    UC_SEND_ONLY  psn 100
                b         notified 0
                b         completion  wr 1 success
                """);
    }

    @Test
    void overIpv6() {
        uc().ipv6().mtu(256).run("""
                b         post  recv 300 wr 1
                a         post  send 300
                a -> b    UC_SEND_FIRST  psn 100  | 256
                a -> b    UC_SEND_LAST   psn 101  | 44
                b         completion  wr 1 success byte-len 300
                b         memory      in+0 len 300 as sent only
                """);
    }

    @Test
    void anAcknowledgementRequestIsNotHeard() {
        uc().run("""
                peer -> b    UC_WRITE_ONLY  psn 100  ackreq  r1+0  | 8  => accepted
                nothing ever
                """);
    }
}
