package verbena.subnet.manager;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import verbena.wire.mad.NodeInfo;
import verbena.wire.mad.PortInfo;

/// A node that a sweep has found.
public final class SubnetNode {
    private final long guid;
    private final MemorySegment info;
    private final Map<Integer, SubnetPort> ports = new TreeMap<>();
    private final byte[] path;
    private String description = "";

    /// @param path ports by which the manager has reached it first
    SubnetNode(MemorySegment nodeInfo, byte[] path) {
        info = MemorySegment.ofArray(new byte[NodeInfo.BYTES]).copyFrom(nodeInfo.asSlice(0, NodeInfo.BYTES));
        guid = NodeInfo.NODE_GUID.get(info);
        this.path = path.clone();
    }

    public long guid() {
        return guid;
    }

    public boolean isSwitch() {
        return NodeInfo.NODE_TYPE.getInt(info) == NodeInfo.SWITCH;
    }

    /// Returns the number of external ports of the node, whether they were found or not.
    public int portCount() {
        return NodeInfo.NUM_PORTS.getInt(info);
    }

    /// Returns the node's name.
    public String description() {
        return description;
    }

    void describe(String text) {
        description = text;
    }

    /// Returns the node's [NodeInfo]; port GUID and number are those of the port that was found first.
    public MemorySegment info() {
        return info.asReadOnly();
    }

    /// Returns the ports that were found, by number: all of a switch; for an adapter, those with a link.
    public Map<Integer, SubnetPort> ports() {
        return ports;
    }

    /// Returns a port that was found, or null.
    public @Nullable SubnetPort port(int number) {
        return ports.get(number);
    }

    /// Returns the directed route by which the manager has reached the node.
    public byte[] path() {
        return path.clone();
    }

    @Override
    public String toString() {
        return description + " " + Long.toHexString(guid) + " by " + Arrays.toString(path);
    }

    /// A port that a sweep has found.
    public static final class SubnetPort {
        private final SubnetNode node;
        private final int number;
        private final long guid;
        private final byte[] path;
        private final MemorySegment info = MemorySegment.ofArray(new byte[PortInfo.BYTES]);
        private @Nullable SubnetPort peer;
        private int lid;

        SubnetPort(SubnetNode node, int number, long guid, byte[] path) {
            this.node = node;
            this.number = number;
            this.guid = guid;
            this.path = path.clone();
        }

        public SubnetNode node() {
            return node;
        }

        public int number() {
            return number;
        }

        /// Returns the GUID of the port; for an external port of a switch, that of its port 0.
        public long guid() {
            return guid;
        }

        byte[] path() {
            return path;
        }

        MemorySegment info() {
            return info;
        }

        /// Returns a field of the port's [PortInfo], as the sweep has found it or the manager has set it.
        public int get(verbena.wire.mad.Field field) {
            return field.getInt(info);
        }

        /// Returns the port at the other end, or null.
        public @Nullable SubnetPort peer() {
            return peer;
        }

        void join(SubnetPort other) {
            peer = other;
            other.peer = this;
        }

        /// Returns the first of the port's LIDs; 0 when it has none of its own.
        public int lid() {
            return lid;
        }

        void lid(int assigned) {
            lid = assigned;
        }

        /// Returns whether the port can have a LID: port 0 of a switch, any port of an adapter.
        public boolean isEndPort() {
            return number == 0 || !node.isSwitch();
        }

        @Override
        public String toString() {
            return node.description() + ":" + number;
        }
    }
}
