package verbena.ibverbs;

import static verbena.ibverbs.abi.VerbsStructs.SRQ;
import static verbena.ibverbs.abi.VerbsStructs.SRQ_ATTR;
import static verbena.ibverbs.abi.VerbsStructs.SRQ_INIT_ATTR;

import java.lang.foreign.Arena;
import java.util.List;
import verbena.ibverbs.abi.VerbsConstants;
import verbena.verbs.DeviceException;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.spi.OwnedObject;

final class IbvSharedReceiveQueue extends OwnedObject implements SharedReceiveQueue {
    private final IbvProtectionDomain domain;
    private final long address;
    private final int maxWr;
    private final int maxSge;
    private final IbvReceives receives;
    private volatile int limit;

    IbvSharedReceiveQueue(IbvProtectionDomain domain, int maxWr, int maxSge) {
        super("shared receive queue");
        this.domain = domain;
        this.maxWr = maxWr;
        this.maxSge = maxSge;
        IbvContext context = domain.owner();
        madeFrom(List.of(domain));
        NativeFunction.Result made;
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(SRQ_INIT_ATTR.size(), 8).address();
            Memory.putInt(at + SRQ_INIT_ATTR.at("attr.max_wr"), maxWr);
            Memory.putInt(at + SRQ_INIT_ATTR.at("attr.max_sge"), maxSge);
            made = context.library().createSrq.call(domain.address(), at);
        }
        if (made.isNull()) {
            abandon();
            throw context.refused("createSharedReceiveQueue", "shared receive queues", made.errno());
        }
        this.address = made.value();
        context.checkLayout("ibv_srq", Memory.getLong(address + SRQ.at("context")));
        label("shared receive queue " + Memory.getInt(address + SRQ.at("handle")));
        this.receives = new IbvReceives(
                domain,
                this,
                maxWr,
                maxSge,
                "maxWr",
                "maxSge",
                context.ops()::postSharedReceive,
                address,
                this::checkOpen);
        context.add(address, this);
    }

    long address() {
        return address;
    }

    /// Poller: fewer receives are left than the limit, which is disarmed by that.
    void onLimit() {
        limit = 0;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public int maxWr() {
        return maxWr;
    }

    @Override
    public int maxSge() {
        return maxSge;
    }

    @Override
    public ReceiveBatch receive() {
        return receives.begin();
    }

    @Override
    public synchronized void armLimit(int to) {
        checkOpen("armLimit");
        if (to < 0 || to > maxWr) {
            throw new IllegalArgumentException("armLimit: limit: 0 to " + maxWr + ", got " + to);
        }
        int before = limit;
        limit = to; // before the event can come
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(SRQ_ATTR.size(), 8).address();
            Memory.putInt(at + SRQ_ATTR.at("srq_limit"), to);
            int error = domain.owner()
                    .library()
                    .modifySrq
                    .call(address, at, VerbsConstants.IBV_SRQ_LIMIT)
                    .error();
            if (error != 0) {
                limit = before;
                throw new DeviceException("armLimit: " + label() + ": ibv_modify_srq says " + Errno.text(error));
            }
        }
    }

    @Override
    public int limit() {
        return limit;
    }

    /// Waits for a batch that another thread has open, before it takes what that may want to ask the queue.
    @Override
    protected void release() {
        receives.closeGate();
        destroy();
    }

    private synchronized void destroy() {
        int error = domain.owner().library().destroySrq.call(address).error();
        if (error != 0) {
            receives.openGate();
            throw new DeviceException("close: " + label() + ": ibv_destroy_srq says " + Errno.text(error));
        }
        domain.owner().forget(address);
    }
}
