package verbena.check.device;

import java.util.List;
import java.util.Optional;
import verbena.check.CallPlace;
import verbena.check.Checker;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.GidEntry;
import verbena.verbs.PortAttributes;
import verbena.verbs.TransportType;

/// A device with the layer of checks in front of it.
public class CheckedDevice implements Device {
    private final String name;
    private final Device inner;
    private final Checker checker;

    /// @param name what the program calls it
    public CheckedDevice(String name, Device inner, Checker checker) {
        this.name = name;
        this.inner = inner;
        this.checker = checker;
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final TransportType transportType() {
        return inner.transportType();
    }

    @Override
    public final long nodeGuid() {
        return inner.nodeGuid();
    }

    @Override
    public final List<GidEntry> gids() {
        return inner.gids();
    }

    @Override
    public final Optional<PortAttributes> port() {
        return inner.port();
    }

    @Override
    public final boolean isOfHost() {
        return inner.isOfHost();
    }

    @Override
    public final Context open() {
        CallPlace opened = CallPlace.here();
        return over(inner.open(), opened);
    }

    /// Returns the device below.
    final Device inner() {
        return inner;
    }

    /// Returns a context of this device over one of the device below.
    final Context over(Context context, CallPlace opened) {
        return new CheckedContext(this, context, checker, opened);
    }

    @Override
    public final String toString() {
        return name;
    }
}
