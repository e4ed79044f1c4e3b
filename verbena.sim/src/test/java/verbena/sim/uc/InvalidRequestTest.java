package verbena.sim.uc;

import static verbena.sim.script.PacketScript.uc;

import org.junit.jupiter.api.Test;

/// Packets that no correct peer sends (IBTA 9.8.2.2, table of opcodes 9.2.1).
class InvalidRequestTest {
    @Test
    void aFirstShorterThanThePathMtuIsDropped() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                peer -> b    UC_SEND_FIRST  psn 100  | 252  => dropped.message
                peer -> b    UC_SEND_LAST   psn 101  | 8    => dropped.message
                b         completion  none
                """);
    }

    @Test
    void aMiddleShorterThanThePathMtuBreaksTheMessage() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                peer -> b    UC_SEND_FIRST   psn 100  | 256  => accepted
                peer -> b    UC_SEND_MIDDLE  psn 101  | 128  => dropped.message
                peer -> b    UC_SEND_LAST    psn 102  | 8    => dropped.message
                b         completion  none
                """);
    }

    @Test
    void anOnlyLongerThanThePathMtuIsDropped() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                peer -> b    UC_SEND_ONLY  psn 100  | 260  => dropped.message
                b         completion  none
                """);
    }

    @Test
    void anEmptyLastBreaksTheMessage() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                peer -> b    UC_SEND_FIRST  psn 100  | 256  => accepted
                peer -> b    UC_SEND_LAST   psn 101  | 0    => dropped.message
                b         completion  none
                """);
    }

    @Test
    void aWriteThatEndsTooEarlyIsDropped() {
        uc().mtu(256).run("""
                b         post  recv wr 1
                peer -> b    UC_WRITE_FIRST           psn 100  r1+0 len 600  | 256  => accepted
                peer -> b    UC_WRITE_LAST_IMMEDIATE  psn 101  imm 1  | 256         => dropped.message
                b         completion  none
                """);
    }

    @Test
    void aWriteThatIsLongerThanItSaidIsDropped() {
        uc().mtu(256).run("""
                peer -> b    UC_WRITE_FIRST   psn 100  r1+0 len 300  | 256  => accepted
                peer -> b    UC_WRITE_MIDDLE  psn 101  | 256                => dropped.message
                b         memory  r1+0 len 256 as sent only
                """);
    }

    @Test
    void aWriteOnlyWhoseLengthDiffersFromItsPayloadIsDropped() {
        uc().run("""
                peer -> b    UC_WRITE_ONLY  psn 100  r1+0 len 100  | 8  => dropped.message
                b         memory  unchanged
                """);
    }

    @Test
    void aWriteOfMoreThanTwoGigabytesIsDropped() {
        uc().mtu(256).run("""
                peer -> b    UC_WRITE_FIRST  psn 100  r1+0 len 0x80000001  | 256  => dropped.message
                b         memory  unchanged
                """);
    }

    @Test
    void aPacketOfAnotherServiceIsNotForUs() {
        uc().run("""
                b         post  recv 10 wr 1
                peer -> b    SEND_ONLY  psn 100  | 8             => dropped.wrong-service
                peer -> b    UD_SEND_ONLY  qkey 1 srcqp 5  | 8   => dropped.wrong-service
                peer -> b    ACK  psn 100                        => dropped.wrong-service
                b         completion  none
                nothing ever
                """);
    }

    @Test
    void anOpcodeThatUnreliableConnectionsDoNotHaveIsMalformed() {
        uc().run("""
                peer -> b    opcode 0x2c  psn 100  | 16  => dropped.malformed
                peer -> b    opcode 0x31  psn 100  | 4   => dropped.malformed
                nothing ever
                """);
    }

    @Test
    void anotherPartitionIsNotHeard() {
        uc().run("""
                b         post  recv 10 wr 1
                peer -> b    UC_SEND_ONLY  psn 100  pkey 0x8001  | 8  => dropped.pkey
                b         completion  none
                """);
    }

    @Test
    void aLimitedMemberOfThePartitionIsHeard() {
        uc().run("""
                b         post  recv 10 wr 1
                peer -> b    UC_SEND_ONLY  psn 100  pkey 0x7fff  | 8  => accepted
                b         completion  wr 1 success
                """);
    }

    @Test
    void onlyTheConnectedPeerIsHeard() {
        uc().run("""
                b         post  recv 10 wr 1
                peer -> b    UC_SEND_ONLY  psn 100  | 8 from 10.0.0.9  => dropped.source
                b         completion  none
                """);
    }

    @Test
    void anotherPartitionDoesNotBreakAMessage() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                peer -> b    UC_SEND_FIRST  psn 100  | 256                => accepted
                peer -> b    UC_SEND_ONLY   psn 101  pkey 0x8001  | 8     => dropped.pkey
                peer -> b    UC_SEND_ONLY   psn 101  | 8 from 10.0.0.9    => dropped.source
                peer -> b    UC_SEND_LAST   psn 101  | 44                 => accepted
                b         completion  wr 1 success byte-len 300
                """);
    }
}
