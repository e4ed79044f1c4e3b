package verbena.check.device;

import verbena.check.CallPlace;
import verbena.check.Checker;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.spi.WatchableDevice;

/// The layer in front of a device that can be opened for questions only.
final class WatchableCheckedDevice extends CheckedDevice implements WatchableDevice {
    private final WatchableDevice watchable;

    <D extends Device & WatchableDevice> WatchableCheckedDevice(String name, D inner, Checker checker) {
        super(name, inner, checker);
        this.watchable = inner;
    }

    @Override
    public Context watch(DeviceException why) {
        return over(watchable.watch(why), CallPlace.here());
    }

    @Override
    public boolean hasOneContext() {
        return watchable.hasOneContext();
    }
}
