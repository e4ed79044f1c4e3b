package verbena.check.device;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import verbena.check.TrackedRegion;
import verbena.check.Watcher.Event;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;

/// The layer in front of a region.
final class CheckedRegion extends CheckedObject<MemoryRegion> implements MemoryRegion {
    private final TrackedRegion tracked;

    CheckedRegion(Layer layer, MemoryRegion inner, TrackedRegion tracked) {
        super(layer, inner);
        this.tracked = tracked;
        layer.device().objects().add(tracked);
        layer.opened(tracked);
        layer.checker().hear(Event.REGISTER, watcher -> watcher.onRegister(tracked));
    }

    @Override
    public void close() {
        if (!isClosed()) {
            layer().checker().hear(Event.UNREGISTER, watcher -> watcher.onUnregister(tracked));
        }
        super.close();
    }

    @Override
    void closed() {
        layer().closed(tracked);
        layer().device().objects().remove(tracked);
        layer().checker().hear(Event.UNREGISTERED, watcher -> watcher.onUnregistered(tracked));
    }

    TrackedRegion tracked() {
        return tracked;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return layer().outer(ProtectionDomain.class, inner().protectionDomain());
    }

    @Override
    public void noteLoad(long offset, long length) {
        inner().noteLoad(offset, length);
        layer().checker().hear(Event.ACCESS, watcher -> watcher.onAccess(tracked, offset, length, false));
    }

    @Override
    public void noteStore(long offset, long length) {
        inner().noteStore(offset, length);
        layer().checker().hear(Event.ACCESS, watcher -> watcher.onAccess(tracked, offset, length, true));
    }

    @Override
    public MemorySegment segment() {
        return inner().segment();
    }

    @Override
    public long length() {
        return inner().length();
    }

    @Override
    public long address() {
        return inner().address();
    }

    @Override
    public int lkey() {
        return inner().lkey();
    }

    @Override
    public int rkey() {
        return inner().rkey();
    }

    @Override
    public Set<Access> access() {
        return inner().access();
    }

    @Override
    public void reregister(ProtectionDomain protectionDomain, Set<Access> access) {
        layer().checker().hear(Event.REREGISTER, watcher -> watcher.onReregister(tracked));
        inner().reregister(CheckedObject.below(protectionDomain), access);
    }
}
