package verbena.check.device;

import verbena.check.Watcher.Event;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ProtectionDomain;

/// The layer in front of a memory window.
final class CheckedWindow extends CheckedObject<MemoryWindow> implements MemoryWindow {
    private volatile int last;

    CheckedWindow(Layer layer, MemoryWindow inner) {
        super(layer, inner);
    }

    @Override
    public void close() {
        if (!isClosed()) {
            last = inner().rkey();
        }
        super.close();
    }

    @Override
    void closed() {
        layer().checker().hear(Event.WINDOW_CLOSED, watcher -> watcher.onWindowClosed(layer().device(), last));
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return layer().outer(ProtectionDomain.class, inner().protectionDomain());
    }

    @Override
    public Type type() {
        return inner().type();
    }

    @Override
    public int rkey() {
        return inner().rkey();
    }
}
