package verbena.nic.kind;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import verbena.verbs.FlowRule;

/// A flow as the engine knows it: its rule, and the frames that have matched it. The engine's owner counts; any
/// thread may read.
public final class FrameFlow {
    private static final VarHandle PACKETS;
    private static final VarHandle BYTES;

    static {
        try {
            var lookup = MethodHandles.lookup();
            PACKETS = lookup.findVarHandle(FrameFlow.class, "packets", long.class);
            BYTES = lookup.findVarHandle(FrameFlow.class, "bytes", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final FlowRule rule;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private long packets;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private long bytes;

    public FrameFlow(FlowRule rule) {
        this.rule = rule;
    }

    public FlowRule rule() {
        return rule;
    }

    /// Counts a frame that fits.
    public void count(int frameBytes) {
        PACKETS.setOpaque(this, (long) PACKETS.get(this) + 1);
        BYTES.setOpaque(this, (long) BYTES.get(this) + frameBytes);
    }

    public long packets() {
        return (long) PACKETS.getOpaque(this);
    }

    public long bytes() {
        return (long) BYTES.getOpaque(this);
    }
}
