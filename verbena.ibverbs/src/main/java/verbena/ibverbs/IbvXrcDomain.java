package verbena.ibverbs;

import static verbena.ibverbs.abi.VerbsStructs.XRCD;
import static verbena.ibverbs.abi.VerbsStructs.XRCD_INIT_ATTR;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import verbena.ibverbs.abi.VerbsConstants;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.DeviceException;
import verbena.verbs.InUseException;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.XrcDomain;
import verbena.verbs.spi.OwnedObject;

/// An XRC domain of C's. It belongs to no file, so no other process shares it.
final class IbvXrcDomain extends OwnedObject implements XrcDomain {
    /// Of open(2).
    private static final int O_CREAT = 0x40;

    private final IbvContext context;
    private final long address;
    // What a target has not, and a queue pair has.
    private final IbvProtectionDomain noMemory;
    private final IbvCompletionQueue noCompletions;

    IbvXrcDomain(IbvContext context, int number) {
        super("XRC domain " + number);
        this.context = context;
        madeFrom(List.of(context));
        NativeFunction.Result opened;
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(XRCD_INIT_ATTR.size(), 8).address();
            Memory.putInt(
                    at + XRCD_INIT_ATTR.at("comp_mask"),
                    VerbsConstants.IBV_XRCD_INIT_ATTR_FD | VerbsConstants.IBV_XRCD_INIT_ATTR_OFLAGS);
            Memory.putInt(at + XRCD_INIT_ATTR.at("fd"), -1);
            Memory.putInt(at + XRCD_INIT_ATTR.at("oflags"), O_CREAT);
            opened = context.ops()
                    .extended("ptr open_xrcd(ptr, ptr)")
                    .map(open -> open.call(context.address(), at))
                    .orElse(new NativeFunction.Result(0, Errno.EOPNOTSUPP.code));
        }
        if (opened.isNull()) {
            abandon();
            throw context.refused("openXrcDomain", "XRC domains", opened.errno());
        }
        this.address = opened.value();
        context.checkLayout("ibv_xrcd", Memory.getLong(address + XRCD.at("context")));
        this.noMemory = (IbvProtectionDomain) context.allocateProtectionDomain();
        this.noCompletions = (IbvCompletionQueue) context.createCompletionQueue(1, Optional.empty());
    }

    long address() {
        return address;
    }

    @Override
    public Context context() {
        return context;
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(
            ProtectionDomain domain, CompletionQueue cq, int maxWr, int maxSge) {
        checkOpen("createSharedReceiveQueue");
        if (!(domain instanceof IbvProtectionDomain own) || own.context() != context) {
            throw new IllegalArgumentException("createSharedReceiveQueue: domain: belongs to another context");
        }
        if (!(cq instanceof IbvCompletionQueue completions) || completions.context() != context) {
            throw new IllegalArgumentException("createSharedReceiveQueue: cq: belongs to another context");
        }
        own.checkShared(maxWr, maxSge);
        return new IbvSharedReceiveQueue(own, new IbvSharedReceiveQueue.Named(this, completions), maxWr, maxSge);
    }

    @Override
    public QueuePair createTarget() {
        checkOpen("createTarget");
        var options = new QueuePairOptions(
                QpType.XRC_TARGET,
                noCompletions,
                noCompletions,
                Optional.empty(),
                new QueuePairOptions.Sizes(0, 0, 0, 0, 0),
                false,
                Set.of());
        return new IbvQueuePair(noMemory, options, noCompletions, noCompletions, null, this);
    }

    @Override
    protected void release() {
        int error = context.ops()
                .extended("u32 close_xrcd(ptr)")
                .orElseThrow()
                .call(address)
                .error();
        if (Errno.EBUSY.is(error)) {
            throw new InUseException(label(), List.of("something made from it"));
        }
        if (error != 0) {
            throw new DeviceException("close: " + label() + ": ibv_close_xrcd says " + Errno.text(error));
        }
        noCompletions.close();
        noMemory.close();
    }
}
