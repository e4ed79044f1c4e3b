package verbena.wire.ib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// IBTA 9.2.1, tables 35 and 38.
class OpcodeTest {
    @Test
    void theTableOfConnectedAndDatagramOpcodesIsTheStandards() {
        assertThat(table(Transport.RC, Transport.UC, Transport.UD, Transport.CNP))
                .isEqualTo("""
                00 RC_SEND_FIRST               12 bytes  payload FULL_MTU    first
                01 RC_SEND_MIDDLE              12 bytes  payload FULL_MTU
                02 RC_SEND_LAST                12 bytes  payload ONE_TO_MTU  last
                03 RC_SEND_LAST_IMMEDIATE      16 bytes  payload ONE_TO_MTU  last  IMM_DT@12
                04 RC_SEND_ONLY                12 bytes  payload ZERO_TO_MTU  first last
                05 RC_SEND_ONLY_IMMEDIATE      16 bytes  payload ZERO_TO_MTU  first last  IMM_DT@12
                06 RC_WRITE_FIRST              28 bytes  payload FULL_MTU    first  RETH@12
                07 RC_WRITE_MIDDLE             12 bytes  payload FULL_MTU
                08 RC_WRITE_LAST               12 bytes  payload ONE_TO_MTU  last
                09 RC_WRITE_LAST_IMMEDIATE     16 bytes  payload ONE_TO_MTU  last  IMM_DT@12
                0a RC_WRITE_ONLY               28 bytes  payload ZERO_TO_MTU  first last  RETH@12
                0b RC_WRITE_ONLY_IMMEDIATE     32 bytes  payload ZERO_TO_MTU  first last  RETH@12 IMM_DT@28
                0c RC_READ_REQUEST             28 bytes  payload NONE        first last  RETH@12
                0d RC_READ_RESPONSE_FIRST      16 bytes  payload FULL_MTU    response first  AETH@12
                0e RC_READ_RESPONSE_MIDDLE     12 bytes  payload FULL_MTU    response
                0f RC_READ_RESPONSE_LAST       16 bytes  payload ONE_TO_MTU  response last  AETH@12
                10 RC_READ_RESPONSE_ONLY       16 bytes  payload ZERO_TO_MTU  response first last  AETH@12
                11 RC_ACKNOWLEDGE              16 bytes  payload NONE        response first last  AETH@12
                12 RC_ATOMIC_ACKNOWLEDGE       24 bytes  payload NONE        response first last  AETH@12 ATOMIC_ACK_ETH@16
                13 RC_COMPARE_SWAP             40 bytes  payload NONE        first last  ATOMIC_ETH@12
                14 RC_FETCH_ADD                40 bytes  payload NONE        first last  ATOMIC_ETH@12
                16 RC_SEND_LAST_INVALIDATE     16 bytes  payload ONE_TO_MTU  last  IETH@12
                17 RC_SEND_ONLY_INVALIDATE     16 bytes  payload ZERO_TO_MTU  first last  IETH@12
                1c RC_FLUSH                    32 bytes  payload NONE        first last  FETH@12 RETH@16
                1d RC_ATOMIC_WRITE             28 bytes  payload EIGHT       first last  RETH@12
                20 UC_SEND_FIRST               12 bytes  payload FULL_MTU    first
                21 UC_SEND_MIDDLE              12 bytes  payload FULL_MTU
                22 UC_SEND_LAST                12 bytes  payload ONE_TO_MTU  last
                23 UC_SEND_LAST_IMMEDIATE      16 bytes  payload ONE_TO_MTU  last  IMM_DT@12
                24 UC_SEND_ONLY                12 bytes  payload ZERO_TO_MTU  first last
                25 UC_SEND_ONLY_IMMEDIATE      16 bytes  payload ZERO_TO_MTU  first last  IMM_DT@12
                26 UC_WRITE_FIRST              28 bytes  payload FULL_MTU    first  RETH@12
                27 UC_WRITE_MIDDLE             12 bytes  payload FULL_MTU
                28 UC_WRITE_LAST               12 bytes  payload ONE_TO_MTU  last
                29 UC_WRITE_LAST_IMMEDIATE     16 bytes  payload ONE_TO_MTU  last  IMM_DT@12
                2a UC_WRITE_ONLY               28 bytes  payload ZERO_TO_MTU  first last  RETH@12
                2b UC_WRITE_ONLY_IMMEDIATE     32 bytes  payload ZERO_TO_MTU  first last  RETH@12 IMM_DT@28
                64 UD_SEND_ONLY                20 bytes  payload ZERO_TO_MTU  first last  DETH@12
                65 UD_SEND_ONLY_IMMEDIATE      24 bytes  payload ZERO_TO_MTU  first last  DETH@12 IMM_DT@20
                81 CNP                         12 bytes  payload SIXTEEN     first last
                """);
    }

    @Test
    void everyOtherTransportAddsItsHeadersToThoseOfTheOperation() {
        assertThat(Opcode.RD_WRITE_ONLY_IMMEDIATE.headers())
                .containsExactly(Header.BTH, Header.RDETH, Header.DETH, Header.RETH, Header.IMM_DT);
        assertThat(Opcode.RD_ATOMIC_ACKNOWLEDGE.headers())
                .containsExactly(Header.BTH, Header.RDETH, Header.AETH, Header.ATOMIC_ACK_ETH);
        assertThat(Opcode.XRC_WRITE_FIRST.headers()).containsExactly(Header.BTH, Header.XRCETH, Header.RETH);
        assertThat(Opcode.XRC_ACKNOWLEDGE.headers()).containsExactly(Header.BTH, Header.AETH);
    }

    @Test
    void aSelectiveAcknowledgementIsTheManufacturers() {
        assertThat(Opcode.SELECTIVE_ACK.code()).isEqualTo(0xD1);
        assertThat(Opcode.SELECTIVE_ACK.headers()).containsExactly(Header.BTH, Header.AETH);
        assertThat(Opcode.SELECTIVE_ACK.payload()).isEqualTo(Payload.SIXTEEN);
        assertThat(Opcode.SELECTIVE_ACK.isResponse()).isTrue();
        assertThat(Transport.RC.takes(Opcode.SELECTIVE_ACK)).isTrue();
        assertThat(Transport.XRC.takes(Opcode.SELECTIVE_ACK)).isTrue();
        assertThat(Transport.UC.takes(Opcode.SELECTIVE_ACK)).isFalse();
    }

    @Test
    void everyNumberFindsItsOpcodeOrNone() {
        int defined = 0;
        for (int code = 0; code < 256; code++) {
            Opcode opcode = Opcode.of(code);
            if (opcode != null) {
                assertThat(opcode.code()).isEqualTo(code);
                defined++;
            }
        }
        assertThat(defined).isEqualTo(Opcode.values().length);
        assertThat(Opcode.of(0x15)).isNull();
        assertThat(Opcode.of(0x2C)).as("UC has no READ").isNull();
        assertThat(Opcode.of(0x80)).isNull();
    }

    @Test
    void theTraitsAgreeWithTheNames() {
        for (Opcode opcode : Opcode.values()) {
            String name = opcode.name();
            assertThat(opcode.isSend()).as(name).isEqualTo(name.contains("_SEND_"));
            assertThat(opcode.isWrite()).as(name).isEqualTo(name.contains("_WRITE_"));
            assertThat(opcode.isReadResponse()).as(name).isEqualTo(name.contains("_READ_RESPONSE"));
            assertThat(opcode.isRead()).as(name).isEqualTo(name.endsWith("READ_REQUEST"));
            assertThat(opcode.hasImmediate()).as(name).isEqualTo(name.endsWith("IMMEDIATE"));
            assertThat(opcode.hasInvalidate()).as(name).isEqualTo(name.endsWith("INVALIDATE"));
            assertThat(opcode.isAtomicWrite()).as(name).isEqualTo(name.endsWith("ATOMIC_WRITE"));
            assertThat(opcode.isAtomic())
                    .as(name)
                    .isEqualTo(name.endsWith("COMPARE_SWAP") || name.endsWith("FETCH_ADD"));
            assertThat(opcode.isRequest()).as(name).isEqualTo(!opcode.isResponse() && opcode != Opcode.CNP);
            boolean inside = name.contains("_MIDDLE");
            assertThat(opcode.startsMessage()).as(name).isEqualTo(!inside && !name.contains("_LAST"));
            assertThat(opcode.endsMessage()).as(name).isEqualTo(!inside && !name.contains("_FIRST"));
        }
    }

    @Test
    void anOperationIsFoundOnItsTransportOnly() {
        assertThat(Opcode.of(Transport.UC, Operation.WRITE_FIRST)).isEqualTo(Opcode.UC_WRITE_FIRST);
        assertThatThrownBy(() -> Opcode.of(Transport.UD, Operation.WRITE_FIRST))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("UD has no WRITE_FIRST");
        assertThatThrownBy(() -> Opcode.of(Transport.RC, Operation.CONGESTION_NOTIFICATION))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void thePayloadRuleKnowsTheMtu() {
        assertThat(Payload.FULL_MTU.allows(1024, 1024)).isTrue();
        assertThat(Payload.FULL_MTU.allows(512, 1024)).isFalse();
        assertThat(Payload.FULL_MTU.allows(1024)).isTrue();
        assertThat(Payload.FULL_MTU.allows(1000)).isFalse();
        assertThat(Payload.ONE_TO_MTU.allows(0, 1024)).isFalse();
        assertThat(Payload.ONE_TO_MTU.allows(1, 1024)).isTrue();
        assertThat(Payload.ONE_TO_MTU.allows(1025, 1024)).isFalse();
        assertThat(Payload.ZERO_TO_MTU.allows(0, 256)).isTrue();
        assertThat(Payload.EIGHT.allows(8, 256)).isTrue();
        assertThat(Payload.EIGHT.allows(7, 256)).isFalse();
        assertThat(Payload.NONE.allows(4, 256)).isFalse();
    }

    private static String table(Transport... transports) {
        return Stream.of(transports)
                .flatMap(transport -> Stream.of(Opcode.values()).filter(o -> o.transport() == transport))
                .map(OpcodeTest::line)
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private static String line(Opcode o) {
        String headers = o.headers().stream()
                .filter(header -> header != Header.BTH)
                .map(header -> header + "@" + o.offset(header))
                .collect(Collectors.joining(" "));
        String traits = Stream.of(
                        o.isResponse() ? "response" : "",
                        o.startsMessage() ? "first" : "",
                        o.endsMessage() ? "last" : "")
                .filter(trait -> !trait.isEmpty())
                .collect(Collectors.joining(" "));
        return "%02x %-27s %2d bytes  payload %-10s  %s  %s"
                .formatted(o.code(), o, o.headerBytes(), o.payload(), traits, headers)
                .strip();
    }
}
