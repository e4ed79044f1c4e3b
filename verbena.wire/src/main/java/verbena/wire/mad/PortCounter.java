package verbena.wire.mad;

import org.jspecify.annotations.Nullable;

/// Counters of a port's performance agent (IBTA 16.1.3.5, 16.1.4.11), with their places in [PortCounters] and
/// [PortCountersExtended].
public enum PortCounter {
    SYMBOL_ERRORS(field(4, 16), 0, null, 0),
    LINK_ERROR_RECOVERIES(field(6, 8), 1, null, 0),
    /// Losses of the link.
    LINK_DOWNED(field(7, 8), 2, null, 0),
    /// Packets with an error: of a CRC, a length, a lane.
    RECEIVE_ERRORS(field(8, 16), 3, null, 0),
    /// Packets that another port has marked as bad.
    RECEIVE_REMOTE_PHYSICAL_ERRORS(field(10, 16), 4, null, 0),
    /// Packets that a switch could not forward: no route, or back to where they came from.
    RECEIVE_SWITCH_RELAY_ERRORS(field(12, 16), 5, null, 0),
    /// Packets that were dropped before they were sent: link down, or too old.
    TRANSMIT_DISCARDS(field(14, 16), 6, null, 0),
    /// Packets that were not sent because of their P_Key, or because they were raw.
    TRANSMIT_CONSTRAINT_ERRORS(field(16, 8), 7, null, 0),
    /// Packets that were dropped on arrival because of their P_Key, or because they were raw.
    RECEIVE_CONSTRAINT_ERRORS(field(17, 8), 8, null, 0),
    LOCAL_LINK_INTEGRITY_ERRORS(field(19, 4), 9, null, 0),
    EXCESSIVE_BUFFER_OVERRUN_ERRORS(new Field(19, 4, 4), 10, null, 0),
    /// Packets of virtual lane 15 that found no room.
    VL15_DROPPED(field(22, 16), 11, null, 0),
    /// Words of four bytes, LRH through ICRC, but not of virtual lane 15.
    TRANSMIT_DATA(field(24, 32), 12, field(8, 64), 0),
    /// The counterpart of [#TRANSMIT_DATA] for received packets.
    RECEIVE_DATA(field(28, 32), 13, field(16, 64), 1),
    TRANSMIT_PACKETS(field(32, 32), 14, field(24, 64), 2),
    RECEIVE_PACKETS(field(36, 32), 15, field(32, 64), 3),
    /// Ticks in which something waited and there was no credit.
    TRANSMIT_WAIT(field(40, 32), 16, null, 0),
    UNICAST_TRANSMIT_PACKETS(null, 0, field(40, 64), 4),
    UNICAST_RECEIVE_PACKETS(null, 0, field(48, 64), 5),
    MULTICAST_TRANSMIT_PACKETS(null, 0, field(56, 64), 6),
    MULTICAST_RECEIVE_PACKETS(null, 0, field(64, 64), 7);

    @SuppressWarnings("ImmutableEnumChecker") // A record of numbers.
    private final @Nullable Field classic;

    private final int classicBit;

    @SuppressWarnings("ImmutableEnumChecker") // A record of numbers.
    private final @Nullable Field extended;

    private final int extendedBit;

    PortCounter(@Nullable Field classic, int classicBit, @Nullable Field extended, int extendedBit) {
        this.classic = classic;
        this.classicBit = classicBit;
        this.extended = extended;
        this.extendedBit = extendedBit;
    }

    private static Field field(int octet, int bits) {
        return Field.of(octet, bits);
    }

    /// Returns the counter's place in [PortCounters]; null when it is not there. It stops at its highest value.
    public @Nullable Field classic() {
        return classic;
    }

    /// Returns the counter's bit of [PortCounters#COUNTER_SELECT]; 16 is the first of
    /// [PortCounters#COUNTER_SELECT_2].
    public int classicBit() {
        return classicBit;
    }

    /// Returns the counter's place in [PortCountersExtended]; null when it is not there.
    public @Nullable Field extended() {
        return extended;
    }

    /// Returns the counter's bit of [PortCountersExtended#COUNTER_SELECT].
    public int extendedBit() {
        return extendedBit;
    }
}
