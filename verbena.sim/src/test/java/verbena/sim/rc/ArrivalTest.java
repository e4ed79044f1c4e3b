package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// The checks that stand before the protocol: shape, ICRC, queue pair, partition, addresses (IBTA 9.6), and what is
/// to be ignored.
class ArrivalTest {
    @Test
    void aPacketOfAnotherPartitionIsDropped() {
        rc().run("""
                peer -> b    WRITE_ONLY  psn 100  r1+0  pkey 0x8001  ackreq  | 8  => dropped.pkey
                nothing
                b         memory  unchanged
                b         counter  dropped.pkey 1
                """);
    }

    @Test
    void aLimitedMemberOfThePartitionIsHeardByAFullOne() {
        rc().run("""
                peer -> b    WRITE_ONLY  psn 100  r1+0  pkey 0x7fff  ackreq  | 8  => accepted
                b -> peer    ACK  psn 100  pkey 0xffff
                """);
    }

    @Test
    void twoLimitedMembersDoNotHearEachOther() {
        rc().run("""
                b         modify  pkey 0x7fff
                peer -> b    WRITE_ONLY  psn 100  r1+0  pkey 0x7fff  | 8  => dropped.pkey
                peer -> b    WRITE_ONLY  psn 100  r1+0  pkey 0xffff  | 8  => accepted
                """);
    }

    /// IBTA 9.6.1.5.
    @Test
    void aPacketFromAnotherAddressIsDropped() {
        rc().run("""
                peer -> b    WRITE_ONLY  psn 100  r1+0  ackreq  | 8  from 10.0.0.99  => dropped.source
                nothing
                b         memory  unchanged
                """);
    }

    @Test
    void anAcknowledgementFromAnotherAddressIsDropped() {
        rc().run("""
                a         post  write 8 -> r1+0  wr 1 signaled
                a -> peer    WRITE_ONLY  psn 100
                peer -> a    ACK  psn 100  from 10.0.0.99  => dropped.source
                a         completion  none
                peer -> a    ACK  psn 100
                a         completion  wr 1 success
                """);
    }

    @Test
    void aPacketForAnotherQueuePairIsDropped() {
        rc().run("""
                peer -> b    WRITE_ONLY  psn 100  qp 0x13  r1+0  ackreq  | 8  => dropped.unknown-qp
                nothing
                """);
    }

    @Test
    void aPacketOfAnotherServiceIsDropped() {
        rc().run("""
                peer -> b    UC_WRITE_ONLY  psn 100  r1+0  | 8  => dropped.wrong-service
                nothing
                b         memory  unchanged
                """);
    }

    @Test
    void aPacketWithABadIcrcIsDropped() {
        rc().run("""
                peer -> b    WRITE_ONLY  psn 100  r1+0  ackreq  | 8  badicrc  => dropped.icrc
                nothing
                b         memory  unchanged
                """);
    }

    @Test
    void anUnknownOpcodeIsDropped() {
        rc().run("""
                peer -> b    opcode 0x1f  psn 100  | 16  => dropped.malformed
                nothing
                """);
    }

    @Test
    void anUnknownVersionIsDropped() {
        // IBTA 9.6.1.1
        rc().run("""
                peer -> b    WRITE_ONLY  psn 100  version 1  r1+0  ackreq  | 8  => dropped.malformed
                nothing
                """);
    }

    @Test
    void aPacketTooShortForItsHeadersIsDropped() {
        rc().run("""
                peer -> b    opcode 0x0a  psn 100  | 12  => dropped.malformed
                peer -> b    bytes 0a00ffff  => dropped.malformed
                nothing
                """);
    }

    @Test
    void aPadThatIsNotThereMakesAPacketMalformed() {
        rc().run("""
                peer -> b    READ_REQUEST  psn 100  r1+0 len 8  pad 1  => dropped.malformed
                peer -> b    WRITE_ONLY    psn 100  r1+0  pad 3  | 8  => dropped.malformed
                nothing
                """);
    }

    @Test
    void theMigrationBitIsIgnored() {
        // Hardware sets it on connected queue pairs.
        rc().run("""
                peer -> b    WRITE_ONLY  psn 100  migrated  r1+0  ackreq  | 8  => accepted
                b -> peer    ACK  psn 100
                """);
    }

    @Test
    void congestionMarksAreIgnored() {
        rc().run("""
                peer -> b    WRITE_ONLY  psn 100  fecn becn  r1+0  ackreq  | 8  => accepted
                b -> peer    ACK  psn 100
                """);
    }

    @Test
    void aResponseWhereNothingWasAskedIsDropped() {
        rc().run("""
                peer -> a    READ_RESPONSE_ONLY  psn 100  | 8  => dropped.ghost-ack
                peer -> a    ATOMIC_ACKNOWLEDGE  psn 99  => duplicate
                nothing
                a         memory  unchanged
                """);
    }

    @Test
    void aSequenceNakOfWhatWasNeverSentIsDropped() {
        rc().run("""
                peer -> a    NAK sequence  psn 100  => dropped.ghost-ack
                peer -> a    NAK access    psn 105  => dropped.ghost-ack
                peer -> a    RNR timer 1   psn 100  => dropped.ghost-ack
                nothing
                a         state  RTS
                """);
    }

    @Test
    void whatWasReceivedIsTheSumOfWhatBecameOfIt() {
        rc().run("""
                peer -> b    WRITE_ONLY  psn 100  r1+0  | 8  => accepted
                peer -> b    WRITE_ONLY  psn 100  r1+0  | 8  => duplicate
                b -> peer    ACK
                peer -> b    WRITE_ONLY  psn 105  r1+0  | 8  => out-of-sequence
                b -> peer    NAK sequence  psn 101
                peer -> b    WRITE_ONLY  psn 101  r1+0  | 8  badicrc  => dropped.icrc
                peer -> b    SEND_ONLY   psn 101  | 8  => receiver-not-ready
                b -> peer    RNR
                b         counter  received.packets 5
                b         counter  accepted 1
                b         counter  duplicate 1
                b         counter  out-of-sequence 1
                b         counter  dropped.icrc 1
                b         counter  receiver-not-ready 1
                b         counter  sent.packets 3
                """);
    }
}
