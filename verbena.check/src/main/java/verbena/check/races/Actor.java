package verbena.check.races;

import java.util.function.BooleanSupplier;

/// An actor in a race, which acts in an order of its own: a thread, or a process whose threads count as one.
public final class Actor {
    final int component;
    final Clock clock = new Clock();

    private BooleanSupplier isOver = () -> false;

    Actor(int component) {
        this.component = component;
        clock.raise(component, 1);
    }

    /// Sets what says that it acts no more.
    public void isOverWhen(BooleanSupplier of) {
        isOver = of;
    }

    boolean isOver() {
        return isOver.getAsBoolean();
    }

    /// Returns the number of its present step.
    long epoch() {
        return clock.get(component);
    }

    /// Begins a new step, as others may know all before it.
    void step() {
        clock.raise(component, epoch() + 1);
    }
}
