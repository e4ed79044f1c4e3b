package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.MR;

import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.verbs.MemoryRegion;

/// A memory region and its `struct ibv_mr`. Registering anew may put another region in its place.
final class RegionHandle extends Handle {
    MemoryRegion region;
    DomainHandle domain;

    private final boolean isImported;

    private RegionHandle(MemoryRegion region, DomainHandle domain, boolean isImported) {
        super(Native.allocate(MR.size()), domain.device);
        this.region = region;
        this.domain = domain;
        this.isImported = isImported;
    }

    static RegionHandle of(MemoryRegion region, DomainHandle domain, long address, long length) {
        var made = new RegionHandle(region, domain, false);
        made.put(address, length);
        return Handles.put(made);
    }

    /// Returns a second name for the region, which says nothing of its address (ibv_import_mr(3)).
    RegionHandle imported(DomainHandle by) {
        var made = new RegionHandle(region, by, true);
        made.put(0, length());
        return Handles.putOther(made);
    }

    /// Updates the program's struct with the region as it is now.
    void put(long address, long length) {
        Memory.putLong(pointer + MR.at("context"), domain.device);
        Memory.putLong(pointer + MR.at("pd"), domain.pointer);
        Memory.putLong(pointer + MR.at("addr"), address);
        Memory.putLong(pointer + MR.at("length"), length);
        Memory.putInt(pointer + MR.at("lkey"), region.lkey());
        Memory.putInt(pointer + MR.at("rkey"), region.rkey());
    }

    long address() {
        return Memory.getLong(pointer + MR.at("addr"));
    }

    long length() {
        return Memory.getLong(pointer + MR.at("length"));
    }

    @Override
    protected long numberAt() {
        return MR.at("handle");
    }

    @Override
    public MemoryRegion object() {
        return region;
    }

    @Override
    public boolean isImported() {
        return isImported;
    }
}
