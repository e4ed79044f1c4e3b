package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.PD;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.verbs.InUseException;
import verbena.verbs.ProtectionDomain;

/// A protection domain and its `struct ibv_pd`; or a parent domain, which is another name for one: what it adds, a
/// domain of threads and a way to allocate, is a hint that this library has no use for.
public final class DomainHandle extends Handle {
    public final ProtectionDomain domain;
    private final @Nullable DomainHandle wraps;
    private final boolean isImported;
    private final AtomicInteger parents = new AtomicInteger();

    private DomainHandle(ProtectionDomain domain, long context, @Nullable DomainHandle wraps, boolean isImported) {
        super(Native.allocate(PD.size()), context);
        this.domain = domain;
        this.wraps = wraps;
        this.isImported = isImported;
        Memory.putLong(pointer + PD.at("context"), context);
    }

    static DomainHandle of(ProtectionDomain domain, long context) {
        return Handles.put(new DomainHandle(domain, context, null, false));
    }

    DomainHandle parent() {
        var made = new DomainHandle(domain, device, this, false);
        parents.incrementAndGet();
        return Handles.putOther(made);
    }

    /// Returns a second name for it, in the context that imports it.
    DomainHandle imported(long context) {
        return Handles.putOther(new DomainHandle(domain, context, null, true));
    }

    public static DomainHandle get(long pointer) {
        return Handles.byNumber(pointer, DomainHandle.class);
    }

    @Override
    protected long numberAt() {
        return PD.at("handle");
    }

    @Override
    public ProtectionDomain object() {
        return domain;
    }

    @Override
    public boolean isImported() {
        return isImported;
    }

    @Override
    protected void close() {
        if (isImported) {
            return;
        }
        if (wraps != null) {
            wraps.parents.decrementAndGet();
        } else if (parents.get() > 0) {
            throw new InUseException("close", domain.toString(), List.of(parents + " parent domains"));
        } else {
            domain.close();
        }
    }
}
