package verbena.ibverbs.objects;

import static verbena.foreign.rdma.VerbsStructs.PD;

import java.util.List;
import java.util.Set;
import verbena.foreign.Memory;
import verbena.foreign.linux.Errno;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.DeviceException;
import verbena.verbs.InUseException;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.spi.OwnedObject;
import verbena.verbs.spi.Registration;

/// A protection domain of C's, as the objects that are made from it need it.
abstract class OwnDomain extends OwnedObject implements ProtectionDomain {
    private final OpenContext context;
    private final long address;

    OwnDomain(OpenContext context, int number) {
        super("protection domain " + number);
        this.context = context;
        madeFrom(List.of(context));
        var made = context.library().allocPd.call(context.address());
        if (made.isNull()) {
            abandon();
            throw context.refused("allocateProtectionDomain", "protection domains", made.errno());
        }
        this.address = made.value();
        context.checkLayout("ibv_pd", Memory.getLong(address + PD.at("context")));
    }

    final long address() {
        return address;
    }

    final OpenContext owner() {
        return context;
    }

    @Override
    public final Context context() {
        return context;
    }

    /// Checks rights by IBTA 10.6.3.1 and ibv_reg_mr(3).
    final void checkAccess(String verb, Set<Access> access) {
        Registration.checkAccess(verb, access);
        if (access.contains(Access.ON_DEMAND)) {
            context.require(verb, Capability.ON_DEMAND_PAGING);
        }
        if (access.contains(Access.FLUSH_GLOBAL) || access.contains(Access.FLUSH_PERSISTENT)) {
            context.require(verb, Capability.FLUSH);
        }
    }

    @Override
    protected void release() {
        int error = context.library().deallocPd.call(address).error();
        if (Errno.EBUSY.is(error)) {
            throw new InUseException("close", label(), List.of("something made from it"));
        }
        if (error != 0) {
            throw new DeviceException("close: " + label() + ": ibv_dealloc_pd says " + Errno.text(error));
        }
    }
}
