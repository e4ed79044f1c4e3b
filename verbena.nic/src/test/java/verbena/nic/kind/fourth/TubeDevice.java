package verbena.nic.kind.fourth;

import java.util.List;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.GidEntry;
import verbena.verbs.TransportType;

record TubeDevice(String name, TubeLink link) implements Device {
    @Override
    public TransportType transportType() {
        return TransportType.INFINIBAND;
    }

    @Override
    public long nodeGuid() {
        return name.hashCode();
    }

    @Override
    public List<GidEntry> gids() {
        return link.gids();
    }

    @Override
    public Context open() {
        throw new UnsupportedOperationException("the test opens it");
    }
}
