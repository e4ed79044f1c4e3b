package verbena.transport.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// A memory window as the protocol sees it. Bound and unbound by engines only; several of them may look at it at
/// once, so a binding is replaced as a whole.
public final class Window extends Keyed {
    private static final VarHandle BINDING;

    static {
        try {
            BINDING = MethodHandles.lookup().findVarHandle(Window.class, "binding", Binding.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /// The memory that a window opens.
    ///
    /// @param key by which it is opened; a later binding has another
    /// @param qpn type 2: the queue pair that bound it
    record Binding(int key, Region region, long address, long length, int access, boolean zeroBased, int qpn) {}

    final int type;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private volatile @Nullable Binding binding;

    public Window(int protectionDomain, int type) {
        super(protectionDomain);
        this.type = type;
    }

    public int type() {
        return type;
    }

    /// Returns its key when it is bound with these low 8 bits; the upper 24 are its own (IBTA 10.6.7.2).
    public int keyOf(int variant) {
        return (key & ~0xFF) | (variant & 0xFF);
    }

    public boolean isBound() {
        return binding != null;
    }

    @Nullable
    Binding binding() {
        return binding;
    }

    /// Exchanges the binding, and counts the regions' windows; false when another engine has done so first.
    boolean rebind(@Nullable Binding from, @Nullable Binding to) {
        if (!BINDING.compareAndSet(this, from, to)) {
            return false;
        }
        if (to != null) {
            to.region.countWindows(1);
        }
        if (from != null) {
            from.region.countWindows(-1);
        }
        return true;
    }
}
