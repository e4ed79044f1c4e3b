package verbena.abi.verbs;

import java.util.ArrayList;
import java.util.List;
import verbena.abi.Errno;
import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.verbs.InUseException;
import verbena.verbs.PacketFlow;
import verbena.verbs.VerbsObject;

/// Counters of flows (`struct ibv_counters`), in the places that the program has chosen. What a flow has counted
/// stays when the flow goes.
final class CountersHandle extends Handle implements VerbsObject {
    static final int PLACES_MAX = 64;

    /// A place of the program's: what is counted there.
    private record Place(int index, boolean isBytes) {}

    private final List<Place> places = new ArrayList<>();
    private final List<PacketFlow> flows = new ArrayList<>();
    private long packetsBefore;
    private long bytesBefore;
    private boolean isClosed;

    private CountersHandle(long context) {
        super(Native.allocate(Long.BYTES), context);
        Memory.putLong(pointer, context);
    }

    static CountersHandle of(long context) {
        return Handles.put(new CountersHandle(context));
    }

    /// Counts packets or bytes at a place from now on; 0, or an error.
    synchronized long attach(int index, boolean isBytes) {
        if (index < 0 || index >= PLACES_MAX || !flows.isEmpty()) {
            return Errno.EINVAL; // places are chosen before the flow is made (ibv_create_counters(3))
        }
        places.removeIf(place -> place.index == index);
        places.add(new Place(index, isBytes));
        return 0;
    }

    synchronized void add(PacketFlow flow) {
        flows.add(flow);
    }

    synchronized void remove(PacketFlow flow) {
        flows.remove(flow);
        packetsBefore += flow.packets();
        bytesBefore += flow.bytes();
    }

    /// Writes so many counters, 64 bits each; those that nothing is attached to are 0.
    synchronized long read(long into, int count) {
        if (places.isEmpty()) {
            return Errno.EINVAL;
        }
        long packets = packetsBefore;
        long bytes = bytesBefore;
        for (PacketFlow flow : flows) {
            packets += flow.packets();
            bytes += flow.bytes();
        }
        Native.at(into, (long) count * Long.BYTES).fill((byte) 0);
        for (Place place : places) {
            if (place.index < count) {
                Memory.putLong(into + (long) place.index * Long.BYTES, place.isBytes ? bytes : packets);
            }
        }
        return 0;
    }

    @Override
    public VerbsObject object() {
        return this;
    }

    @Override
    public synchronized void close() {
        if (!flows.isEmpty()) {
            throw new InUseException(
                    "close",
                    "counters",
                    flows.stream().map(PacketFlow::toString).toList());
        }
        isClosed = true;
    }

    @Override
    public synchronized boolean isClosed() {
        return isClosed;
    }
}
