package verbena.sim.ud;

import static verbena.sim.script.PacketScript.ud;

import org.junit.jupiter.api.Test;

/// IBTA 9.2.4. Datagrams to a multicast group: queue pair 0xffffff, the group's address, a copy for each that is
/// attached (IBTA 10.5, A17.4.5.2).
class MulticastTest {
    @Test
    void aDatagramToAGroupNamesTheGroupAndNoQueuePair() {
        ud().run("""
                b         attach  239.1.1.1
                b         post    recv 50 wr 1
                a         post    send 8 to 239.1.1.1
                a -> b    UD_SEND_ONLY  qp 0xffffff qkey 0x11111111 srcqp 0x11  | 8  to 239.1.1.1  => accepted
                b         completion  wr 1 success byte-len 48 source-qp 0x11
                b         memory  in+40 len 8 as sent
                """);
    }

    @Test
    void theAddressInFrontOfTheDataNamesTheGroup() {
        ud().run("""
                b         attach  239.1.1.1
                b         post    recv 50 wr 1
                a         post    send 8 to 239.1.1.1
                a -> b    UD_SEND_ONLY  qp 0xffffff  | 8
                b         completion  wr 1 success
                b         memory  in+0 grh
                """);
    }

    @Test
    void overIpv6() {
        ud().ipv6().run("""
                b         attach  ff15::1
                b         post    recv 50 wr 1
                a         post    send 8 to ff15::1
                a -> b    UD_SEND_ONLY  qp 0xffffff  | 8  to ff15::1  => accepted
                b         completion  wr 1 success
                b         memory  in+0 grh
                """);
    }

    @Test
    void allWhoAreAttachedGetTheirCopyAndNobodyElse() {
        ud().with("c", "").with("d", "b").with("e", "b").run("""
                b         attach  239.1.1.1
                c         attach  239.1.1.1
                d         attach  239.1.1.1
                b         post    recv 50 wr 1
                c         post    recv 50 wr 2
                d         post    recv 50 wr 3
                e         post    recv 50 wr 4
                a         post    send 8 to 239.1.1.1
                a -> b, c  UD_SEND_ONLY  qp 0xffffff  | 8  => accepted
                b         completion  wr 1 success byte-len 48
                c         completion  wr 2 success byte-len 48
                d         completion  wr 3 success byte-len 48
                e         completion  none
                b         memory  in+40 len 8 as sent
                c         memory  in+40 len 8 as sent
                d         memory  in+40 len 8 as sent
                """);
    }

    @Test
    void aGroupThatNobodyIsAttachedToIsUnknown() {
        ud().run("""
                b         attach  239.1.1.1
                b         post    recv 50 wr 1
                a         post    send 8 to 239.1.1.2
                a -> b    UD_SEND_ONLY  qp 0xffffff  to 239.1.1.2  => dropped.unknown-qp
                b         completion  none
                """);
    }

    /// IBTA 9.6.1.2.
    @Test
    void aGroupsAddressIsNoWayToOneQueuePair() {
        ud().run("""
                b         attach  239.1.1.1
                b         post    recv 50 wr 1
                peer -> b    UD_SEND_ONLY  qp b  qkey 0x11111111 srcqp 0x11  | 1 to 239.1.1.1  => dropped.unknown-qp
                b         completion  none
                """);
    }

    @Test
    void theGroupsQueuePairIsNoWayToOneAddress() {
        ud().run("""
                b         attach  239.1.1.1
                b         post    recv 50 wr 1
                peer -> b    UD_SEND_ONLY  qp 0xffffff  qkey 0x11111111 srcqp 0x11  | 1  => dropped.unknown-qp
                b         completion  none
                """);
    }

    @Test
    void whoIsDetachedGetsNoMore() {
        ud().run("""
                b         attach  239.1.1.1
                b         post    recv 50 wr 1
                b         post    recv 50 wr 2
                a         post    send 1 to 239.1.1.1
                a -> b    UD_SEND_ONLY  => accepted
                b         detach  239.1.1.1
                a         post    send 1 to 239.1.1.1
                a -> b    UD_SEND_ONLY  => dropped.unknown-qp
                b         completion  wr 1 success
                b         completion  none
                """);
    }

    @Test
    void eachCopyIsJudgedByItsOwnQkey() {
        ud().with("d", "b").run("""
                b         attach  239.1.1.1
                d         attach  239.1.1.1
                d         modify  qkey 0x22222222
                b         post    recv 50 wr 1
                d         post    recv 50 wr 2
                a         post    send 1 to 239.1.1.1
                a -> b    UD_SEND_ONLY  qkey 0x11111111  => accepted
                b         completion  wr 1 success
                d         completion  none
                """);
    }

    @Test
    void whoHasNoReceiveMissesItAlone() {
        ud().with("d", "b").run("""
                b         attach  239.1.1.1
                d         attach  239.1.1.1
                d         post    recv 50 wr 2
                a         post    send 1 to 239.1.1.1
                a -> b    UD_SEND_ONLY  => accepted
                d         completion  wr 2 success
                b         completion  none
                """);
    }

    @Test
    void whoseQueuePairHasFailedMissesItAlone() {
        ud().with("d", "b").run("""
                b         attach  239.1.1.1
                d         attach  239.1.1.1
                b         modify  ERR
                d         post    recv 50 wr 2
                a         post    send 1 to 239.1.1.1
                a -> b    UD_SEND_ONLY  => accepted
                d         completion  wr 2 success
                """);
    }

    @Test
    void eachQueuePairOfASharedReceiveQueueTakesAReceiveOfItsOwn() {
        ud().srq().with("d", "b").run("""
                b         attach  239.1.1.1
                d         attach  239.1.1.1
                b         post    recv 50 wr 1
                b         post    recv 50 wr 2
                a         post    send 1 to 239.1.1.1
                a -> b    UD_SEND_ONLY  => accepted
                b         completion  wr 1 success
                d         completion  wr 2 success
                """);
    }

    @Test
    void aSenderNeedNotBeAttached() {
        ud().run("""
                b         attach  239.1.1.1
                b         post    recv 50 wr 1
                a         post    recv 50 wr 2
                a         post    send 1 to 239.1.1.1
                a -> b, a  UD_SEND_ONLY  qp 0xffffff
                a         completion  none
                b         completion  wr 1 success
                """);
    }

    @Test
    void aSenderThatIsAttachedHearsItself() {
        ud().run("""
                a         attach  239.1.1.1
                a         post    recv 50 wr 2
                a         post    send 1 to 239.1.1.1
                a -> a    UD_SEND_ONLY  qp 0xffffff  => accepted
                a         completion  wr 2 success source-qp 0x11
                """);
    }

    @Test
    void immediateDataGoesToGroupsToo() {
        ud().run("""
                b         attach  239.1.1.1
                b         post    recv 50 wr 1
                a         post    send 1 to 239.1.1.1 imm 7
                a -> b    UD_SEND_ONLY_IMMEDIATE  qp 0xffffff imm 7
                b         completion  wr 1 success imm 7
                """);
    }

    @Test
    void hopLimitAndTrafficClassOfAGroupAreThoseOfItsHandle() {
        ud().run("""
                b         attach  239.1.1.1
                b         post    recv 50 wr 1
                a         handle  h1 to 239.1.1.1 hop-limit 1 traffic-class 0x10
                a         post    send 1 to h1 qp 0xffffff
                a -> b    UD_SEND_ONLY  qp 0xffffff  to 239.1.1.1 tos 0x10 ttl 1
                b         completion  wr 1 success
                b         memory  in+0 grh
                """);
    }
}
