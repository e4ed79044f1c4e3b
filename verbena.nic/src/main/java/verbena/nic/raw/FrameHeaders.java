package verbena.nic.raw;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import verbena.verbs.FlowField;
import verbena.verbs.FlowRule;
import verbena.verbs.Gid;
import verbena.wire.BigEndian;
import verbena.wire.roce.Ethernet;

/// The places of the headers of a frame that flows look at. One is used again for every frame; what a frame says of
/// itself is never trusted to be inside it. Engine-confined.
final class FrameHeaders {
    private static final int NONE = -1;
    private static final int TYPE_AT = 12;
    private static final int TYPE_BYTES = 2;
    private static final int IPV4_BYTES = 20;
    private static final int IPV4_FRAGMENT_AT = 6;
    private static final int IPV4_FRAGMENT_MASK = 0x1FFF;
    private static final int IPV4_PROTOCOL_AT = 9;
    private static final int IPV6_BYTES = 40;
    private static final int IPV6_NEXT_HEADER_AT = 6;
    private static final int PROTOCOL_TCP = 6;
    private static final int PROTOCOL_UDP = 17;

    private MemorySegment frame = MemorySegment.NULL;
    private final int[] at = new int[FlowField.Layer.values().length];
    private int end;

    /// Looks at a frame of at least [Ethernet#BYTES].
    void read(MemorySegment memory, int start, int length) {
        frame = memory;
        end = start + length;
        Arrays.fill(at, NONE);
        put(FlowField.Layer.ETHERNET, start);
        int type = start + TYPE_AT;
        if (has(type, TYPE_BYTES + Ethernet.TAG_BYTES) && BigEndian.u16(memory, type) == Ethernet.TYPE_VLAN) {
            put(FlowField.Layer.VLAN, type + TYPE_BYTES);
            type += Ethernet.TAG_BYTES;
        }
        put(FlowField.Layer.TYPE, type);
        int network = type + TYPE_BYTES;
        switch (BigEndian.u16(memory, type)) {
            case Ethernet.TYPE_IPV4 -> readIpv4(network);
            case Ethernet.TYPE_IPV6 -> readIpv6(network);
            default -> {}
        }
    }

    private void readIpv4(int network) {
        if (!has(network, IPV4_BYTES)) {
            return;
        }
        put(FlowField.Layer.IPV4, network);
        boolean isFirst = (BigEndian.u16(frame, network + IPV4_FRAGMENT_AT) & IPV4_FRAGMENT_MASK) == 0;
        int bytes = (BigEndian.u8(frame, network) & 0xF) * Integer.BYTES;
        if (isFirst && bytes >= IPV4_BYTES) {
            readTransport(BigEndian.u8(frame, network + IPV4_PROTOCOL_AT), network + bytes);
        }
    }

    private void readIpv6(int network) {
        if (has(network, IPV6_BYTES)) {
            put(FlowField.Layer.IPV6, network);
            readTransport(BigEndian.u8(frame, network + IPV6_NEXT_HEADER_AT), network + IPV6_BYTES);
        }
    }

    private void readTransport(int protocol, int transport) {
        switch (protocol) {
            case PROTOCOL_TCP -> put(FlowField.Layer.TCP, transport);
            case PROTOCOL_UDP -> put(FlowField.Layer.UDP, transport);
            default -> {}
        }
    }

    private void put(FlowField.Layer layer, int offset) {
        at[layer.ordinal()] = offset;
    }

    private boolean has(int offset, int bytes) {
        return offset + bytes <= end;
    }

    /// Returns whether the frame that was read last fits the rule.
    boolean fits(FlowRule rule) {
        var matches = rule.matches();
        for (int i = 0; i < matches.size(); i++) { // without an iterator: for every frame
            if (!fits(matches.get(i))) {
                return false;
            }
        }
        return true;
    }

    private boolean fits(FlowRule.Match match) {
        FlowField field = match.field();
        int header = at[field.layer().ordinal()];
        int bytes = field.bytes();
        int from = header + field.offset();
        if (header == NONE || !has(from, bytes)) {
            return false;
        }
        int lowBytes = Math.min(bytes, Long.BYTES);
        long low = number(from + bytes - lowBytes, lowBytes);
        long high = number(from, bytes - lowBytes);
        Gid value = match.value();
        Gid mask = match.mask();
        return ((low ^ value.low()) & mask.low()) == 0 && ((high ^ value.high()) & mask.high()) == 0;
    }

    private long number(int from, int bytes) {
        long number = 0;
        for (int i = 0; i < bytes; i++) {
            number = number << Byte.SIZE | BigEndian.u8(frame, from + i);
        }
        return number;
    }
}
