package verbena.nic.device;

import verbena.transport.queue.Path;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.spi.ConnectionService.Watch;
import verbena.verbs.spi.OwnedObject;

final class SoftAddressHandle extends OwnedObject implements AddressHandle {
    private final SoftDomain domain;
    private final AddressVector vector;
    private final Path path;
    private final Watch membership;

    /// @param membership of the group that it is the address of; closed with it
    SoftAddressHandle(SoftDomain domain, AddressVector vector, Path path, Watch membership) {
        super("address handle to " + vector.destination());
        this.domain = domain;
        this.vector = vector;
        this.path = path;
        this.membership = membership;
        madeFrom(domain);
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public AddressVector vector() {
        return vector;
    }

    Path path() {
        return path;
    }

    /// Datagrams that were already posted keep their path.
    @Override
    protected void release() {
        membership.close();
    }
}
