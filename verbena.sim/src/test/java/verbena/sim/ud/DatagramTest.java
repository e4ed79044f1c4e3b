package verbena.sim.ud;

import static verbena.sim.script.PacketScript.ud;

import org.junit.jupiter.api.Test;

/// Datagrams that arrive: one packet, 40 bytes of address before the data, and its sender (IBTA 9.8.3, A17.4.5).
class DatagramTest {
    @Test
    void aDatagramCompletesWhenItHasLeftAndArrivesBehindItsAddress() {
        ud().run("""
                b         post  recv 140 wr 1
                a         post  send 100 to b wr 7 signaled
                a -> b    UD_SEND_ONLY  psn 100  qkey 0x11111111 srcqp 0x11  | 100
                a         completion  wr 7 success opcode send
                b         completion  wr 1 success byte-len 140 source-qp 0x11 grh opcode recv
                b         memory      in+40 len 100 as sent
                nothing ever
                """);
    }

    @Test
    void thePeerNeedNotReadTheAddressToFindTheData() {
        ud().run("""
                b         post  recv wr 1 into in+1000 len 40, in+0 len 100
                a         post  send 100 to b
                a -> b    UD_SEND_ONLY  psn 100  | 100
                b         completion  wr 1 success byte-len 140
                b         memory      in+0 len 100 as sent
                b         memory      in+1000 grh
                """);
    }

    @Test
    void overIpv4TheAddressIsAnIpv4HeaderWithARightChecksum() {
        ud().run("""
                b         post  recv 140 wr 1
                a         post  send 100 to b
                a -> b    UD_SEND_ONLY  psn 100  | 100
                b         completion  wr 1 success grh
                b         memory      in+0 grh
                """);
    }

    @Test
    void overIpv6TheAddressIsTheIpv6Header() {
        ud().ipv6().run("""
                b         post  recv 140 wr 1
                a         post  send 100 to b
                a -> b    UD_SEND_ONLY  psn 100  | 100
                b         completion  wr 1 success grh
                b         memory      in+0 grh
                b         memory      in+40 len 100 as sent
                """);
    }

    @Test
    void trafficClassAndHopLimitOfAHandleAreThoseOfThePacketAndOfTheAddress() {
        ud().run("""
                b         post    recv 140 wr 1
                a         handle  h1 to b traffic-class 0x20 hop-limit 3
                a         post    send 100 to h1
                a -> b    UD_SEND_ONLY  psn 100  | 100  tos 0x20 ttl 3
                b         completion  wr 1 success
                b         memory  in+0 grh
                """);
    }

    @Test
    void overIpv6TrafficClassAndHopLimitAreInTheAddressToo() {
        ud().ipv6().run("""
                b         post    recv 140 wr 1
                a         handle  h1 to b traffic-class 0xa8 hop-limit 255
                a         post    send 100 to h1
                a -> b    UD_SEND_ONLY  psn 100  | 100  tos 0xa8 ttl 255
                b         completion  wr 1 success
                b         memory  in+0 grh
                """);
    }

    @Test
    void theSourcePortOfAHandleIsThatOfThePacket() {
        ud().run("""
                b         post    recv 140 wr 1
                a         handle  h1 to b port 0xc123
                a         post    send 100 to h1
                a -> b    UD_SEND_ONLY  psn 100  | 100  port 0xc123
                b         completion  wr 1 success
                """);
    }

    @Test
    void immediateDataArrives() {
        ud().run("""
                b         post  recv 140 wr 1
                a         post  send 100 to b imm 0x01020304
                a -> b    UD_SEND_ONLY_IMMEDIATE  psn 100  imm 0x01020304  | 100
                b         completion  wr 1 success byte-len 140 imm 0x01020304 source-qp 0x11
                b         memory      in+40 len 100 as sent
                b         memory      in+0 grh
                """);
    }

    @Test
    void anEmptyDatagramIsItsAddress() {
        ud().run("""
                b         post  recv 40 wr 1
                a         post  send 0 to b
                a -> b    UD_SEND_ONLY  psn 100  | 0
                b         completion  wr 1 success byte-len 40
                b         memory      in+0 grh
                """);
    }

    @Test
    void theDataIsPaddedToFourBytes() {
        ud().run("""
                b         post  recv 100 wr 1
                a         post  send 21 to b
                a -> b    UD_SEND_ONLY  psn 100  pad 3  | 21
                b         completion  wr 1 success byte-len 61
                b         memory      in+40 len 21 as sent
                b         memory      in+0 grh
                """);
    }

    @Test
    void aWholePathMtuFits() {
        ud().mtu(4096).run("""
                b         post  recv 4136 wr 1
                a         post  send 4096 to b
                a -> b    UD_SEND_ONLY  psn 100  | 4096
                b         completion  wr 1 success byte-len 4136
                b         memory      in+40 len 4096 as sent
                """);
    }

    /// IBTA C10-93.1.1.
    @Test
    void moreThanThePathMtuIsNotSentAndThatIsNoError() {
        ud().run("""
                b         post  recv 2000 wr 1
                a         post  send 1025 to b wr 7 signaled
                a         completion  wr 7 success
                nothing ever
                a         state       RTS
                b         completion  none
                """);
    }

    @Test
    void inlineDataIsSentAsItWasWhenPosted() {
        ud().run("""
                b         post  recv 140 wr 1
                a         post  send 10 to b inline
                a         set   out+0 len 10 byte 0xee
                a -> b    UD_SEND_ONLY  psn 100  | 10
                b         completion  wr 1 success
                b         memory      in+40 len 10 as sent
                """);
    }

    @Test
    void dataIsGatheredAndScattered() {
        ud().run("""
                b         post  recv wr 1 into in+0 len 60, in+1000 len 100
                a         post  send 90 to b from out+0 len 40, out+5000 len 50
                a -> b    UD_SEND_ONLY  psn 100  | 90
                b         completion  wr 1 success byte-len 130
                b         memory      in+0 grh
                b         memory      in+40 len 20 as sent
                b         memory      in+1000 len 20 as out+20
                """);
    }

    @Test
    void theAddressMayRunOverTheEntriesOfAReceive() {
        ud().run("""
                b         post  recv wr 1 into in+0 len 10, in+10 len 30, in+2000 len 8
                a         post  send 8 to b
                a -> b    UD_SEND_ONLY  psn 100  | 8
                b         completion  wr 1 success byte-len 48
                b         memory      in+0 grh
                b         memory      in+2000 len 8 as sent
                """);
    }

    /// IBTA 9.8.3.1.
    @Test
    void everyDatagramHasThePsnAfterTheOneBefore() {
        ud().psn(0xFFFFFF).run("""
                b         post  recv 50 wr 1
                b         post  recv 50 wr 2
                a         post  send 1 to b
                a         post  send 2 to b
                a -> b    UD_SEND_ONLY  psn 0xffffff
                a -> b    UD_SEND_ONLY  psn 0
                b         completion  wr 1 success byte-len 41
                b         completion  wr 2 success byte-len 42
                """);
    }

    @Test
    void thePsnIsNotLookedAt() {
        ud().run("""
                b         post  recv 50 wr 1
                b         post  recv 50 wr 2
                b         post  recv 50 wr 3
                peer -> b    UD_SEND_ONLY  psn 900  qkey 0x11111111 srcqp 0x11  | 1  => accepted
                peer -> b    UD_SEND_ONLY  psn 900  qkey 0x11111111 srcqp 0x11  | 2  => accepted
                peer -> b    UD_SEND_ONLY  psn 3    qkey 0x11111111 srcqp 0x11  | 3  => accepted
                b         completion  wr 1 success
                b         completion  wr 2 success
                b         completion  wr 3 success
                """);
    }

    @Test
    void aLostDatagramIsMissedByNobody() {
        ud().run("""
                b         post  recv 50 wr 1
                a         post  send 1 to b wr 7 signaled
                a -x b    UD_SEND_ONLY  psn 100
                a         completion  wr 7 success
                nothing ever
                b         completion  none
                """);
    }

    @Test
    void aDoubledDatagramArrivesTwice() {
        ud().run("""
                b         post  recv 50 wr 1
                b         post  recv 50 wr 2
                a         post  send 1 to b
                a -2> b   UD_SEND_ONLY  psn 100  => accepted
                b         completion  wr 1 success
                b         completion  wr 2 success
                """);
    }

    @Test
    void overtakenDatagramsArriveAsTheyCome() {
        ud().run("""
                b         post  recv 50 wr 1
                b         post  recv 50 wr 2
                a         post  send 1 to b
                a         post  send 2 to b
                a ->>1ms b  UD_SEND_ONLY  psn 100
                a -> b      UD_SEND_ONLY  psn 101
                nothing until +1ms
                b         completion  wr 1 success byte-len 42
                b         completion  wr 2 success byte-len 41
                """);
    }

    @Test
    void aDamagedDatagramIsLost() {
        ud().ipv6().run("""
                b         post  recv 50 wr 1
                a         post  send 8 to b
                a -~> b   UD_SEND_ONLY  psn 100  => dropped.icrc
                b         completion  none
                """);
    }

    @Test
    void oneQueuePairHearsManyAndKnowsWhoSpoke() {
        ud().with("c", "").with("d", "b").run("""
                b         post  recv 50 wr 1
                b         post  recv 50 wr 2
                b         post  recv 50 wr 3
                a         post  send 1 to b
                a -> b    UD_SEND_ONLY  psn 100   srcqp 0x11
                c         post  send 2 to b
                c -> b    UD_SEND_ONLY  psn 7000  srcqp 0x13  from 10.0.0.3
                d         post  send 3 to b
                d -> b    UD_SEND_ONLY  psn 7000  srcqp 0x14  from 10.0.0.2
                b         completion  wr 1 success byte-len 41 source-qp 0x11
                b         completion  wr 2 success byte-len 42 source-qp 0x13
                b         completion  wr 3 success byte-len 43 source-qp 0x14
                """);
    }

    @Test
    void oneQueuePairSpeaksToMany() {
        ud().with("c", "").run("""
                b         post  recv 50 wr 1
                c         post  recv 50 wr 2
                a         post  send 5 to c from out+100 len 5
                a         post  send 4 to b
                a -> c    UD_SEND_ONLY  psn 100  qp c  | 5  to 10.0.0.3
                a -> b    UD_SEND_ONLY  psn 101  qp b  | 4  to 10.0.0.2
                c         completion  wr 2 success byte-len 45
                b         completion  wr 1 success byte-len 44
                c         memory  in+40 len 5 as out+100
                """);
    }

    @Test
    void anAnswerGoesToTheAddressAndNumberOfTheCompletion() {
        ud().run("""
                b         post  recv 50 wr 1
                a         post  recv 50 wr 2
                a         post  send 5 to b
                a -> b    UD_SEND_ONLY  psn 100  | 5
                b         completion  wr 1 success source-qp 0x11
                b         post  send 6 to a qp 0x11
                b -> a    UD_SEND_ONLY  psn 7000  qp a srcqp 0x12  | 6
                a         completion  wr 2 success byte-len 46 source-qp 0x12
                """);
    }

    @Test
    void theSolicitedBitWakes() {
        ud().run("""
                b         post  recv 50 wr 1
                b         post  recv 50 wr 2
                b         arm   solicited
                a         post  send 1 to b
                a         post  send 1 to b solicited
                a -> b    UD_SEND_ONLY  psn 100
                b         notified 0
                a -> b    UD_SEND_ONLY  psn 101  solicited
                b         notified 1
                b         completion  wr 1 success
                b         completion  wr 2 success
                """);
    }

    @Test
    void anAcknowledgementRequestIsNotHeard() {
        ud().run("""
                b         post  recv 50 wr 1
                peer -> b    UD_SEND_ONLY  psn 1  ackreq  qkey 0x11111111 srcqp 0x11  | 8  => accepted
                b         completion  wr 1 success
                nothing ever
                """);
    }
}
