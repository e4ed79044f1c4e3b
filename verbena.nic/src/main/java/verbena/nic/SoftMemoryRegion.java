package verbena.nic;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import verbena.transport.memory.Region;
import verbena.verbs.Access;
import verbena.verbs.InUseException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;

final class SoftMemoryRegion extends SoftObject implements MemoryRegion {
    private final Region region;
    private final Runnable free;
    private volatile SoftProtectionDomain domain;
    private volatile Set<Access> access;

    SoftMemoryRegion(SoftProtectionDomain domain, Region region, Set<Access> access, Runnable free) {
        super("memory region 0x" + Integer.toHexString(region.key()));
        this.domain = domain;
        this.region = region;
        this.access = Set.copyOf(access);
        this.free = free;
        madeFrom(domain);
    }

    Region region() {
        return region;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public MemorySegment segment() {
        return region.memory();
    }

    @Override
    public long address() {
        return region.iova();
    }

    @Override
    public long length() {
        return region.length();
    }

    @Override
    public int lkey() {
        return region.key();
    }

    @Override
    public int rkey() {
        return region.key();
    }

    @Override
    public Set<Access> access() {
        return access;
    }

    @Override
    public void reregister(ProtectionDomain to, Set<Access> newAccess) {
        checkOpen();
        SoftProtectionDomain.checkAccess(newAccess);
        if (!(to instanceof SoftProtectionDomain target) || target.context() != domain.context()) {
            throw new IllegalArgumentException("protectionDomain: belongs to another context");
        }
        checkClosable();
        moveTo(domain, target);
        domain.soft().engine().call(() -> {
            region.reregister(target.number(), Access.bits(newAccess));
            return true;
        });
        domain = target;
        access = Set.copyOf(newAccess);
    }

    @Override
    void checkClosable() {
        if (region.windows() > 0) {
            throw new InUseException(label(), List.of(region.windows() + " bound memory window(s)"));
        }
    }

    @Override
    void release() {
        // As a command: once it has run, the engine does not touch the memory any more.
        domain.soft().engine().call(() -> {
            domain.soft().memory().remove(region);
            return true;
        });
        free.run();
    }
}
