package verbena.sim.uc;

import static verbena.sim.script.PacketScript.uc;

import org.junit.jupiter.api.Test;

/// What a peer may not do is dropped without a word, and the queue pair goes on (IBTA 9.9.3.2, fault class D).
class AccessTest {
    @Test
    void aWrongKeyIsDropped() {
        uc().run("""
                peer -> b    UC_WRITE_ONLY  psn 100  r1+0 rkey 0x12345678  | 8  => dropped.message
                b         memory  unchanged
                b         state  RTS
                nothing ever
                """);
    }

    @Test
    void theEndOfTheRegionIsTheEnd() {
        uc().run("""
                peer -> b    UC_WRITE_ONLY  psn 100  r1+65529  | 8  => dropped.message
                b         memory  unchanged
                peer -> b    UC_WRITE_ONLY  psn 101  r1+65528  | 8  => accepted
                """);
    }

    @Test
    void aFirstWhoseMessageWouldLeaveTheRegionPlacesNothing() {
        uc().mtu(256).run("""
                peer -> b    UC_WRITE_FIRST  psn 100  r1+65280 len 257  | 256  => dropped.message
                peer -> b    UC_WRITE_LAST   psn 101  | 1                      => dropped.message
                b         memory  unchanged
                """);
    }

    @Test
    void belowTheRegionIsOutside() {
        uc().run("""
                peer -> b    UC_WRITE_ONLY  psn 100  r1-1  | 8  => dropped.message
                b         memory  unchanged
                """);
    }

    @Test
    void aRegionWithoutRemoteWriteIsNotWritten() {
        uc().run("""
                b         region  r3 access remote-read
                peer -> b    UC_WRITE_ONLY  psn 100  r3+0  | 8  => dropped.message
                b         memory  r3+0 unchanged
                """);
    }

    @Test
    void aQueuePairWithoutRemoteWriteTakesNone() {
        uc().run("""
                b         modify  access none
                peer -> b    UC_WRITE_ONLY  psn 100  r1+0  | 8  => dropped.message
                b         memory  unchanged
                b         state  RTS
                """);
    }

    @Test
    void aQueuePairWithoutRemoteWriteStillTakesSends() {
        uc().run("""
                b         modify  access none
                b         post  recv 10 wr 1
                peer -> b    UC_SEND_ONLY  psn 100  | 8  => accepted
                b         completion  wr 1 success
                """);
    }

    @Test
    void aRegionOfAnotherDomainIsNotWritten() {
        uc().run("""
                b         region  r3 pd 2 access local-write remote-write
                peer -> b    UC_WRITE_ONLY  psn 100  r3+0  | 8  => dropped.message
                b         memory  r3+0 unchanged
                """);
    }

    @Test
    void aRegionWithdrawnDuringAWriteTakesNoMore() {
        uc().mtu(256).run("""
                a         post  write 700 -> r1+0
                a -> b    UC_WRITE_FIRST   psn 100  => accepted
                b         close region r1
                a -> b    UC_WRITE_MIDDLE  psn 101  => dropped.message
                a -> b    UC_WRITE_LAST    psn 102  => dropped.message
                b         state  RTS
                """);
    }

    @Test
    void aWriteWithImmediateThatMayNotTakesNoReceive() {
        uc().run("""
                b         post  recv wr 1
                peer -> b    UC_WRITE_ONLY_IMMEDIATE  psn 100  r1+0 rkey 0x12345678 imm 1  | 8  => dropped.message
                b         completion  none
                peer -> b    UC_WRITE_ONLY_IMMEDIATE  psn 101  r1+0 imm 2  | 8  => accepted
                b         completion  wr 1 success imm 2
                """);
    }

    @Test
    void aRegionWithdrawnBeforeTheImmediateDataLeavesTheReceiveForTheNext() {
        uc().mtu(256).run("""
                b         post  recv wr 1
                a         post  write 300 -> r1+0 imm 4
                a -> b    UC_WRITE_FIRST           psn 100  => accepted
                b         close region r1
                a -> b    UC_WRITE_LAST_IMMEDIATE  psn 101  => dropped.message
                b         completion  none
                a         post  write 0 -> r1+0 imm 5
                a -> b    UC_WRITE_ONLY_IMMEDIATE  psn 102  => accepted
                b         completion  wr 1 success imm 5
                """);
    }

    @Test
    void aRegionWithdrawnBeforeTheImmediateDataEndsASharedReceive() {
        uc().srq().mtu(256).run("""
                b         post  recv wr 1
                a         post  write 300 -> r1+0 imm 4
                a -> b    UC_WRITE_FIRST           psn 100  => accepted
                b         close region r1
                a -> b    UC_WRITE_LAST_IMMEDIATE  psn 101  => dropped.message
                b         completion  wr 1 loc-access-err
                b         state  RTS
                """);
    }

    @Test
    void anEmptyWriteIsNotCheckedForItsKey() {
        uc().run("""
                peer -> b    UC_WRITE_ONLY  psn 100  rkey 0x12345678 va 5 len 0  | 0  => accepted
                """);
    }

    @Test
    void aRefusedMessageCountsForThePsn() {
        uc().mtu(256).run("""
                peer -> b    UC_WRITE_ONLY   psn 100  r1+0 rkey 0x12345678  | 8  => dropped.message
                peer -> b    UC_WRITE_FIRST  psn 101  r1+0 len 264  | 256  => accepted
                peer -> b    UC_WRITE_LAST   psn 102  | 8  => accepted
                """);
    }

    @Test
    void aTypeOneWindowIsWrittenThrough() {
        uc().run("""
                b         window  w1 type 1
                b         post    bind w1 -> r1+100 len 50 access remote-write wr 5 signaled
                b         completion  wr 5 success opcode bind-mw
                peer -> b    UC_WRITE_ONLY  psn 100  w1+0  | 50  => accepted
                peer -> b    UC_WRITE_ONLY  psn 101  w1+1  | 50  => dropped.message
                b         memory  r1+100 len 50 as sent only
                """);
    }

    @Test
    void aTypeTwoWindowIsWrittenThroughItsOwnQueuePairOnly() {
        uc().twoConnections().run("""
                b         window  w1 type 2
                b         post    bind w1 -> r1+100 len 50 access remote-write wr 5 signaled
                b         completion  wr 5 success opcode bind-mw
                peer -> d    UC_WRITE_ONLY  psn 100  w1+0  | 50  => dropped.message
                b         memory  r1+0 unchanged
                peer -> b    UC_WRITE_ONLY  psn 100  w1+0  | 50  => accepted
                """);
    }

    @Test
    void aWindowInvalidatedLocallyIsClosed() {
        uc().run("""
                b         window  w1 type 2
                b         post    bind w1 -> r1+100 len 50 access remote-write wr 5 signaled
                b         completion  wr 5 success
                b         post    invalidate w1 wr 6 signaled
                b         completion  wr 6 success opcode local-inv
                peer -> b    UC_WRITE_ONLY  psn 100  w1+0  | 50  => dropped.message
                """);
    }
}
