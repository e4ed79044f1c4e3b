package verbena.transport.memory;

import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;

/// Binds windows and withdraws their bindings, for engines; several may do so at once.
final class WindowBinder {
    /// The rights that a window can grant.
    static final int REMOTE = Access.REMOTE_WRITE.bit() | Access.REMOTE_READ.bit() | Access.REMOTE_ATOMIC.bit();

    private final KeyTable<Keyed> keys;
    private final KeyWatches watches;

    WindowBinder(KeyTable<Keyed> keys, KeyWatches watches) {
        this.keys = keys;
        this.watches = watches;
    }

    /// Binds a window (IBTA 10.6.6.2, ibv_bind_mw(3)); no bytes unbind a type 1 window.
    ///
    /// @param variant whose low 8 bits the window's new key gets
    MemoryVerdict bind(
            Window window, int variant, Region region, long address, long bytes, int access, int domain, int qpn) {
        int rkey = window.keyOf(variant);
        boolean changes = (access & (Access.REMOTE_WRITE.bit() | Access.REMOTE_ATOMIC.bit())) != 0;
        Window.Binding before = window.binding();
        if (keys.get(window.key >>> 8) != window
                || window.protectionDomain != domain
                || (window.type == 2 && (before != null || bytes == 0))) {
            return MemoryVerdict.NOT_ALLOWED;
        }
        if (bytes == 0) {
            return rebind(window, before, null, rkey);
        }
        if (keys.get(region.key >>> 8) != region) {
            return MemoryVerdict.NO_SUCH_KEY;
        }
        if (region.protectionDomain != domain) {
            return MemoryVerdict.WRONG_DOMAIN;
        }
        if ((region.access & Access.MW_BIND.bit()) == 0
                || (region.access & Access.ZERO_BASED.bit()) != 0
                || (changes && (region.access & Access.LOCAL_WRITE.bit()) == 0)
                || (access & ~(REMOTE | Access.ZERO_BASED.bit())) != 0
                || (window.type == 1 && (access & Access.ZERO_BASED.bit()) != 0)) {
            return MemoryVerdict.NO_RIGHT;
        }
        if (!region.contains(address, bytes)) {
            return MemoryVerdict.OUT_OF_BOUNDS;
        }
        var fresh = new Window.Binding(
                rkey, region, address, bytes, access & REMOTE, (access & Access.ZERO_BASED.bit()) != 0, qpn);
        return rebind(window, before, fresh, rkey);
    }

    private MemoryVerdict rebind(
            Window window, Window.@Nullable Binding before, Window.@Nullable Binding fresh, int rkey) {
        if (!window.rebind(before, fresh)) {
            return MemoryVerdict.NOT_ALLOWED; // another engine has bound it this moment
        }
        window.key = rkey;
        if (before != null) {
            watches.unbound(before.key());
        }
        return MemoryVerdict.OK;
    }

    /// Withdraws the type 2 window of this key (local invalidate, SEND with invalidate).
    MemoryVerdict invalidate(int rkey, int domain, int qpn) {
        Keyed keyed = Keyed.find(keys, rkey);
        if (keyed == null) {
            return MemoryVerdict.NO_SUCH_KEY;
        }
        if (keyed.protectionDomain != domain) {
            return MemoryVerdict.WRONG_DOMAIN;
        }
        if (!(keyed instanceof Window window) || window.type != 2) {
            return MemoryVerdict.NOT_ALLOWED;
        }
        Window.Binding binding = window.binding();
        if (binding == null) {
            return MemoryVerdict.NOT_BOUND;
        }
        if (binding.qpn() != qpn) {
            return MemoryVerdict.WRONG_QUEUE_PAIR;
        }
        if (!window.rebind(binding, null)) {
            return MemoryVerdict.NOT_BOUND;
        }
        watches.unbound(binding.key());
        return MemoryVerdict.OK;
    }
}
