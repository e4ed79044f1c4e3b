package verbena.ibverbs.objects;

import static verbena.foreign.rdma.VerbsStructs.SRQ;
import static verbena.foreign.rdma.VerbsStructs.SRQ_ATTR;
import static verbena.foreign.rdma.VerbsStructs.SRQ_INIT_ATTR;
import static verbena.foreign.rdma.VerbsStructs.SRQ_INIT_ATTR_EX;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.foreign.NativeFunction;
import verbena.foreign.linux.Errno;
import verbena.foreign.rdma.VerbsConstants;
import verbena.provider.Arguments;
import verbena.verbs.DeviceException;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.spi.OwnedObject;

public final class IbvSharedReceiveQueue extends OwnedObject implements SharedReceiveQueue {
    private final OwnDomain domain;
    private final long address;
    private final int maxWr;
    private final int maxSge;
    private final IbvReceives receives;
    private volatile int limit;
    /// The number by which peers name it; -1 when queue pairs share it.
    private final int number;

    /// The objects of a queue that peers name.
    ///
    /// @param xrcDomain the owner, an XRC domain
    /// @param xrcAddress of C's
    /// @param completions where its receives complete
    record Named(OwnedObject xrcDomain, long xrcAddress, IbvCompletionQueue completions) {}

    /// @param named null for one that queue pairs share
    IbvSharedReceiveQueue(OwnDomain domain, @Nullable Named named, int maxWr, int maxSge) {
        super("shared receive queue");
        this.domain = domain;
        this.maxWr = maxWr;
        this.maxSge = maxSge;
        OpenContext context = domain.owner();
        madeFrom(named == null ? List.of(domain) : List.of(domain, named.xrcDomain, named.completions));
        NativeFunction.Result made;
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(SRQ_INIT_ATTR_EX.size(), 8).address();
            Memory.putInt(at + SRQ_INIT_ATTR.at("attr.max_wr"), maxWr);
            Memory.putInt(at + SRQ_INIT_ATTR.at("attr.max_sge"), maxSge);
            made = named == null
                    ? context.library().createSrq.call(domain.address(), at)
                    : create(context, domain, named, at);
        }
        if (made.isNull()) {
            abandon();
            throw context.refused("createSharedReceiveQueue", "shared receive queues", made.errno());
        }
        this.address = made.value();
        context.checkLayout("ibv_srq", Memory.getLong(address + SRQ.at("context")));
        this.number = named == null ? -1 : number(context, address);
        label("shared receive queue "
                + (named == null ? Memory.getInt(address + SRQ.at("handle")) : "0x" + Integer.toHexString(number)));
        this.receives = new IbvReceives(
                true, this, domain, maxWr, maxSge, context.ops()::postSharedReceive, address, this::checkOpen);
        context.add(address, this);
    }

    /// @param init `struct ibv_srq_init_attr_ex`, filled in as far as `struct ibv_srq_init_attr` goes
    private static NativeFunction.Result create(OpenContext context, OwnDomain domain, Named named, long init) {
        Memory.putInt(
                init + SRQ_INIT_ATTR_EX.at("comp_mask"),
                VerbsConstants.IBV_SRQ_INIT_ATTR_TYPE
                        | VerbsConstants.IBV_SRQ_INIT_ATTR_PD
                        | VerbsConstants.IBV_SRQ_INIT_ATTR_XRCD
                        | VerbsConstants.IBV_SRQ_INIT_ATTR_CQ);
        Memory.putInt(init + SRQ_INIT_ATTR_EX.at("srq_type"), VerbsConstants.IBV_SRQT_XRC);
        Memory.putLong(init + SRQ_INIT_ATTR_EX.at("pd"), domain.address());
        Memory.putLong(init + SRQ_INIT_ATTR_EX.at("xrcd"), named.xrcAddress);
        Memory.putLong(init + SRQ_INIT_ATTR_EX.at("cq"), named.completions.address());
        return context.ops()
                .extended("ptr create_srq_ex(ptr, ptr)")
                .map(create -> create.call(context.address(), init))
                .orElse(new NativeFunction.Result(0, Errno.EOPNOTSUPP.code));
    }

    private static int number(OpenContext context, long address) {
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(Integer.BYTES, 8).address();
            int error = context.ops()
                    .extended("u32 get_srq_num(ptr, ptr)")
                    .map(get -> get.call(address, at).error())
                    .orElse(Errno.EOPNOTSUPP.code);
            if (error != 0) {
                throw new DeviceException("createSharedReceiveQueue: ibv_get_srq_num says " + Errno.text(error));
            }
            return Memory.getInt(at);
        }
    }

    @Override
    public OptionalInt number() {
        return number < 0 ? OptionalInt.empty() : OptionalInt.of(number);
    }

    public long address() {
        return address;
    }

    /// Handles a limit event on the poller's thread: fewer receives are left than the limit, which is disarmed by
    /// that.
    public void onLimit() {
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
    public ReceiveBatch receiveBatch() {
        return receives.begin();
    }

    @Override
    public synchronized void armLimit(int to) {
        checkOpen("armLimit");
        Arguments.checkLimit(this, to);
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
