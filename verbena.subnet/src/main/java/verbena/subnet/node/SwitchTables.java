package verbena.subnet.node;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import verbena.wire.mad.LinearForwarding;
import verbena.wire.mad.MulticastForwarding;
import verbena.wire.mad.SwitchInfo;

/// The forwarding tables of a switch: one port for each unicast LID, a set of ports for each multicast LID. Every
/// packet looks its LID up, so the tables are two arrays.
public final class SwitchTables {
    /// Entries of the linear forwarding table: all unicast LIDs.
    public static final int LINEAR_CAP = 0xC000;
    /// Entries of the multicast forwarding table.
    public static final int MULTICAST_CAP = 1024;

    private static final int POSITIONS_OF_64 = 64 / MulticastForwarding.PORTS;

    final MemorySegment info = MemorySegment.ofArray(new byte[SwitchInfo.BYTES]);
    final byte[] linear = new byte[LINEAR_CAP];
    final int positions;
    final short[] multicast;
    private int top;

    SwitchTables(int ports) {
        Arrays.fill(linear, (byte) LinearForwarding.NO_PORT);
        positions = ports / MulticastForwarding.PORTS + 1;
        multicast = new short[MULTICAST_CAP * positions];
        SwitchInfo.LINEAR_FDB_CAP.put(info, LINEAR_CAP);
        SwitchInfo.MULTICAST_FDB_CAP.put(info, MULTICAST_CAP);
        SwitchInfo.LIFE_TIME_VALUE.put(info, 18);
        SwitchInfo.PARTITION_ENFORCEMENT_CAP.put(info, NodePort.PKEYS);
        SwitchInfo.INBOUND_ENFORCEMENT_CAP.put(info, true);
        SwitchInfo.OUTBOUND_ENFORCEMENT_CAP.put(info, true);
    }

    /// Takes over the values that were written into [#info].
    void refresh() {
        top = SwitchInfo.LINEAR_FDB_TOP.getInt(info);
    }

    /// Returns the port by which a unicast LID is forwarded; 0 is the switch itself, and -1 is none.
    public int port(int lid) {
        if (lid <= 0 || lid >= LINEAR_CAP || lid > top) {
            return -1;
        }
        int port = linear[lid] & 0xFF;
        return port == LinearForwarding.NO_PORT ? -1 : port;
    }

    /// Returns the ports by which packets for a multicast LID leave: bit n for port n. For a switch with at most 63
    /// ports.
    public long members(int mlid) {
        int index = mlid - MulticastForwarding.FIRST_LID;
        if (index < 0 || index >= MULTICAST_CAP) {
            return 0;
        }
        long members = 0;
        for (int position = Math.min(positions, POSITIONS_OF_64) - 1; position >= 0; position--) {
            members = members << MulticastForwarding.PORTS | (multicast[index * positions + position] & 0xFFFF);
        }
        return members;
    }
}
