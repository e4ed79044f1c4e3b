package verbena.nic.engine;

import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.util.Set;

/// A bell that rings when a thread is interrupted while it sleeps in a system call that Java does not know of. The
/// JDK reports such an interrupt to selectors only, so this class is a selector, which selects nothing. Used by one
/// thread at a time.
final class InterruptBell extends AbstractSelector {
    private final Runnable bell;

    /// @param bell called by the thread that interrupts
    @SuppressWarnings("NullAway") // no provider: no caller asks for it
    InterruptBell(Runnable bell) {
        super(null);
        this.bell = bell;
    }

    /// Makes an interrupt of the caller ring the bell until [#forget()]; rings at once when it is interrupted
    /// already.
    void expect() {
        begin();
    }

    void forget() {
        end();
    }

    @Override
    public Selector wakeup() {
        bell.run();
        return this;
    }

    @Override
    protected void implCloseSelector() {}

    @Override
    protected SelectionKey register(AbstractSelectableChannel channel, int operations, Object attachment) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Set<SelectionKey> keys() {
        return Set.of();
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
        return Set.of();
    }

    @Override
    public int selectNow() {
        return 0;
    }

    @Override
    public int select(long timeoutMillis) {
        return 0;
    }

    @Override
    public int select() {
        return 0;
    }
}
