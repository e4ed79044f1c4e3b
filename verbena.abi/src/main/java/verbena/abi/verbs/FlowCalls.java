package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.FLOW_ATTR;

import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.foreign.rdma.FlowSpec;
import verbena.foreign.rdma.VerbsConstants;
import verbena.verbs.FlowField;
import verbena.verbs.FlowRule;

/// Flows of raw packets, and their counters (ibv_create_flow(3), ibv_create_counters(3)).
final class FlowCalls {
    private static final int SPECS_MAX = 32;
    /// The type and the size of a specification, before its values and their masks.
    private static final int SPEC_HEADER_BYTES = 6;

    /// The counters in a specification of that action, and the mask in `struct ibv_counter_attach_attr`.
    private static final int COUNTERS_AT = 8;

    private static final int ATTACH_MASK_AT = 8;
    private static final long MULTICAST_BIT = 0x0100_0000_0000L;

    private FlowCalls() {}

    /// The wishes of a program.
    private static final class Asked {
        FlowRule rule = FlowRule.everything();

        @Nullable
        CountersHandle counters;
    }

    static long createFlow(long qp, long attributes) {
        var of = QueuePairHandle.byNumber(qp);
        var asked = new Asked();
        long error = read(Native.some(attributes), asked);
        return error != 0 ? error : FlowHandle.of(of.qp.attachFlow(asked.rule), of, asked.counters).pointer;
    }

    /// Reads as many specifications as the program says there are; their sizes lead from one to the next.
    private static long read(long from, Asked into) {
        int count = Memory.getUnsignedByte(from + FLOW_ATTR.at("num_of_specs"));
        if (Memory.getInt(from + FLOW_ATTR.at("comp_mask")) != 0
                || Memory.getUnsignedByte(from + FLOW_ATTR.at("port")) != 1
                || count > SPECS_MAX) {
            return Errno.EINVAL;
        }
        switch (Memory.getInt(from + FLOW_ATTR.at("type"))) {
            case VerbsConstants.IBV_FLOW_ATTR_NORMAL,
                    VerbsConstants.IBV_FLOW_ATTR_ALL_DEFAULT,
                    VerbsConstants.IBV_FLOW_ATTR_SNIFFER -> {}
            case VerbsConstants.IBV_FLOW_ATTR_MC_DEFAULT ->
                into.rule = into.rule.with(FlowField.DESTINATION_MAC, MULTICAST_BIT, MULTICAST_BIT);
            default -> {
                return Errno.EINVAL;
            }
        }
        if ((Memory.getInt(from + FLOW_ATTR.at("flags")) & VerbsConstants.IBV_FLOW_ATTR_FLAGS_EGRESS) != 0) {
            return Errno.EOPNOTSUPP;
        }
        long at = from + FLOW_ATTR.size();
        for (int i = 0; i < count; i++) {
            int bytes = Memory.getUnsignedShort(at + Integer.BYTES);
            if (bytes < SPEC_HEADER_BYTES) {
                return Errno.EINVAL;
            }
            long error = readSpec(at, bytes, into);
            if (error != 0) {
                return error;
            }
            at += bytes;
        }
        return 0;
    }

    private static long readSpec(long at, int bytes, Asked into) {
        int type = Memory.getInt(at);
        if (type == VerbsConstants.IBV_FLOW_SPEC_ACTION_COUNT) {
            into.counters = Handles.get(Memory.getLong(at + COUNTERS_AT), CountersHandle.class);
            return 0;
        }
        FlowSpec spec = FlowSpec.ofCode(type);
        if (spec == null) {
            return Errno.EOPNOTSUPP;
        }
        if (bytes < spec.bytes()) {
            return Errno.EINVAL;
        }
        FlowRule rule = spec.read(at, into.rule);
        if (rule == null) {
            return Errno.EOPNOTSUPP;
        }
        into.rule = rule;
        return 0;
    }

    static long destroyFlow(long flow) {
        Handles.get(flow, FlowHandle.class).destroy();
        return 0;
    }

    // ---- counters

    static long createCounters(long context, long attributes) {
        Handles.get(context, ContextHandle.class);
        return Memory.getInt(Native.some(attributes)) != 0 ? Errno.EINVAL : CountersHandle.of(context).pointer;
    }

    static long destroyCounters(long counters) {
        Handles.get(counters, CountersHandle.class).destroy();
        return 0;
    }

    /// Chooses the place of a counter of the flows that name these counters. A flow of its own is not taken: its
    /// counters are named when it is made.
    static long attachCounters(long counters, long attributes, long flow) {
        var of = Handles.get(counters, CountersHandle.class);
        int what = Memory.getInt(Native.some(attributes));
        if (flow != 0
                || Memory.getInt(attributes + ATTACH_MASK_AT) != 0
                || (what != VerbsConstants.IBV_COUNTER_PACKETS && what != VerbsConstants.IBV_COUNTER_BYTES)) {
            return Errno.EOPNOTSUPP;
        }
        return of.attach(Memory.getInt(attributes + Integer.BYTES), what == VerbsConstants.IBV_COUNTER_BYTES);
    }

    static long readCounters(long counters, long into, long count, long flags) {
        return Handles.get(counters, CountersHandle.class).read(into, Math.clamp(count, 0, CountersHandle.PLACES_MAX));
    }
}
