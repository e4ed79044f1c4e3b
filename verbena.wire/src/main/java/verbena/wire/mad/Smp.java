package verbena.wire.mad;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// A subnet management packet (IBTA 14.2.1): the management datagram that queue pair 0 sends and receives. Its class
/// decides how it is routed: by LID ([Mad#CLASS_SUBNET_LID]), or by a list of ports ([Mad#CLASS_SUBNET_DIRECTED]).
public final class Smp {
    /// The queue pair that subnet management packets come from and go to.
    public static final int QPN = 0;
    /// Most links that a directed route has.
    public static final int HOPS_MAX = 63;
    /// The LID of a packet that is routed by ports: the permissive LID.
    public static final int PERMISSIVE_LID = 0xFFFF;
    /// Size of the attribute, in bytes.
    public static final int DATA_BYTES = 64;

    /// Management key of the packet.
    public static final Field M_KEY = Field.of(24, 64);
    /// The direction of a directed route: set in the answer.
    public static final Field DIRECTION = new Field(4, 0, 1);
    /// Status of a packet by directed route.
    public static final Field DIRECTED_STATUS = new Field(4, 1, 15);
    /// The index of the next entry of the paths.
    public static final Field HOP_POINTER = Field.of(6, 8);
    /// The number of entries of the directed route.
    public static final Field HOP_COUNT = Field.of(7, 8);
    /// LID where the directed route begins; permissive when that is the requester.
    public static final Field DIRECTED_SLID = Field.of(32, 16);
    /// LID that follows the directed route; permissive when the route ends at the target.
    public static final Field DIRECTED_DLID = Field.of(34, 16);

    private static final int DATA = 64;
    private static final int INITIAL_PATH = 128;
    private static final int RETURN_PATH = 192;

    private Smp() {}

    /// Returns the attribute.
    public static MemorySegment data(MemorySegment mad) {
        return mad.asSlice(DATA, DATA_BYTES);
    }

    public static boolean isDirected(MemorySegment mad) {
        return Mad.managementClass(mad) == Mad.CLASS_SUBNET_DIRECTED;
    }

    /// Status of either class.
    public static int status(MemorySegment mad) {
        return isDirected(mad) ? DIRECTED_STATUS.getInt(mad) : Mad.status(mad);
    }

    /// Returns the port by which the packet leaves.
    ///
    /// @param hop 1 to [#HOPS_MAX]
    public static int initialPath(MemorySegment mad, int hop) {
        return mad.get(ValueLayout.JAVA_BYTE, INITIAL_PATH + hop) & 0xFF;
    }

    /// Returns the port at which the packet has arrived.
    ///
    /// @param hop 1 to [#HOPS_MAX]
    public static int returnPath(MemorySegment mad, int hop) {
        return mad.get(ValueLayout.JAVA_BYTE, RETURN_PATH + hop) & 0xFF;
    }

    /// Notes the port that the packet has arrived at.
    public static void returnPath(MemorySegment mad, int hop, int port) {
        mad.set(ValueLayout.JAVA_BYTE, RETURN_PATH + hop, (byte) port);
    }

    /// Writes a request that travels by LID.
    public static void writeByLid(
            MemorySegment mad, int method, long transactionId, int attributeId, int modifier, long mkey) {
        Mad.write(mad, Mad.CLASS_SUBNET_LID, Mad.VERSION_1, method, transactionId, attributeId, modifier);
        M_KEY.put(mad, mkey);
    }

    /// Writes a request that travels by directed route from end to end.
    ///
    /// @param path the ports by which it leaves, the requester's first; at most [#HOPS_MAX]
    /// @throws IllegalArgumentException if the path is longer
    public static void writeDirected(
            MemorySegment mad, int method, long transactionId, int attributeId, int modifier, long mkey, byte[] path) {
        if (path.length > HOPS_MAX) {
            throw new IllegalArgumentException("path: at most " + HOPS_MAX + " hops, got " + path.length);
        }
        Mad.write(mad, Mad.CLASS_SUBNET_DIRECTED, Mad.VERSION_1, method, transactionId, attributeId, modifier);
        M_KEY.put(mad, mkey);
        HOP_COUNT.put(mad, path.length);
        DIRECTED_SLID.put(mad, PERMISSIVE_LID);
        DIRECTED_DLID.put(mad, PERMISSIVE_LID);
        MemorySegment.copy(path, 0, mad, ValueLayout.JAVA_BYTE, INITIAL_PATH + 1, path.length);
    }

    /// Makes a request into its answer; the attribute stays as it is.
    public static void answer(MemorySegment mad, int method, int status) {
        boolean directed = isDirected(mad);
        Mad.answer(mad, method, status);
        if (directed) {
            DIRECTION.put(mad, true);
        }
    }
}
