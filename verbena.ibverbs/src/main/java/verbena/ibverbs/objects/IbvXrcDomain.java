package verbena.ibverbs.objects;

import static verbena.foreign.rdma.VerbsStructs.XRCD;
import static verbena.foreign.rdma.VerbsStructs.XRCD_INIT_ATTR;

import java.lang.foreign.Arena;
import java.util.List;
import verbena.foreign.Memory;
import verbena.foreign.NativeFunction;
import verbena.foreign.linux.Errno;
import verbena.foreign.rdma.VerbsConstants;
import verbena.provider.Arguments;
import verbena.provider.TargetParts;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.DeviceException;
import verbena.verbs.InUseException;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.XrcDomain;
import verbena.verbs.spi.OwnedObject;

/// An XRC domain of C's. It belongs to no file, so no other process shares it.
public final class IbvXrcDomain extends OwnedObject implements XrcDomain {
    /// A flag of open(2).
    private static final int O_CREAT = 0x40;

    private final OpenContext context;
    private final long address;
    private final TargetParts parts;

    public IbvXrcDomain(OpenContext context, int number) {
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
        boolean made = false;
        try {
            this.parts = new TargetParts(context);
            made = true;
        } finally {
            if (!made) {
                closeXrcd();
                abandon();
            }
        }
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
        OwnDomain own =
                Arguments.own("createSharedReceiveQueue", "domain", OwnDomain.class, domain, domain.context(), context);
        IbvCompletionQueue completions =
                Arguments.own("createSharedReceiveQueue", "cq", IbvCompletionQueue.class, cq, cq.context(), context);
        Arguments.checkShared(context, maxWr, maxSge);
        return new IbvSharedReceiveQueue(
                own, new IbvSharedReceiveQueue.Named(this, address, completions), maxWr, maxSge);
    }

    @Override
    public QueuePair createTarget() {
        checkOpen("createTarget");
        var completions = (IbvCompletionQueue) parts.completions();
        return new IbvQueuePair(
                (OwnDomain) parts.domain(),
                parts.options(),
                completions,
                completions,
                null,
                new IbvQueuePair.Target(this, address));
    }

    @Override
    protected void release() {
        int error = closeXrcd();
        if (Errno.EBUSY.is(error)) {
            throw new InUseException("close", label(), List.of("something made from it"));
        }
        if (error != 0) {
            throw new DeviceException("close: " + label() + ": ibv_close_xrcd says " + Errno.text(error));
        }
        parts.close();
    }

    private int closeXrcd() {
        return context.ops()
                .extended("u32 close_xrcd(ptr)")
                .orElseThrow()
                .call(address)
                .error();
    }
}
