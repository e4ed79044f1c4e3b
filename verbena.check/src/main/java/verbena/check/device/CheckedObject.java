package verbena.check.device;

import java.util.concurrent.atomic.AtomicBoolean;
import verbena.verbs.VerbsObject;

/// An object of the layer, which stands for one of the device's.
abstract class CheckedObject<T extends VerbsObject> implements VerbsObject {
    private final T inner;
    private final Layer layer;
    private final AtomicBoolean isTold = new AtomicBoolean();

    CheckedObject(Layer layer, T inner) {
        this.layer = layer;
        this.inner = inner;
        layer.put(inner, this);
    }

    /// Returns the device's object for one of the layer's; any other object is returned as it is.
    @SuppressWarnings("unchecked") // an object of the layer stands for one of the same interface
    static <T extends VerbsObject> T below(T object) {
        return object instanceof CheckedObject<?> checked ? (T) checked.inner() : object;
    }

    final T inner() {
        return inner;
    }

    final Layer layer() {
        return layer;
    }

    @Override
    public void close() {
        inner.close();
        if (inner.isClosed() && isTold.compareAndSet(false, true)) {
            layer.remove(inner);
            closed();
        }
    }

    /// Tells that it is closed; called once.
    void closed() {}

    @Override
    public final boolean isClosed() {
        return inner.isClosed();
    }

    @Override
    public final String toString() {
        return inner.toString();
    }
}
