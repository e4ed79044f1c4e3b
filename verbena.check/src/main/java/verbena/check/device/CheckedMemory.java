package verbena.check.device;

import java.lang.foreign.MemorySegment;
import verbena.verbs.Context;
import verbena.verbs.DeviceMemory;

/// The layer in front of memory of the device.
final class CheckedMemory extends CheckedObject<DeviceMemory> implements DeviceMemory {
    CheckedMemory(Layer layer, DeviceMemory inner) {
        super(layer, inner);
    }

    @Override
    public Context context() {
        return layer().outer(Context.class, inner().context());
    }

    @Override
    public long length() {
        return inner().length();
    }

    @Override
    public void write(long offset, MemorySegment from) {
        inner().write(offset, from);
    }

    @Override
    public void read(long offset, MemorySegment into) {
        inner().read(offset, into);
    }
}
