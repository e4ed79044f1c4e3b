package verbena.subnet.node;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import verbena.subnet.topology.LinkSpeed;
import verbena.wire.mad.Field;
import verbena.wire.mad.PkeyTable;
import verbena.wire.mad.PortCounter;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.VlArbitration;

/// A port of a [Node], with its tables and counters. What packets need of it is kept in fields, so that reading
/// it costs no more than that. The node's owner confines it to one thread at a time.
public final class NodePort {
    /// Entries of the P_Key table.
    public static final int PKEYS = 128;
    /// Entries of the GUID table.
    public static final int GUIDS = 8;
    /// Service levels.
    public static final int SERVICE_LEVELS = 16;
    /// Entries of each table of the arbitration between lanes.
    public static final int ARBITRATION_ENTRIES = 2 * VlArbitration.ENTRIES;

    private final int number;
    private final long guid;
    private final int tables;
    /// [PortInfo], as the standard lays it out.
    final MemorySegment info = MemorySegment.ofArray(new byte[PortInfo.BYTES]);
    final short[] pkeys = new short[PKEYS];
    final long[] guids = new long[GUIDS];
    /// Lanes by port of arrival and service level.
    final byte[] lanes;
    /// Lane and weight by block and entry, as [VlArbitration] has them.
    final byte[][] arbitration = new byte[4][2 * VlArbitration.ENTRIES];

    private final long[] counts = new long[PortCounter.values().length];
    private final long[] classicBase = new long[PortCounter.values().length];
    private int state;
    private int lid;
    private int lmc;
    private int mtuBytes;
    private int lanesOperational;
    private boolean enforcesInbound;
    private boolean enforcesOutbound;
    private int pkeysUsed;
    private int changes;
    private int reregistrations;

    /// @param portsIn how many ports of arrival have a table of lanes
    NodePort(NodeSpec spec, int number, long guid, int portsIn) {
        this.number = number;
        this.guid = guid;
        tables = portsIn;
        guids[0] = guid;
        lanes = new byte[portsIn * SERVICE_LEVELS];
        boolean external = number > 0;
        put(PortInfo.GID_PREFIX, 0xFE80_0000_0000_0000L);
        put(
                PortInfo.CAPABILITY_MASK,
                PortInfo.IS_TRAP_SUPPORTED
                        | PortInfo.IS_SL_MAPPING_SUPPORTED
                        | PortInfo.IS_CM_SUPPORTED
                        | PortInfo.IS_CLIENT_REREGISTRATION
                        | (spec.extendedSpeeds() != 0 ? PortInfo.IS_EXTENDED_SPEEDS : 0));
        put(PortInfo.LINK_WIDTH_SUPPORTED, spec.widths());
        put(PortInfo.LINK_WIDTH_ENABLED, spec.widths());
        put(PortInfo.LINK_SPEED_SUPPORTED, spec.speeds());
        put(PortInfo.LINK_SPEED_ENABLED, spec.speeds());
        put(PortInfo.LINK_SPEED_EXT_SUPPORTED, spec.extendedSpeeds());
        put(PortInfo.LINK_SPEED_EXT_ENABLED, spec.extendedSpeeds());
        put(PortInfo.PHYSICAL_STATE, external ? PortInfo.PHYSICAL_POLLING : PortInfo.PHYSICAL_LINK_UP);
        put(PortInfo.LINK_DOWN_DEFAULT_STATE, PortInfo.PHYSICAL_POLLING);
        // The port of a switch that only management uses is always there (IBTA 18.2.4.1).
        put(PortInfo.PORT_STATE, external ? PortInfo.DOWN : PortInfo.ACTIVE);
        put(PortInfo.NEIGHBOR_MTU, 1);
        put(PortInfo.MTU_CAP, spec.mtuCap());
        put(PortInfo.VL_CAP, spec.vlCap());
        put(PortInfo.OPERATIONAL_VLS, spec.vlCap());
        put(PortInfo.VL_ARB_HIGH_CAP, 2 * VlArbitration.ENTRIES);
        put(PortInfo.VL_ARB_LOW_CAP, 2 * VlArbitration.ENTRIES);
        put(PortInfo.GUID_CAP, GUIDS);
        put(PortInfo.SUBNET_TIMEOUT, 18);
        put(PortInfo.RESP_TIME_VALUE, 16);
        put(PortInfo.LOCAL_PHY_ERRORS, 8);
        put(PortInfo.OVERRUN_ERRORS, 8);
        pkeys[0] = (short) (PkeyTable.FULL_MEMBER | 0x7FFF);
        refresh();
        for (int i = 0; i < lanes.length; i++) {
            lanes[i] = (byte) (i % SERVICE_LEVELS % lanesOperational);
        }
        for (int lane = 0; lane < lanesOperational; lane++) {
            arbitration[VlArbitration.LOW - 1][2 * lane] = (byte) lane;
            arbitration[VlArbitration.LOW - 1][2 * lane + 1] = 64;
        }
    }

    long get(Field field) {
        return field.get(info);
    }

    int getInt(Field field) {
        return field.getInt(info);
    }

    void put(Field field, long value) {
        field.put(info, value);
    }

    /// Takes over the values that were written into [#info].
    void refresh() {
        state = getInt(PortInfo.PORT_STATE);
        lid = getInt(PortInfo.LID);
        lmc = getInt(PortInfo.LMC);
        mtuBytes = 128 << getInt(PortInfo.NEIGHBOR_MTU);
        lanesOperational = lanesOf(getInt(PortInfo.OPERATIONAL_VLS));
        enforcesInbound = getInt(PortInfo.PARTITION_ENFORCEMENT_INBOUND) != 0;
        enforcesOutbound = getInt(PortInfo.PARTITION_ENFORCEMENT_OUTBOUND) != 0;
        refreshPkeys();
        changes++;
    }

    /// Takes over the keys that were written into [#pkeys].
    void refreshPkeys() {
        pkeysUsed = PKEYS;
        while (pkeysUsed > 0 && pkeys[pkeysUsed - 1] == 0) {
            pkeysUsed--;
        }
        changes++;
    }

    private static int lanesOf(int code) {
        return code == 5 ? 15 : 1 << Math.max(0, code - 1);
    }

    public int number() {
        return number;
    }

    public long guid() {
        return guid;
    }

    /// Returns a copy of the port's [PortInfo].
    public MemorySegment info() {
        return MemorySegment.ofArray(new byte[PortInfo.BYTES]).copyFrom(info);
    }

    /// Returns the state: [PortInfo#DOWN] to [PortInfo#ACTIVE].
    public int state() {
        return state;
    }

    /// Returns the physical state: [PortInfo#PHYSICAL_POLLING], [PortInfo#PHYSICAL_LINK_UP] …
    public int physicalState() {
        return getInt(PortInfo.PHYSICAL_STATE);
    }

    /// Returns the width and speed of the last link.
    public LinkSpeed speed() {
        return new LinkSpeed(
                getInt(PortInfo.LINK_WIDTH_ACTIVE),
                getInt(PortInfo.LINK_SPEED_ACTIVE),
                getInt(PortInfo.LINK_SPEED_EXT_ACTIVE));
    }

    /// Returns the first of the port's LIDs; 0 before it has a LID.
    public int lid() {
        return lid;
    }

    /// Returns the LMC: the port has two to this many LIDs.
    public int lmc() {
        return lmc;
    }

    /// Returns whether a unicast LID is the port's own.
    public boolean hasLid(int candidate) {
        return lid != 0 && candidate >>> lmc == lid >>> lmc;
    }

    /// Returns the LID of the subnet manager; 0 before there is a manager.
    public int masterSmLid() {
        return getInt(PortInfo.MASTER_SM_LID);
    }

    /// Returns the service level of packets for the subnet manager.
    public int masterSmServiceLevel() {
        return getInt(PortInfo.MASTER_SM_SL);
    }

    /// Returns the most bytes of payload that the link carries in a packet.
    public int mtuBytes() {
        return mtuBytes;
    }

    /// Returns the number of data lanes in use, 1 to 15.
    public int lanes() {
        return lanesOperational;
    }

    /// Returns the lane of a packet that leaves here; 15 drops it.
    ///
    /// @param portIn the port of its arrival; 0 when it is the node's own
    public int lane(int portIn, int serviceLevel) {
        return lanes[(tables == 1 ? 0 : portIn) * SERVICE_LEVELS + serviceLevel];
    }

    /// Returns the lane of an entry of [VlArbitration]'s tables.
    ///
    /// @param index 0 to 63
    public int arbitrationLane(boolean high, int index) {
        return arbitration[block(high, index)][2 * (index % VlArbitration.ENTRIES)];
    }

    /// Returns the weight of an entry of [VlArbitration]'s tables, in units of 64 bytes.
    ///
    /// @param index 0 to 63
    public int arbitrationWeight(boolean high, int index) {
        return arbitration[block(high, index)][2 * (index % VlArbitration.ENTRIES) + 1] & 0xFF;
    }

    /// Returns how much of high priority may pass before a packet of low priority does, in units of 4096 bytes;
    /// 255: any.
    public int highLimit() {
        return getInt(PortInfo.VL_HIGH_LIMIT);
    }

    /// Returns a number that changes when [#info] or the tables of the arbitration may have changed.
    public int changes() {
        return changes;
    }

    void onArbitrationChange() {
        changes++;
    }

    /// Returns how often a manager has asked the clients of this port to register again.
    public int reregistrations() {
        return reregistrations;
    }

    void onReregister() {
        reregistrations++;
    }

    private static int block(boolean high, int index) {
        return (high ? VlArbitration.HIGH : VlArbitration.LOW) - 1 + index / VlArbitration.ENTRIES;
    }

    /// Returns an entry of the P_Key table; 0 is none.
    ///
    /// @param index 0 to [#PKEYS] - 1
    public int pkey(int index) {
        return pkeys[index] & 0xFFFF;
    }

    /// Returns whether packets with this P_Key are for this port: an entry has the same lower 15 bits, and the
    /// packet's P_Key or the entry is a full member's (IBTA 10.9.3).
    public boolean hasPkey(int candidate) {
        if ((candidate & 0x7FFF) == 0) {
            return false;
        }
        for (int i = 0; i < pkeysUsed; i++) {
            int own = pkeys[i];
            if (((own ^ candidate) & 0x7FFF) == 0 && ((own | candidate) & PkeyTable.FULL_MEMBER) != 0) {
                return true;
            }
        }
        return false;
    }

    /// Returns whether the table has this P_Key, with which the port may then send.
    public boolean ownsPkey(int pkey) {
        for (int i = 0; i < pkeysUsed; i++) {
            if ((pkeys[i] & 0xFFFF) == pkey) {
                return (pkey & 0x7FFF) != 0;
            }
        }
        return false;
    }

    /// Returns whether a switch drops packets with a wrong P_Key when they arrive here.
    public boolean enforcesInbound() {
        return enforcesInbound;
    }

    /// Returns whether a switch drops packets with a wrong P_Key that would leave here.
    public boolean enforcesOutbound() {
        return enforcesOutbound;
    }

    /// Counts.
    public void count(PortCounter counter, long more) {
        counts[counter.ordinal()] += more;
    }

    /// Counts a data packet that leaves.
    ///
    /// @param words of four bytes
    public void countSent(int words, boolean isMulticast) {
        count(PortCounter.TRANSMIT_DATA, words);
        count(PortCounter.TRANSMIT_PACKETS, 1);
        count(isMulticast ? PortCounter.MULTICAST_TRANSMIT_PACKETS : PortCounter.UNICAST_TRANSMIT_PACKETS, 1);
    }

    /// Counts a data packet that has arrived.
    ///
    /// @param words of four bytes
    public void countReceived(int words, boolean isMulticast) {
        count(PortCounter.RECEIVE_DATA, words);
        count(PortCounter.RECEIVE_PACKETS, 1);
        count(isMulticast ? PortCounter.MULTICAST_RECEIVE_PACKETS : PortCounter.UNICAST_RECEIVE_PACKETS, 1);
    }

    /// Returns the count since the start, or since the extended counter was set.
    public long count(PortCounter counter) {
        return counts[counter.ordinal()];
    }

    /// Returns the count since the counter of [verbena.wire.mad.PortCounters] was set.
    long classicCount(PortCounter counter) {
        return counts[counter.ordinal()] - classicBase[counter.ordinal()];
    }

    void setClassicCount(PortCounter counter, long value) {
        classicBase[counter.ordinal()] = counts[counter.ordinal()] - value;
    }

    void setCount(PortCounter counter, long value) {
        classicBase[counter.ordinal()] += value - counts[counter.ordinal()];
        counts[counter.ordinal()] = value;
    }

    /// Adds to a 16-bit field of [#info] that stops at its highest value.
    void countViolation(Field field) {
        put(field, Math.min(0xFFFF, get(field) + 1));
    }

    @Override
    public String toString() {
        return "port " + number + " lid " + lid + " state " + state + " " + Arrays.toString(counts);
    }
}
