package verbena.nic.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import verbena.verbs.FlowField;
import verbena.verbs.FlowRule;
import verbena.verbs.Gid;

/// Which frames fit which rules, and that no frame is looked at beyond its end.
class FrameHeadersTest {
    private static final String MACS = "0a0000000002" + "0a0000000001";
    private static final String IPV4 = "0800" + "4500001c" + "00000000" + "40110000" + "c0000201" + "c0000202";
    private static final String UDP_53_TO_4791 = "0035" + "12b7" + "00080000";
    private static final String UDP = MACS + IPV4 + UDP_53_TO_4791;
    private static final String TAGGED = MACS + "8100" + "2005" + IPV4 + UDP_53_TO_4791;
    private static final String IPV6 = MACS + "86dd" + "60012345" + "0008" + "06" + "40"
            + "20010db8000000000000000000000001" + "20010db8000000000000000000000002" + "0035" + "12b7" + "0000";

    private final FrameHeaders headers = new FrameHeaders();

    private boolean fits(String frame, FlowRule rule) {
        byte[] bytes = HexFormat.of().parseHex(frame);
        headers.read(MemorySegment.ofArray(bytes), 0, bytes.length);
        return headers.fits(rule);
    }

    private static FlowRule rule(FlowField field, long value) {
        return FlowRule.everything().with(field, value);
    }

    @Test
    void everyFrameFitsARuleWithoutConditions() {
        assertThat(fits(UDP, FlowRule.everything())).isTrue();
        assertThat(fits(MACS + "88b5", FlowRule.everything())).isTrue();
    }

    @Test
    void everyFieldIsComparedWhereItStands() {
        assertThat(fits(UDP, rule(FlowField.DESTINATION_MAC, 0x0A00_0000_0002L)))
                .isTrue();
        assertThat(fits(UDP, rule(FlowField.SOURCE_MAC, 0x0A00_0000_0001L))).isTrue();
        assertThat(fits(UDP, rule(FlowField.SOURCE_MAC, 0x0A00_0000_0002L))).isFalse();
        assertThat(fits(UDP, rule(FlowField.ETHER_TYPE, 0x0800))).isTrue();
        assertThat(fits(UDP, rule(FlowField.IPV4_SOURCE, 0xC000_0201L))).isTrue();
        assertThat(fits(UDP, rule(FlowField.IPV4_DESTINATION, 0xC000_0202L))).isTrue();
        assertThat(fits(UDP, rule(FlowField.IPV4_PROTOCOL, 17))).isTrue();
        assertThat(fits(UDP, rule(FlowField.IPV4_TIME_TO_LIVE, 64))).isTrue();
        assertThat(fits(UDP, rule(FlowField.UDP_SOURCE_PORT, 53))).isTrue();
        assertThat(fits(UDP, rule(FlowField.UDP_DESTINATION_PORT, 4791))).isTrue();
        assertThat(fits(UDP, rule(FlowField.UDP_DESTINATION_PORT, 4790))).isFalse();
        assertThat(fits(IPV6, rule(FlowField.TCP_DESTINATION_PORT, 4791))).isTrue();
        assertThat(fits(IPV6, rule(FlowField.IPV6_NEXT_HEADER, 6))).isTrue();
        assertThat(fits(IPV6, FlowRule.everything().with(FlowField.IPV6_FLOW, 0x12345, 0xFFFFF)))
                .isTrue();
        Gid two = Gid.parse("2001:db8::2");
        assertThat(fits(IPV6, FlowRule.everything().with(FlowField.IPV6_DESTINATION, two)))
                .isTrue();
        assertThat(fits(IPV6, FlowRule.everything().with(FlowField.IPV6_SOURCE, two)))
                .isFalse();
    }

    @Test
    void aFieldThatAFrameDoesNotHaveFitsNothing() {
        assertThat(fits(UDP, FlowRule.everything().with(FlowField.TCP_SOURCE_PORT, 0, 0)))
                .isFalse();
        assertThat(fits(UDP, FlowRule.everything().with(FlowField.VLAN_TAG, 0, 0)))
                .isFalse();
        assertThat(fits(MACS + "88b5", FlowRule.everything().with(FlowField.IPV4_SOURCE, 0, 0)))
                .isFalse();
    }

    @Test
    void whatStandsBehindATagIsFound() {
        assertThat(fits(TAGGED, FlowRule.everything().with(FlowField.VLAN_TAG, 5, 0xFFF)))
                .isTrue();
        assertThat(fits(TAGGED, rule(FlowField.ETHER_TYPE, 0x0800))).isTrue();
        assertThat(fits(TAGGED, rule(FlowField.UDP_DESTINATION_PORT, 4791))).isTrue();
    }

    @Test
    void laterFragmentsHaveNoPorts() {
        String later = UDP.replace("4500001c" + "00000000", "4500001c" + "00000001");
        assertThat(fits(later, rule(FlowField.IPV4_PROTOCOL, 17))).isTrue();
        assertThat(fits(later, rule(FlowField.UDP_SOURCE_PORT, 53))).isFalse();
    }

    @Test
    void aHeaderThatLiesAboutItsLengthHasNothingBehindIt() {
        String tooShort = UDP.replace("4500001c", "4400001c");
        assertThat(fits(tooShort, rule(FlowField.UDP_SOURCE_PORT, 53))).isFalse();
        String tooLong = UDP.replace("4500001c", "4f00001c");
        assertThat(fits(tooLong, FlowRule.everything().with(FlowField.UDP_SOURCE_PORT, 0, 0)))
                .isFalse();
    }

    /// All fields are looked for in frames that end anywhere, and in frames of chance.
    @Test
    void noFrameIsReadBeyondItsEnd() {
        var random = new Random(5);
        for (String frame : new String[] {UDP, TAGGED, IPV6}) {
            byte[] whole = HexFormat.of().parseHex(frame);
            for (int length = 14; length <= whole.length; length++) {
                byte[] bytes = new byte[length];
                System.arraycopy(whole, 0, bytes, 0, length);
                if (length % 3 == 0) {
                    bytes[14 + random.nextInt(length - 13) - 1] = (byte) random.nextInt();
                }
                assertThatCode(() -> lookForAll(MemorySegment.ofArray(bytes))).doesNotThrowAnyException();
            }
        }
    }

    private void lookForAll(MemorySegment frame) {
        headers.read(frame, 0, (int) frame.byteSize());
        for (FlowField field : FlowField.values()) {
            boolean _ = headers.fits(FlowRule.everything()
                    .with(new FlowRule.Match(field, new Gid(0, 0), new Gid(field.bytes() > 8 ? -1 : 0, 0))));
        }
    }

    @Test
    void valuesThatAFieldCannotHaveAreRefused() {
        assertThatThrownBy(() -> rule(FlowField.ETHER_TYPE, 0x1_0000))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ETHER_TYPE has 16 bits");
        assertThatThrownBy(() -> rule(FlowField.IPV6_SOURCE, 1)).hasMessageContaining("give it as a Gid");
        assertThatThrownBy(() -> FlowRule.everything().with(FlowField.IPV4_SOURCE, Gid.parse("2001:db8::2")))
                .hasMessageContaining("IPV4_SOURCE has 32 bits");
    }
}
