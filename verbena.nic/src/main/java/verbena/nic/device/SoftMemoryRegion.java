package verbena.nic.device;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.nic.observe.JfrEvents;
import verbena.provider.Arguments;
import verbena.transport.memory.Region;
import verbena.verbs.Access;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.spi.OwnedObject;
import verbena.verbs.spi.Registration;

final class SoftMemoryRegion extends OwnedObject implements MemoryRegion {
    private final Region region;
    private final Runnable free;
    /// The device memory that it is of; null for memory of the process.
    private final @Nullable SoftDeviceMemory of;
    private volatile SoftDomain domain;
    private volatile Set<Access> access;

    SoftMemoryRegion(
            SoftDomain domain, Region region, Set<Access> access, Runnable free, @Nullable SoftDeviceMemory of) {
        super("memory region 0x" + Integer.toHexString(region.key()));
        this.domain = domain;
        this.region = region;
        this.access = Set.copyOf(access);
        this.free = free;
        this.of = of;
        madeFrom(of == null ? List.of(domain) : List.of(domain, of));
    }

    Region entry() {
        return region;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public MemorySegment segment() {
        checkOpen("segment");
        if (of != null) {
            throw new InvalidStateException(
                    "segment: " + label() + " is of device memory, which this process has no address of");
        }
        if (region.isOfNothing()) {
            throw new InvalidStateException("segment: " + this + " has no memory");
        }
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
        return region.isOfNothing() ? 0 : region.key();
    }

    @Override
    public Set<Access> access() {
        return access;
    }

    @Override
    public void reregister(ProtectionDomain to, Set<Access> newAccess) {
        checkOpen("reregister");
        if (region.isOfNothing()) {
            throw new InvalidStateException("reregister: " + this + " has no memory, and stays as it is");
        }
        domain.checkAccess("reregister", newAccess);
        if (region.memory().equals(Memory.ALL)) {
            SoftDomain.checkAddressSpace("reregister", newAccess);
        }
        SoftDomain target = Arguments.checkReregister(SoftDomain.class, this, to, newAccess);
        Registration.checkWritable("reregister", region.memory(), newAccess);
        // All of this happens while no engine works: it is complete before the region begins to close, or it does
        // not happen.
        target.core().engines.alone(() -> {
            checkOpen("reregister"); // again: it may have been closed meanwhile
            checkUnbound("reregister");
            SoftDomain from = domain;
            madeFrom(target);
            target.core().engines.memory().reregister(region, target.number(), Access.bits(newAccess));
            domain = target;
            access = Set.copyOf(newAccess);
            if (from != target) {
                leave(from);
            }
            return true;
        });
    }

    /// Checks that no window is bound to it. Called while no engine works, because engines bind windows.
    private void checkUnbound(String verb) {
        int windows = region.windows();
        if (windows > 0) {
            throw new InUseException(
                    verb, label(), List.of(windows == 1 ? "a bound memory window" : windows + " bound memory windows"));
        }
    }

    @Override
    protected boolean help() {
        return domain.core().engines.help();
    }

    @Override
    protected void release() {
        boolean isFree = domain.core().engines.alone(() -> {
            checkUnbound("close");
            return domain.core().engines.memory().remove(region);
        });
        // No engine finds the key any more, and no other thread uses the memory. When a peer that has stopped in the
        // middle of an access may still use it, the memory is given to no other region.
        if (isFree) {
            free.run();
        }
        JfrEvents.closed(domain.core().name(), this);
    }
}
