package verbena.sim.model;

import verbena.verbs.AddressVector;

/// An address handle (IBTA 10.2.2.2): the way that datagrams go.
public final class ModelAddressHandle extends ModelObject {
    private final ModelDomain domain;
    private final AddressVector way;

    ModelAddressHandle(ModelDomain domain, AddressVector way) {
        super(domain);
        this.domain = domain;
        this.way = way;
    }

    public ModelDomain domain() {
        return domain;
    }

    AddressVector way() {
        return way;
    }

    @Override
    void end() {}
}
