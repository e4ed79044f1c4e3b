package verbena.verbs.cm;

import verbena.verbs.Context;
import verbena.verbs.ProtectionDomain;

/// The protection domain of a listener at one of its devices: of its memory, and of the connections that reach that.
/// It is closed with the last of them, and so is the listener's share of the device. Any thread.
final class SharedDomain {
    private final ProtectionDomain domain;
    private final LocalDevices.Lease lease;
    private final boolean isLent;
    private int users = 1;

    private SharedDomain(ProtectionDomain domain, LocalDevices.Lease lease, boolean isLent) {
        this.domain = domain;
        this.lease = lease;
        this.isLent = isLent;
    }

    /// Returns one with a first user.
    ///
    /// @param lent the program's, which stays open; else one is made
    static SharedDomain at(LocalDevices.Lease device, Sharing lent) {
        LocalDevices.Lease own = device.again();
        boolean done = false;
        try {
            ProtectionDomain domain = lent.domain().orElseGet(own.context()::allocateProtectionDomain);
            done = true;
            return new SharedDomain(domain, own, lent.domain().isPresent());
        } finally {
            if (!done) {
                own.close();
            }
        }
    }

    ProtectionDomain domain() {
        return domain;
    }

    boolean isOf(Context context) {
        return domain.context() == context;
    }

    /// Adds a user.
    synchronized SharedDomain use() {
        users++;
        return this;
    }

    /// Removes a user.
    synchronized void giveBack() {
        if (--users > 0) {
            return;
        }
        try {
            if (!isLent) {
                domain.close();
            }
        } finally {
            lease.close();
        }
    }
}
