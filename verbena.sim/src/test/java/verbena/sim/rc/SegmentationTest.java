package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// How messages of every kind are cut into packets (IBTA 9.2.1, 9.7.3) and put together again.
class SegmentationTest {
    @Test
    void aSendOfNothingIsOnePacketAndUsesUpAReceive() {
        rc().run("""
                b         post  recv 100 wr 1
                a         post  send 0 wr 7 signaled
                a -> b    SEND_ONLY  psn 100  ackreq  | 0
                b         completion  wr 1 success byte-len 0 opcode recv
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 7 success opcode send
                b         memory  unchanged
                """);
    }

    @Test
    void aSendOfOneByteIsPaddedByThree() {
        rc().run("""
                b         post  recv 100 wr 1
                a         post  send 1 wr 7 signaled
                a -> b    SEND_ONLY  psn 100  pad 3  ackreq  | 1
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 7 success
                b         completion  wr 1 success byte-len 1
                b         memory  in+0 len 1 as sent only
                """);
    }

    @Test
    void aSendOfTwoBytesIsPaddedByTwo() {
        rc().run("""
                b         post  recv 100 wr 1
                a         post  send 2
                a -> b    SEND_ONLY  psn 100  pad 2  | 2
                b -> a    ACK  psn 100  msn 1
                b         completion  wr 1 success byte-len 2
                b         memory  in+0 len 2 as sent only
                """);
    }

    @Test
    void aWriteOfThreeBytesIsPaddedByOne() {
        rc().run("""
                a         post  write 3 -> r1+5  wr 7 signaled
                a -> b    WRITE_ONLY  psn 100  r1+5 len 3  pad 1  ackreq  | 3
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 7 success opcode rdma-write
                b         memory  r1+5 len 3 as sent only
                """);
    }

    @Test
    void aSendOneByteShortOfTheMtuIsOnePacket() {
        rc().mtu(256).run("""
                b         post  recv 1000 wr 1
                a         post  send 255 wr 7 signaled
                a -> b    SEND_ONLY  psn 100  pad 1  | 255
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 7 success
                b         completion  wr 1 success byte-len 255
                b         memory  in+0 len 255 as sent only
                """);
    }

    @Test
    void aSendOfExactlyTheMtuIsOnePacket() {
        rc().mtu(256).run("""
                b         post  recv 1000 wr 1
                a         post  send 256 wr 7 signaled
                a -> b    SEND_ONLY  psn 100  pad 0  ackreq  | 256
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 7 success
                b         completion  wr 1 success byte-len 256
                b         memory  in+0 len 256 as sent only
                """);
    }

    @Test
    void aSendOneByteOverTheMtuIsTwoPackets() {
        rc().mtu(256).run("""
                b         post  recv 1000 wr 1
                a         post  send 257 wr 7 signaled
                a -> b    SEND_FIRST  psn 100  pad 0  | 256
                a -> b    SEND_LAST   psn 101  pad 3  ackreq  | 1
                b -> a    ACK  psn 101  msn 1
                a         completion  wr 7 success
                b         completion  wr 1 success byte-len 257
                b         memory  in+0 len 257 as sent only
                """);
    }

    @Test
    void aSendOfThreeMtusHasAFirstAMiddleAndALast() {
        rc().mtu(256).run("""
                b         post  recv 1000 wr 1
                a         post  send 768 wr 7 signaled
                a -> b    SEND_FIRST   psn 100  | 256
                a -> b    SEND_MIDDLE  psn 101  | 256
                a -> b    SEND_LAST    psn 102  ackreq  | 256
                b -> a    ACK  psn 102  msn 1
                a         completion  wr 7 success
                b         completion  wr 1 success byte-len 768
                b         memory  in+0 len 768 as sent only
                """);
    }

    @Test
    void immediateDataTravelsInTheOnlyPacketOfAShortSend() {
        rc().run("""
                b         post  recv 100 wr 1
                a         post  send 10 imm 0x01020304
                a -> b    SEND_ONLY_IMMEDIATE  psn 100  imm 0x01020304  | 10
                b         completion  wr 1 success byte-len 10 imm 0x01020304
                b -> a    ACK  psn 100  msn 1
                """);
    }

    @Test
    void immediateDataTravelsInTheLastPacketOfALongSend() {
        rc().mtu(256).run("""
                b         post  recv 1000 wr 1
                a         post  send 300 imm 0xcafebabe
                a -> b    SEND_FIRST           psn 100  | 256
                b         completion  none
                a -> b    SEND_LAST_IMMEDIATE  psn 101  imm 0xcafebabe  ackreq  | 44
                b         completion  wr 1 success byte-len 300 imm 0xcafebabe
                b -> a    ACK  psn 101  msn 1
                b         memory  in+0 len 300 as sent only
                """);
    }

    @Test
    void aWriteOfNothingAsksForNoKey() {
        // IBTA C9-88: R_Key and address are not checked.
        rc().run("""
                a         post  write 0 -> 0xdead rkey 0xbad  wr 7 signaled
                a -> b    WRITE_ONLY  psn 100  va 0xdead rkey 0xbad len 0  | 0
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 7 success
                b         memory  unchanged
                """);
    }

    @Test
    void onlyTheFirstPacketOfAWriteNamesMemory() {
        rc().mtu(256).run("""
                a         post  write 700 -> r1+1000  wr 7 signaled
                a -> b    WRITE_FIRST   psn 100  r1+1000 len 700  | 256
                a -> b    WRITE_MIDDLE  psn 101  | 256
                a -> b    WRITE_LAST    psn 102  ackreq  | 188
                b -> a    ACK  psn 102  msn 1
                a         completion  wr 7 success
                b         completion  none
                b         memory  r1+1000 len 700 as sent only
                """);
    }

    @Test
    void aWriteOfExactlyTheMtuIsOnePacket() {
        rc().mtu(4096).run("""
                a         post  write 4096 -> r1+0  wr 7 signaled
                a -> b    WRITE_ONLY  psn 100  r1+0 len 4096  | 4096
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 7 success
                b         memory  r1+0 len 4096 as sent only
                """);
    }

    @Test
    void aWriteWithImmediateUsesUpAReceiveButNoneOfItsMemory() {
        rc().run("""
                b         post  recv 100 wr 1
                a         post  write 10 -> r1+0  imm 0xdeadbeef wr 7 signaled
                a -> b    WRITE_ONLY_IMMEDIATE  psn 100  r1+0 len 10  imm 0xdeadbeef  ackreq  | 10
                b         completion  wr 1 success opcode recv-rdma-with-imm byte-len 10 imm 0xdeadbeef
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 7 success
                b         memory  r1+0 len 10 as sent only
                b         memory  in+0 unchanged
                """);
    }

    @Test
    void aLongWriteWithImmediateReportsTheLengthOfTheWholeMessage() {
        rc().mtu(256).run("""
                b         post  recv wr 1
                a         post  write 600 -> r1+0  imm 1 wr 7 signaled
                a -> b    WRITE_FIRST   psn 100  r1+0 len 600  | 256
                a -> b    WRITE_MIDDLE  psn 101  | 256
                a -> b    WRITE_LAST_IMMEDIATE  psn 102  imm 1  ackreq  | 88
                b         completion  wr 1 success opcode recv-rdma-with-imm byte-len 600 imm 1
                b -> a    ACK  psn 102  msn 1
                a         completion  wr 7 success
                b         memory  r1+0 len 600 as sent only
                """);
    }

    @Test
    void aWriteOfNothingWithImmediateStillUsesUpAReceive() {
        rc().run("""
                b         post  recv wr 1
                a         post  write 0 -> 0 imm 9
                a -> b    WRITE_ONLY_IMMEDIATE  psn 100  len 0  imm 9  | 0
                b         completion  wr 1 success byte-len 0 imm 9
                b -> a    ACK  psn 100  msn 1
                """);
    }

    @Test
    void aReadOfNothingIsAnsweredByOneEmptyPacketAndAsksForNoKey() {
        rc().run("""
                a         post  read 0 <- 0xdead rkey 0xbad  wr 7 signaled
                a -> b    READ_REQUEST  psn 100  va 0xdead rkey 0xbad len 0
                b -> a    READ_RESPONSE_ONLY  psn 100  msn 1  | 0
                a         completion  wr 7 success opcode rdma-read byte-len 0
                a         memory  unchanged
                """);
    }

    @Test
    void aShortReadIsAnsweredByOnePacketWithPadding() {
        rc().run("""
                a         post  read 5 <- r1+11  wr 7 signaled
                a -> b    READ_REQUEST  psn 100  r1+11 len 5  ackreq
                b -> a    READ_RESPONSE_ONLY  psn 100  msn 1  pad 3  | 5
                a         completion  wr 7 success opcode rdma-read byte-len 5
                a         memory  in+0 len 5 as r1+11 only
                b         memory  unchanged
                """);
    }

    @Test
    void aReadOfTheMtuAndOneByteIsAnsweredByTwoPackets() {
        rc().mtu(256).run("""
                a         post  read 257 <- r1+0  wr 7 signaled
                a -> b    READ_REQUEST  psn 100  r1+0 len 257
                b -> a    READ_RESPONSE_FIRST  psn 100  msn 1  | 256
                a         completion  none
                b -> a    READ_RESPONSE_LAST   psn 101  msn 1  | 1
                a         completion  wr 7 success byte-len 257
                a         memory  in+0 len 257 as r1+0 only
                """);
    }

    @Test
    void aLongReadTakesOnePsnForEachPacketOfItsAnswer() {
        rc().mtu(256).run("""
                a         post  read 768 <- r1+0  wr 7 signaled
                a         post  write 4 -> r1+0  wr 8 signaled
                a -> b    READ_REQUEST  psn 100  r1+0 len 768
                a -> b    WRITE_ONLY    psn 103  r1+0 len 4  ackreq  | 4
                b -> a    READ_RESPONSE_FIRST   psn 100  | 256
                b -> a    READ_RESPONSE_MIDDLE  psn 101  | 256
                b -> a    READ_RESPONSE_LAST    psn 102  | 256
                a         completion  wr 7 success byte-len 768
                b -> a    ACK  psn 103  msn 2
                a         completion  wr 8 success
                """);
    }

    @Test
    void aMessageIsGatheredAcrossEntriesAndPacketBoundaries() {
        rc().mtu(256).run("""
                a         post  write 300 -> r1+0  from out+1 len 100, out+1000 len 199, out+5 len 1 wr 7 signaled
                a -> b    WRITE_FIRST  psn 100  r1+0 len 300  | 256
                a -> b    WRITE_LAST   psn 101  | 44
                b -> a    ACK  psn 101  msn 1
                a         completion  wr 7 success
                b         memory  r1+0 len 100 as out+1
                b         memory  r1+100 len 199 as out+1000
                b         memory  r1+299 len 1 as out+5
                b         memory  r1+0 len 300 as sent only
                """);
    }

    @Test
    void aMessageIsScatteredAcrossEntriesAndPacketBoundaries() {
        rc().mtu(256).run("""
                b         post  recv wr 1 into in+10 len 200, in+1000 len 0, in+2000 len 300
                a         post  send 400 wr 7 signaled
                a -> b    SEND_FIRST  psn 100  | 256
                a -> b    SEND_LAST   psn 101  | 144
                b -> a    ACK  psn 101  msn 1
                a         completion  wr 7 success
                b         completion  wr 1 success byte-len 400
                b         memory  in+10 len 200 as out+0
                b         memory  in+2000 len 200 as out+200
                """);
    }

    @Test
    void theAnswerOfAReadIsScattered() {
        rc().mtu(256).run("""
                a         post  read 300 <- r1+0  wr 7 signaled into in+10 len 250, in+1000 len 50
                a -> b    READ_REQUEST  psn 100  r1+0 len 300
                b -> a    READ_RESPONSE_FIRST  psn 100  | 256
                b -> a    READ_RESPONSE_LAST   psn 101  | 44
                a         completion  wr 7 success
                a         memory  in+10 len 250 as r1+0
                a         memory  in+1000 len 50 as r1+250
                """);
    }

    @Test
    void inlineDataIsThatOfTheTimeOfPosting() {
        rc().run("""
                a         post  write 60 -> r1+0  inline wr 7 signaled
                a         set   out+0 len 60 byte 0xee
                a -> b    WRITE_ONLY  psn 100  r1+0 len 60  | 60
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 7 success
                b         memory  r1+0 len 60 as sent only
                """);
    }

    @Test
    void dataThatIsNotInlineIsReadWhenThePacketLeaves() {
        rc().mtu(256).run("""
                a         post  write 300 -> r1+0
                a -> b    WRITE_FIRST  psn 100  | 256
                a         set   out+0 len 300 byte 0xee
                a -> b    WRITE_LAST   psn 101  | 44
                b -> a    ACK  psn 101  msn 1
                b         memory  r1+0 len 256 as sent
                b         memory  r1+256 len 44 as out+256
                """);
    }

    @Test
    void bothEndsSendAtOnceWithPsnsOfTheirOwn() {
        rc().mtu(256).run("""
                a         post  recv 1000 wr 2
                b         post  recv 1000 wr 1
                a         post  send 300 wr 7 signaled
                b         post  send 400 wr 8 signaled
                a -> b    SEND_FIRST  psn 100   | 256
                b -> a    SEND_FIRST  psn 7000  | 256
                a -> b    SEND_LAST   psn 101   | 44
                b -> a    ACK         psn 101  msn 1
                b -> a    SEND_LAST   psn 7001  | 144
                a -> b    ACK         psn 7001  msn 1
                a         completion  wr 7 success
                a         completion  wr 2 success byte-len 400
                b         completion  wr 1 success byte-len 300
                b         completion  wr 8 success
                b         memory  in+0 len 300 as sent only
                a         memory  in+0 len 400 as sent only
                """);
    }

    @Test
    void everythingWorksOverIpv6() {
        rc().ipv6().mtu(256).run("""
                a         post  write 300 -> r1+0  wr 7 signaled
                a         post  read 10 <- r1+0  wr 8 signaled
                a -> b    WRITE_FIRST   psn 100  | 256
                a -> b    WRITE_LAST    psn 101  | 44
                a -> b    READ_REQUEST  psn 102  r1+0 len 10
                b -> a    ACK  psn 101
                b -> a    READ_RESPONSE_ONLY  psn 102  msn 2  | 10
                a         completion  wr 7 success
                a         completion  wr 8 success
                b         memory  r1+0 len 300 as sent only
                """);
    }
}
