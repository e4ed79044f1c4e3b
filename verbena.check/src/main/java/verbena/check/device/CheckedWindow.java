package verbena.check.device;

import verbena.verbs.MemoryWindow;
import verbena.verbs.ProtectionDomain;

/// The layer in front of a memory window.
final class CheckedWindow extends CheckedObject<MemoryWindow> implements MemoryWindow {
    CheckedWindow(Layer layer, MemoryWindow inner) {
        super(layer, inner);
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
