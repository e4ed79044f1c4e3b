package verbena.check.device;

import verbena.check.CallPlace;
import verbena.check.Checker;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.internal.QueryableDevice;

/// The layer in front of a device that can be opened for questions only.
final class QueryableCheckedDevice extends CheckedDevice implements QueryableDevice {
    private final QueryableDevice queryable;

    <D extends Device & QueryableDevice> QueryableCheckedDevice(String name, D inner, Checker checker) {
        super(name, inner, checker);
        this.queryable = inner;
    }

    @Override
    public Context openForQueries(DeviceException why) {
        return over(queryable.openForQueries(why), CallPlace.here());
    }

    @Override
    public boolean hasOneContext() {
        return queryable.hasOneContext();
    }
}
