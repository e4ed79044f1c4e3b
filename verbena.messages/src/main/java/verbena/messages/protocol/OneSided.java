package verbena.messages.protocol;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The order of one-sided operations to a peer: a limited number is under way at once, and one behind a fence begins
/// when all before it are done. Without input and output. Guarded by the worker.
///
/// @param <T> an operation
public final class OneSided<T> {
    private record Waiting<T>(T operation, boolean isFenced) {}

    private final int max;
    private final ArrayDeque<Waiting<T>> waiting = new ArrayDeque<>();
    private int underWay;
    private boolean isFenced;

    /// @param max operations under way at once
    public OneSided(int max) {
        this.max = max;
    }

    public void add(T operation) {
        waiting.add(new Waiting<>(operation, isFenced));
        isFenced = false;
    }

    /// Delays everything that is added from now on until all that was added before is done.
    public void fence() {
        isFenced = true;
    }

    /// Returns the next operation to begin, which [#done()] follows; null when none may begin now.
    public @Nullable T poll() {
        Waiting<T> next = waiting.peek();
        if (next == null || underWay == max || (next.isFenced && underWay > 0)) {
            return null;
        }
        waiting.remove();
        underWay++;
        return next.operation;
    }

    /// Counts the end of an operation that was under way.
    public void done() {
        underWay--;
        assert underWay >= 0 : "more are done than began";
    }

    /// Operations that were under way, in the order in which they began, begin again before all others.
    public void again(List<T> operations) {
        underWay -= operations.size();
        assert underWay >= 0 : "more begin again than began";
        operations.reversed().forEach(each -> waiting.addFirst(new Waiting<>(each, false)));
    }

    public boolean isIdle() {
        return waiting.isEmpty() && underWay == 0;
    }

    /// Gives up those that have not begun.
    public List<T> drop() {
        var dropped = new ArrayList<T>();
        waiting.forEach(each -> dropped.add(each.operation));
        waiting.clear();
        return dropped;
    }
}
