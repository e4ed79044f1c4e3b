package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.SRQ;

import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.verbs.SharedReceiveQueue;

/// A shared receive queue and its `struct ibv_srq`.
final class SharedReceivesHandle extends Handle {
    final SharedReceiveQueue srq;

    private SharedReceivesHandle(long pointer, SharedReceiveQueue srq, DomainHandle domain) {
        super(pointer, domain.device);
        this.srq = srq;
    }

    /// @param programsOwn `srq_context`
    static SharedReceivesHandle of(SharedReceiveQueue srq, DomainHandle domain, long programsOwn) {
        long pointer = Native.allocate(SRQ.size());
        Memory.putLong(pointer + SRQ.at("context"), domain.device);
        Memory.putLong(pointer + SRQ.at("srq_context"), programsOwn);
        Memory.putLong(pointer + SRQ.at("pd"), domain.pointer);
        return Handles.put(new SharedReceivesHandle(pointer, srq, domain));
    }

    /// Returns the queue of a number. See [Handles#byNumber].
    static SharedReceivesHandle byNumber(long pointer) {
        return Handles.byNumber(pointer, SharedReceivesHandle.class);
    }

    static SharedReceivesHandle get(long pointer) {
        return Handles.get(pointer, SharedReceivesHandle.class);
    }

    @Override
    protected long numberAt() {
        return SRQ.at("handle");
    }

    @Override
    public SharedReceiveQueue object() {
        return srq;
    }
}
