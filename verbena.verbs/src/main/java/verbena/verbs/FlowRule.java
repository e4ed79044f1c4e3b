package verbena.verbs;

import java.util.ArrayList;
import java.util.List;

/// A rule that selects frames for a queue pair of type [QpType#RAW_PACKET] (`struct ibv_flow_attr`,
/// ibv_create_flow(3)). A frame fits when it has every field that the rule names, with the value that it names.
/// Immutable.
///
///     FlowRule.everything().with(FlowField.ETHER_TYPE, 0x0800).with(FlowField.UDP_DESTINATION_PORT, 4791)
///
/// @param matches all of them have to hold; empty for every frame
/// @since 0.1
@Preview
public record FlowRule(List<Match> matches) {
    private static final FlowRule EVERYTHING = new FlowRule(List.of());

    public FlowRule {
        matches = List.copyOf(matches);
    }

    /// One comparison of a rule. Value and mask have the 128 bits of an IPv6 address, the widest field; those of a
    /// narrower field stand in the low bits. The constructor throws [IllegalArgumentException] when value or mask
    /// is wider than the field.
    ///
    /// @param field that is compared
    /// @param value that the field has to have, in the bits of `mask`
    /// @param mask the bits that are compared
    @Preview
    public record Match(FlowField field, Gid value, Gid mask) {
        public Match {
            int bits = field.bytes() * Byte.SIZE;
            long above = bits >= Long.SIZE ? 0 : -1L << bits;
            if (((value.low() | mask.low()) & above) != 0 || (bits <= Long.SIZE && (value.high() | mask.high()) != 0)) {
                throw new IllegalArgumentException("value: " + field + " has " + bits + " bits, got 0x"
                        + Long.toHexString(value.low()) + " with mask 0x" + Long.toHexString(mask.low()));
            }
        }
    }

    /// Returns a rule that every frame fits.
    public static FlowRule everything() {
        return EVERYTHING;
    }

    /// Returns this rule with one more condition: the field has exactly this value.
    ///
    /// @param field any but an IPv6 address
    /// @throws IllegalArgumentException when the field is narrower than the value, or an IPv6 address
    public FlowRule with(FlowField field, long value) {
        int bits = field.bytes() * Byte.SIZE;
        if (bits > Long.SIZE) {
            throw new IllegalArgumentException("field: " + field + " has " + bits + " bits; give it as a Gid");
        }
        return with(field, value, bits == Long.SIZE ? -1L : (1L << bits) - 1);
    }

    /// Returns this rule with one more condition: these bits of the field have this value.
    ///
    /// @param mask the bits that are compared
    /// @throws IllegalArgumentException when the field is narrower than value or mask
    public FlowRule with(FlowField field, long value, long mask) {
        return with(new Match(field, new Gid(0, value), new Gid(0, mask)));
    }

    /// Returns this rule with one more condition: an IPv6 address.
    ///
    /// @throws IllegalArgumentException when the field is narrower
    public FlowRule with(FlowField field, Gid address) {
        return with(new Match(field, address, new Gid(-1L, -1L)));
    }

    /// Returns this rule with one more condition.
    public FlowRule with(Match match) {
        var all = new ArrayList<>(matches);
        all.add(match);
        return new FlowRule(all);
    }
}
