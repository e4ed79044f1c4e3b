package verbena.sim.model;

import java.util.List;
import java.util.Set;
import verbena.sim.model.Refusal.Reasons;
import verbena.verbs.Access;
import verbena.verbs.InUseException;

/// A memory region (IBTA 10.6.3).
public final class ModelRegion extends ModelObject implements Keyed {
    private final ModelMemory memory;
    private final int offset;
    private final int length;
    private final long iova;
    private ModelDomain domain;
    private Set<Access> access;
    private final int key;
    /// Windows that are bound to it.
    int windows;

    ModelRegion(
            ModelDomain domain, ModelMemory memory, int offset, int length, long iova, Set<Access> access, int key) {
        super(domain);
        this.domain = domain;
        this.memory = memory;
        this.offset = offset;
        this.length = length;
        this.iova = iova;
        this.access = Set.copyOf(access);
        this.key = key;
    }

    @Override
    public ModelDomain domain() {
        return domain;
    }

    @Override
    public int key() {
        return key;
    }

    public int length() {
        return length;
    }

    /// Address of its first byte as requests name it.
    public long iova() {
        return iova;
    }

    public Set<Access> access() {
        return access;
    }

    ModelMemory memory() {
        return memory;
    }

    /// Where in the memory an address of the region lies.
    int offsetOf(long address) {
        return offset + (int) (address - iova);
    }

    boolean contains(long address, long bytes) {
        return MemoryRules.isInside(address, bytes, iova, length);
    }

    /// ibv_rereg_mr(3).
    public List<Refusal> mayReregister(ModelDomain to, Set<Access> newAccess) {
        return new Reasons()
                .and(mayBeUsed())
                .and(to.mayBeUsed())
                .and(MemoryRules.mayGrant(newAccess))
                .when(to.device() != domain.device(), IllegalArgumentException.class, "protectionDomain")
                .when(
                        newAccess.contains(Access.ZERO_BASED) != access.contains(Access.ZERO_BASED),
                        IllegalArgumentException.class,
                        "ZERO_BASED")
                .when(
                        newAccess.contains(Access.ON_DEMAND) != access.contains(Access.ON_DEMAND),
                        IllegalArgumentException.class,
                        "ON_DEMAND")
                .when(windows > 0, InUseException.class, "window")
                .list();
    }

    public void reregister(ModelDomain to, Set<Access> newAccess) {
        if (to != domain) {
            release(domain);
            use(to);
            domain = to;
        }
        access = Set.copyOf(newAccess);
    }

    @Override
    public List<Refusal> mayClose() {
        return new Reasons()
                .and(super.mayClose())
                .when(!isClosed() && windows > 0, InUseException.class, "window")
                .list();
    }

    @Override
    void end() {
        domain.device().forget(this);
    }
}
