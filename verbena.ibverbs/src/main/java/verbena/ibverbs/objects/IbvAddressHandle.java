package verbena.ibverbs.objects;

import static verbena.foreign.rdma.VerbsStructs.AH;
import static verbena.foreign.rdma.VerbsStructs.AH_ATTR;

import java.lang.foreign.Arena;
import java.util.List;
import verbena.foreign.Memory;
import verbena.foreign.NativeFunction;
import verbena.foreign.linux.Errno;
import verbena.ibverbs.lib.AddressVectors;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.Context;
import verbena.verbs.DeviceException;
import verbena.verbs.GidEntry;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.spi.OwnedObject;

final class IbvAddressHandle extends OwnedObject implements AddressHandle {
    private final OwnDomain domain;
    private final AddressVector vector;
    private final long address;
    /// The number of batches that name it.
    private int holders;
    /// Closed, and freed when no request names it any more.
    private boolean isReleased;

    IbvAddressHandle(OwnDomain domain, AddressVector vector) {
        super("address handle to " + vector.destination());
        this.domain = domain;
        this.vector = vector;
        check("createAddressHandle", domain.owner(), vector);
        madeFrom(List.of(domain));
        NativeFunction.Result made;
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(AH_ATTR.size(), 8).address();
            AddressVectors.write(vector, at);
            made = domain.owner().library().createAh.call(domain.address(), at);
        }
        if (made.isNull()) {
            abandon();
            if (Errno.EINVAL.is(made.errno())
                    || Errno.ETIMEDOUT.is(made.errno())
                    || Errno.EHOSTUNREACH.is(made.errno())
                    || Errno.ENETUNREACH.is(made.errno())) {
                throw new InvalidAttributesException("createAddressHandle: " + vector.destination()
                        + " is not reached from GID index " + vector.sourceGidIndex() + ": "
                        + Errno.text(made.errno()));
            }
            throw domain.owner().refused("createAddressHandle", "address handles", made.errno());
        }
        this.address = made.value();
        domain.owner().checkLayout("ibv_ah", Memory.getLong(address + AH.at("context")));
    }

    /// Checks that the two ends of a path fit.
    static void check(String verb, Context context, AddressVector to) {
        GidEntry own;
        try {
            own = context.gid(to.port(), to.sourceGidIndex());
        } catch (IllegalArgumentException e) {
            throw new InvalidAttributesException(verb + ": " + e.getMessage());
        }
        if (own.type() != verbena.verbs.GidType.IB
                && own.gid().isIpv4() != to.destination().isIpv4()) {
            throw new InvalidAttributesException(verb + ": own GID " + own.gid() + " and peer " + to.destination()
                    + " are of different address families");
        }
    }

    long address() {
        return address;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public AddressVector vector() {
        return vector;
    }

    /// Holds the handle for a batch that names it: C keeps it until [#letGo()]. Returns false when it is closed.
    synchronized boolean hold() {
        if (!isOpen()) {
            return false;
        }
        holders++;
        return true;
    }

    synchronized void letGo() {
        holders--;
        if (holders == 0 && isReleased) {
            destroy();
        }
    }

    @Override
    protected synchronized void release() {
        isReleased = true;
        if (holders == 0) {
            destroy();
        }
    }

    private void destroy() {
        int error = domain.owner().library().destroyAh.call(address).error();
        if (error != 0) {
            throw new DeviceException("close: " + label() + ": ibv_destroy_ah says " + Errno.text(error));
        }
    }
}
