package verbena.sim.ud;

import static verbena.sim.script.PacketScript.ud;

import org.junit.jupiter.api.Test;

/// Receives that are missing, too small or cannot be written, and packets that are no datagrams for us (IBTA
/// 9.8.3.2).
class ReceiveTest {
    @Test
    void aDatagramThatFindsNoReceiveIsDropped() {
        ud().run("""
                a         post  send 1 to b wr 7 signaled
                a -> b    UD_SEND_ONLY  => dropped.message
                a         completion  wr 7 success
                b         post  recv 50 wr 1
                nothing ever
                b         completion  none
                """);
    }

    @Test
    void aDatagramLargerThanItsReceiveIsDroppedAndTheReceiveStays() {
        ud().run("""
                b         post  recv 50 wr 1
                a         post  send 11 to b
                a -> b    UD_SEND_ONLY  | 11  => dropped.message
                b         completion  none
                b         memory  unchanged
                a         post  send 10 to b
                a -> b    UD_SEND_ONLY  | 10  => accepted
                b         completion  wr 1 success byte-len 50
                """);
    }

    @Test
    void theAddressNeedsItsFortyBytesToo() {
        ud().run("""
                b         post  recv 39 wr 1
                a         post  send 0 to b
                a -> b    UD_SEND_ONLY  | 0  => dropped.message
                b         completion  none
                """);
    }

    @Test
    void withASharedReceiveQueueADatagramThatIsTooLargeEndsItsReceive() {
        ud().srq().run("""
                b         post  recv 50 wr 1
                b         post  recv 60 wr 2
                a         post  send 11 to b
                a -> b    UD_SEND_ONLY  | 11  => dropped.message
                b         completion  wr 1 loc-len-err
                b         state  RTS
                a         post  send 11 to b
                a -> b    UD_SEND_ONLY  | 11  => accepted
                b         completion  wr 2 success byte-len 51
                """);
    }

    @Test
    void aSharedReceiveQueueServesDatagramsInTheirOrder() {
        ud().srq().with("d", "b").run("""
                b         post  recv 50 wr 1
                b         post  recv 50 wr 2
                a         post  send 1 to d
                a -> d    UD_SEND_ONLY  qp d
                a         post  send 2 to b
                a -> b    UD_SEND_ONLY  qp b
                d         completion  wr 1 success byte-len 41
                b         completion  wr 2 success byte-len 42
                """);
    }

    @Test
    void anEmptySharedReceiveQueueDropsTheDatagram() {
        ud().srq().run("""
                a         post  send 1 to b
                a -> b    UD_SEND_ONLY  => dropped.message
                b         completion  none
                """);
    }

    @Test
    void theLimitOfASharedReceiveQueueCountsDatagramsToo() {
        ud().srq().run("""
                b         post  recv 50 wr 1
                b         arm   limit 1
                a         post  send 1 to b
                a -> b    UD_SEND_ONLY
                b         event  SRQ_LIMIT_REACHED
                b         completion  wr 1 success
                """);
    }

    @Test
    void aReceiveWhoseMemoryIsGoneEndsTheQueuePair() {
        ud().run("""
                b         post  recv 50 wr 1
                b         post  recv 50 wr 2
                b         close arena in
                a         post  send 1 to b
                a -> b    UD_SEND_ONLY  => dropped.message
                b         completion  wr 1 loc-prot-err
                b         completion  wr 2 wr-flush-err
                b         state  ERR
                """);
    }

    @Test
    void aPacketOfAConnectionIsNotForUs() {
        ud().run("""
                b         post  recv 50 wr 1
                peer -> b    SEND_ONLY  psn 100  | 8          => dropped.wrong-service
                peer -> b    UC_SEND_ONLY  psn 100  | 8       => dropped.wrong-service
                peer -> b    UC_WRITE_ONLY  psn 100  va 5 rkey 6  | 8  => dropped.wrong-service
                b         completion  none
                """);
    }

    @Test
    void anOpcodeThatDatagramsDoNotHaveIsMalformed() {
        ud().run("""
                peer -> b    opcode 0x60  | 16   => dropped.malformed
                peer -> b    opcode 0x6a  | 100  => dropped.malformed
                nothing ever
                """);
    }

    /// IBTA 10.9.3.
    @Test
    void anotherPartitionIsNotHeard() {
        ud().run("""
                b         post  recv 50 wr 1
                peer -> b    UD_SEND_ONLY  pkey 0x8001  qkey 0x11111111 srcqp 0x11  | 1  => dropped.pkey
                b         completion  none
                """);
    }

    @Test
    void aLimitedMemberOfThePartitionIsHeard() {
        ud().run("""
                b         post  recv 50 wr 1
                peer -> b    UD_SEND_ONLY  pkey 0x7fff  qkey 0x11111111 srcqp 0x11  | 1  => accepted
                b         completion  wr 1 success
                """);
    }

    @Test
    void thePartitionIsLookedAtBeforeTheQkey() {
        ud().run("""
                peer -> b    UD_SEND_ONLY  pkey 0x8001  qkey 5 srcqp 0x11  | 1  => dropped.pkey
                """);
    }

    @Test
    void aDatagramLargerThanThePathMtuIsDropped() {
        ud().mtu(256).run("""
                b         post  recv 1000 wr 1
                peer -> b    UD_SEND_ONLY  qkey 0x11111111 srcqp 0x11  | 260  => dropped.message
                b         completion  none
                """);
    }

    @Test
    void aStrangersDatagramIsAsGoodAsAnother() {
        ud().run("""
                b         post  recv 50 wr 1
                peer -> b    UD_SEND_ONLY  qkey 0x11111111 srcqp 0x99  | 1 from 10.0.0.77  => accepted
                b         completion  wr 1 success source-qp 0x99
                b         memory  in+0 grh
                """);
    }

    @Test
    void aQueuePairThatIsNoneIsUnknown() {
        ud().run("""
                peer -> b    UD_SEND_ONLY  qp 0x777  qkey 0x11111111 srcqp 0x11  | 1  => dropped.unknown-qp
                """);
    }
}
