package verbena.check.device;

import verbena.check.Watcher.Event;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.ProtectionDomain;

/// The layer in front of an address handle.
final class CheckedHandle extends CheckedObject<AddressHandle> implements AddressHandle {
    CheckedHandle(Layer layer, AddressHandle inner) {
        super(layer, inner);
    }

    @Override
    void closed() {
        layer().checker().hear(Event.HANDLE_CLOSED, watcher -> watcher.onHandleClosed(layer().device(), this));
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return layer().outer(ProtectionDomain.class, inner().protectionDomain());
    }

    @Override
    public AddressVector vector() {
        return inner().vector();
    }
}
