package verbena.nic.device;

import verbena.transport.queue.Path;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.spi.OwnedObject;

final class SoftAddressHandle extends OwnedObject implements AddressHandle {
    private final SoftProtectionDomain domain;
    private final AddressVector vector;
    private final Path path;

    SoftAddressHandle(SoftProtectionDomain domain, AddressVector vector, Path path) {
        super("address handle to " + vector.destination());
        this.domain = domain;
        this.vector = vector;
        this.path = path;
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
    protected void release() {}
}
