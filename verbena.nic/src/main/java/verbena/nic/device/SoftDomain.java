package verbena.nic.device;

import java.util.Set;
import verbena.foreign.GuardedAccess;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.spi.OwnedObject;
import verbena.verbs.spi.Registration;

/// A protection domain as the objects that are made from it see it: its number, and what they need of the device.
abstract class SoftDomain extends OwnedObject implements ProtectionDomain {
    private static final Set<Access> OF_PEERS = Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);

    private final DeviceCore core;
    private final int number;

    SoftDomain(DeviceCore core, int number) {
        super("protection domain " + number);
        this.core = core;
        this.number = number;
        madeFrom(core.root);
    }

    @Override
    public final Context context() {
        return core.context;
    }

    final DeviceCore core() {
        return core;
    }

    final int number() {
        return number;
    }

    /// Checks the rights, as IBTA 10.6.3.1 and ibv_reg_mr(3) define them.
    final void checkAccess(String verb, Set<Access> access) {
        Registration.checkAccess(verb, access);
        if (access.contains(Access.ON_DEMAND)) {
            core.require(verb, Capability.ON_DEMAND_PAGING);
        }
    }

    /// Checks rights to the whole address space: in a Java program peers have none, because the virtual machine's
    /// own heap lies in it.
    static void checkAddressSpace(String verb, Set<Access> access) {
        if (GuardedAccess.ofProcess() == null && access.stream().anyMatch(OF_PEERS::contains)) {
            throw new IllegalArgumentException(verb + ": access: peers would change the virtual machine's own memory;"
                    + " register what they may use, got " + access);
        }
    }
}
