package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.AH;

import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.verbs.AddressHandle;

/// An address handle and its `struct ibv_ah`.
final class AddressHandleHandle extends Handle {
    final AddressHandle way;

    private AddressHandleHandle(long pointer, AddressHandle way, DomainHandle domain) {
        super(pointer, domain.device);
        this.way = way;
    }

    static AddressHandleHandle of(AddressHandle way, DomainHandle domain) {
        long pointer = Native.allocate(AH.size());
        Memory.putLong(pointer + AH.at("context"), domain.device);
        Memory.putLong(pointer + AH.at("pd"), domain.pointer);
        return Handles.put(new AddressHandleHandle(pointer, way, domain));
    }

    @Override
    protected long numberAt() {
        return AH.at("handle");
    }

    @Override
    public AddressHandle object() {
        return way;
    }
}
