package verbena.foreign.rdma;

import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.verbs.FlowField;
import verbena.verbs.FlowRule;
import verbena.verbs.Gid;

/// A specification of a flow: `struct ibv_flow_spec_eth` and its like. Values, and masks of the same layout behind
/// them, are as on the wire.
public enum FlowSpec {
    ETHERNET(
            VerbsConstants.IBV_FLOW_SPEC_ETH,
            6,
            16,
            List.of(
                    new Part(0, FlowField.DESTINATION_MAC),
                    new Part(6, FlowField.SOURCE_MAC),
                    new Part(12, FlowField.ETHER_TYPE),
                    new Part(14, FlowField.VLAN_TAG))),
    IPV4(
            VerbsConstants.IBV_FLOW_SPEC_IPV4,
            8,
            8,
            List.of(new Part(0, FlowField.IPV4_SOURCE), new Part(4, FlowField.IPV4_DESTINATION))),
    IPV4_EXTENDED(
            VerbsConstants.IBV_FLOW_SPEC_IPV4_EXT,
            8,
            12,
            List.of(
                    new Part(0, FlowField.IPV4_SOURCE),
                    new Part(4, FlowField.IPV4_DESTINATION),
                    new Part(8, FlowField.IPV4_PROTOCOL),
                    new Part(9, FlowField.IPV4_TYPE_OF_SERVICE),
                    new Part(10, FlowField.IPV4_TIME_TO_LIVE),
                    new Part(11, null))),
    IPV6(
            VerbsConstants.IBV_FLOW_SPEC_IPV6,
            8,
            40,
            List.of(
                    new Part(0, FlowField.IPV6_SOURCE),
                    new Part(16, FlowField.IPV6_DESTINATION),
                    new Part(32, FlowField.IPV6_FLOW),
                    new Part(36, FlowField.IPV6_NEXT_HEADER),
                    new Part(37, null), // the traffic class
                    new Part(38, FlowField.IPV6_HOP_LIMIT))),
    TCP(
            VerbsConstants.IBV_FLOW_SPEC_TCP,
            6,
            4,
            List.of(new Part(0, FlowField.TCP_DESTINATION_PORT), new Part(2, FlowField.TCP_SOURCE_PORT))),
    UDP(
            VerbsConstants.IBV_FLOW_SPEC_UDP,
            6,
            4,
            List.of(new Part(0, FlowField.UDP_DESTINATION_PORT), new Part(2, FlowField.UDP_SOURCE_PORT)));

    /// A field of the values.
    ///
    /// @param field what it is compared with; null for a byte that no rule compares
    private record Part(int at, @Nullable FlowField field) {}

    private final int code;
    private final int valueAt;
    private final int valueBytes;

    @SuppressWarnings("ImmutableEnumChecker") // a list that nothing changes
    private final List<Part> parts;

    FlowSpec(int code, int valueAt, int valueBytes, List<Part> parts) {
        this.code = code;
        this.valueAt = valueAt;
        this.valueBytes = valueBytes;
        this.parts = parts;
    }

    /// Returns the kind of a number; null when it is none of these.
    public static @Nullable FlowSpec ofCode(int code) {
        for (FlowSpec each : values()) {
            if (each.code == code) {
                return each;
            }
        }
        return null;
    }

    /// Returns the size of its struct, whose alignment is 4.
    public int bytes() {
        return valueAt + 2 * valueBytes + Integer.BYTES - 1 & -Integer.BYTES;
    }

    /// Returns the rule with what a specification at an address adds; null when it compares what no rule can.
    public @Nullable FlowRule read(long from, FlowRule rule) {
        FlowRule now = rule;
        for (Part part : parts) {
            long value = from + valueAt + part.at;
            long mask = value + valueBytes;
            FlowField field = part.field;
            if (field == null) {
                if (Memory.getUnsignedByte(mask) != 0) {
                    return null;
                }
                continue;
            }
            int low = Math.min(field.bytes(), Long.BYTES);
            int high = field.bytes() - low;
            var compared = new Gid(number(mask, high), number(mask + high, low));
            if ((compared.high() | compared.low()) != 0) {
                var wanted = new Gid(number(value, high), number(value + high, low));
                now = now.with(new FlowRule.Match(field, wanted, compared));
            }
        }
        return now;
    }

    /// Writes the specification of what a rule compares of this kind; returns how many bytes that took, 0 when it
    /// compares nothing of it.
    ///
    /// @param into zeroed memory
    public int write(FlowRule rule, long into) {
        boolean isNamed = false;
        for (FlowRule.Match match : rule.matches()) {
            for (Part part : parts) {
                if (part.field == match.field()) {
                    put(match, into + valueAt + part.at);
                    isNamed = true;
                }
            }
        }
        if (!isNamed) {
            return 0;
        }
        Memory.putInt(into, code);
        Memory.putShort(into + Integer.BYTES, bytes());
        return bytes();
    }

    private void put(FlowRule.Match match, long value) {
        int low = Math.min(match.field().bytes(), Long.BYTES);
        int high = match.field().bytes() - low;
        Gid mask = match.mask();
        add(value, high, match.value().high() & mask.high());
        add(value + high, low, match.value().low() & mask.low());
        add(value + valueBytes, high, mask.high());
        add(value + valueBytes + high, low, mask.low());
    }

    /// Sets the bits of a number, the first byte being the highest.
    private static void add(long at, int bytes, long number) {
        for (int i = 0; i < bytes; i++) {
            long byteAt = at + bytes - 1 - i;
            Memory.putByte(byteAt, Memory.getUnsignedByte(byteAt) | ((int) (number >>> (i * Byte.SIZE)) & 0xFF));
        }
    }

    private static long number(long from, int bytes) {
        long number = 0;
        for (int i = 0; i < bytes; i++) {
            number = number << Byte.SIZE | Memory.getUnsignedByte(from + i);
        }
        return number;
    }
}
