package verbena.nic.device;

import java.util.Set;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.spi.OwnedObject;
import verbena.verbs.spi.Registration;

/// A protection domain as the objects that are made from it see it: its number, and what they need of the device.
abstract class SoftDomain extends OwnedObject implements ProtectionDomain {
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
}
