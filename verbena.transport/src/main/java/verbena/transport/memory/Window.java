package verbena.transport.memory;

import org.jspecify.annotations.Nullable;

/// A memory window as the protocol sees it. Bound and unbound by the engine only.
public final class Window extends Keyed {
    final int type;

    volatile @Nullable Region region;
    long address;
    long length;
    int access;
    boolean zeroBased;
    /// Type 2: the queue pair that bound it.
    int qpn;

    public Window(int protectionDomain, int type) {
        super(protectionDomain);
        this.type = type;
    }

    public int type() {
        return type;
    }

    public boolean isBound() {
        return region != null;
    }
}
