package verbena.ibverbs.objects;

import static verbena.foreign.rdma.VerbsStructs.FLOW_ATTR;

import java.lang.foreign.Arena;
import java.util.List;
import verbena.foreign.Memory;
import verbena.foreign.NativeFunction;
import verbena.foreign.linux.Errno;
import verbena.foreign.rdma.FlowSpec;
import verbena.foreign.rdma.VerbsConstants;
import verbena.verbs.DeviceException;
import verbena.verbs.FlowField;
import verbena.verbs.FlowRule;
import verbena.verbs.PacketFlow;
import verbena.verbs.QueuePair;
import verbena.verbs.spi.OwnedObject;

/// A flow of C's, with counters where the device has them.
final class IbvFlow extends OwnedObject implements PacketFlow {
    /// The kinds of specification, in the order of the headers of a frame.
    private static final List<FlowSpec> SPECS =
            List.of(FlowSpec.ETHERNET, FlowSpec.IPV4_EXTENDED, FlowSpec.IPV6, FlowSpec.TCP, FlowSpec.UDP);

    private static final int COUNT_BYTES = 16;
    private static final int COUNTERS_AT = 8;
    private static final int ATTRIBUTE_BYTES = 512;
    private static final long FLOW_LABEL = 0xF_FFFF;

    private final OpenContext context;
    private final QueuePair queuePair;
    private final FlowRule rule;
    /// The address of `struct ibv_counters`; 0 where the device has none.
    private final long counters;

    private final long address;

    <Q extends OwnedObject & QueuePair> IbvFlow(OpenContext context, Q queuePair, long qp, FlowRule rule) {
        super("flow of " + queuePair);
        check(rule);
        this.context = context;
        this.queuePair = queuePair;
        this.rule = rule;
        madeFrom(List.of(queuePair));
        this.counters = makeCounters();
        NativeFunction.Result made;
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(ATTRIBUTE_BYTES, 8).address();
            write(at);
            made = operation("ptr ibv_create_flow(ptr, ptr)").call(qp, at);
        }
        if (made.isNull()) {
            destroyCounters();
            abandon();
            throw new DeviceException("attachFlow: the device says " + Errno.text(made.errno()) + " for " + rule);
        }
        this.address = made.value();
    }

    private static void check(FlowRule rule) {
        for (FlowRule.Match match : rule.matches()) {
            if (match.field() == FlowField.IPV6_FLOW && (match.mask().low() & ~FLOW_LABEL) != 0) {
                throw new IllegalArgumentException(
                        "attachFlow: rule: a card compares the flow label of IPV6_FLOW only");
            }
        }
    }

    private void write(long at) {
        long next = at + FLOW_ATTR.size();
        int count = 0;
        for (FlowSpec spec : SPECS) {
            int bytes = spec.write(rule, next);
            count += bytes == 0 ? 0 : 1;
            next += bytes;
        }
        if (counters != 0) {
            Memory.putInt(next, VerbsConstants.IBV_FLOW_SPEC_ACTION_COUNT);
            Memory.putShort(next + Integer.BYTES, COUNT_BYTES);
            Memory.putLong(next + COUNTERS_AT, counters);
            next += COUNT_BYTES;
            count++;
        }
        Memory.putInt(
                at + FLOW_ATTR.at("type"),
                rule.matches().isEmpty()
                        ? VerbsConstants.IBV_FLOW_ATTR_ALL_DEFAULT
                        : VerbsConstants.IBV_FLOW_ATTR_NORMAL);
        Memory.putShort(at + FLOW_ATTR.at("size"), (int) (next - at));
        Memory.putByte(at + FLOW_ATTR.at("num_of_specs"), count);
        Memory.putByte(at + FLOW_ATTR.at("port"), 1);
    }

    private NativeFunction operation(String signature) {
        return context.ops().extended(signature).orElseThrow(); // or the device would not have the capability
    }

    // ---- counters: packets at place 0, bytes at place 1

    private long makeCounters() {
        var create = context.ops().extended("ptr create_counters(ptr, ptr)");
        if (create.isEmpty()) {
            return 0;
        }
        try (Arena arena = Arena.ofConfined()) {
            long attributes = arena.allocate(16, 8).address();
            long made = create.get().call(context.address(), attributes).value();
            boolean isCounting = made != 0;
            for (int i = 0; isCounting && i < 2; i++) {
                Memory.putInt(
                        attributes, i == 0 ? VerbsConstants.IBV_COUNTER_PACKETS : VerbsConstants.IBV_COUNTER_BYTES);
                Memory.putInt(attributes + Integer.BYTES, i);
                isCounting = operation("u32 attach_counters_point_flow(ptr, ptr, ptr)")
                                .call(made, attributes, 0L)
                                .error()
                        == 0;
            }
            if (made != 0 && !isCounting) {
                operation("u32 destroy_counters(ptr)").call(made);
            }
            return isCounting ? made : 0;
        }
    }

    private void destroyCounters() {
        if (counters != 0) {
            operation("u32 destroy_counters(ptr)").call(counters);
        }
    }

    private synchronized long count(int place) {
        checkOpen("count");
        if (counters == 0) {
            return 0;
        }
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(2L * Long.BYTES, 8).address();
            int error = operation("u32 read_counters(ptr, ptr, u32, u32)")
                    .call(counters, at, 2, 0)
                    .error();
            if (error != 0) {
                throw new DeviceException("flow: ibv_read_counters says " + Errno.text(error));
            }
            return Memory.getLong(at + (long) place * Long.BYTES);
        }
    }

    @Override
    public QueuePair queuePair() {
        return queuePair;
    }

    @Override
    public FlowRule rule() {
        return rule;
    }

    @Override
    public long packets() {
        return count(0);
    }

    @Override
    public long bytes() {
        return count(1);
    }

    @Override
    protected synchronized void release() {
        int error = operation("u32 ibv_destroy_flow(ptr)").call(address).error();
        if (error != 0) {
            throw new DeviceException("close: " + label() + ": ibv_destroy_flow says " + Errno.text(error));
        }
        destroyCounters();
    }
}
