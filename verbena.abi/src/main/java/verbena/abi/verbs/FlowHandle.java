package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.FLOW;

import org.jspecify.annotations.Nullable;
import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.verbs.PacketFlow;

/// A flow and its `struct ibv_flow`.
final class FlowHandle extends Handle {
    private final PacketFlow flow;
    private final @Nullable CountersHandle counters;

    private FlowHandle(PacketFlow flow, QueuePairHandle of, @Nullable CountersHandle counters) {
        super(Native.allocate(FLOW.size()), of.device);
        this.flow = flow;
        this.counters = counters;
        Memory.putLong(pointer + FLOW.at("context"), of.device);
    }

    /// @param counters that its frames are counted in; null for none
    static FlowHandle of(PacketFlow flow, QueuePairHandle of, @Nullable CountersHandle counters) {
        var made = new FlowHandle(flow, of, counters);
        if (counters != null) {
            counters.add(flow);
        }
        return Handles.put(made);
    }

    @Override
    public PacketFlow object() {
        return flow;
    }

    @Override
    protected void close() {
        super.close();
        if (counters != null) {
            counters.remove(flow);
        }
    }
}
