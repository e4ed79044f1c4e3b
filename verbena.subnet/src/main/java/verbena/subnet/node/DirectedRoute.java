package verbena.subnet.node;

import java.lang.foreign.MemorySegment;
import verbena.wire.mad.Smp;

/// The forwarding of subnet management packets by directed route (IBTA 14.2.2). Each step changes the hop pointer,
/// and records in a request the port by which the answer comes back.
final class DirectedRoute {
    /// The packet has arrived: it is for this node.
    static final int HERE = -1;
    /// The packet goes on by LID, which follows the directed part.
    static final int BY_LID = -2;
    /// The packet is dropped.
    static final int NOWHERE = -3;

    private DirectedRoute() {}

    /// Returns the next port of a request that this node sends itself (C14-9, 1).
    static int begin(MemorySegment mad) {
        int count = Smp.HOP_COUNT.getInt(mad);
        if (count > Smp.HOPS_MAX || Smp.HOP_POINTER.getInt(mad) != 0) {
            return NOWHERE;
        }
        Smp.HOP_POINTER.put(mad, 1);
        return count == 0 ? HERE : Smp.initialPath(mad, 1);
    }

    /// Returns the next port of a packet that has arrived.
    static int forward(MemorySegment mad, int portIn, boolean isSwitch) {
        int count = Smp.HOP_COUNT.getInt(mad);
        int pointer = Smp.HOP_POINTER.getInt(mad);
        if (count > Smp.HOPS_MAX || pointer > count + 1) { // C14-9, 5; C14-13, 5
            return NOWHERE;
        }
        return Smp.DIRECTION.getBoolean(mad) ? back(mad, pointer, isSwitch) : on(mad, pointer, count, portIn, isSwitch);
    }

    private static int on(MemorySegment mad, int pointer, int count, int portIn, boolean isSwitch) {
        if (pointer == count + 1) { // C14-9, 4
            return HERE;
        }
        if (pointer == 0) {
            // Its directed part begins at this switch, which it has reached by LID; otherwise no node sends that.
            if (count != 0 && Smp.DIRECTED_SLID.getInt(mad) != Smp.PERMISSIVE_LID && isSwitch) {
                Smp.HOP_POINTER.put(mad, 1);
                return Smp.initialPath(mad, 1);
            }
            return NOWHERE;
        }
        Smp.returnPath(mad, pointer, portIn);
        Smp.HOP_POINTER.put(mad, pointer + 1);
        if (pointer < count) { // C14-9, 2
            return isSwitch ? Smp.initialPath(mad, pointer + 1) : NOWHERE;
        }
        if (Smp.DIRECTED_DLID.getInt(mad) == Smp.PERMISSIVE_LID) { // C14-9, 3
            return HERE;
        }
        return isSwitch ? BY_LID : NOWHERE;
    }

    private static int back(MemorySegment mad, int pointer, boolean isSwitch) {
        if (pointer == 0) { // C14-13, 4
            return HERE;
        }
        Smp.HOP_POINTER.put(mad, pointer - 1);
        if (pointer == 1) { // C14-13, 3
            if (Smp.DIRECTED_SLID.getInt(mad) == Smp.PERMISSIVE_LID) {
                return HERE;
            }
            return isSwitch ? BY_LID : NOWHERE;
        }
        // C14-13, 1 and 2. Answers that come by LID to where the directed part ends begin with pointer count + 1.
        if (isSwitch) {
            return Smp.returnPath(mad, pointer - 1);
        }
        return NOWHERE;
    }

    /// Returns the port by which the answer of this node itself leaves (C14-13, 1).
    static int answer(MemorySegment mad) {
        int pointer = Smp.HOP_POINTER.getInt(mad);
        if (pointer <= 1) {
            Smp.HOP_POINTER.put(mad, 0);
            return Smp.DIRECTED_SLID.getInt(mad) == Smp.PERMISSIVE_LID ? HERE : BY_LID;
        }
        if (Smp.DIRECTED_DLID.getInt(mad) != Smp.PERMISSIVE_LID) {
            return BY_LID;
        }
        Smp.HOP_POINTER.put(mad, pointer - 1);
        return Smp.returnPath(mad, pointer - 1);
    }
}
