package verbena.nic.device;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import verbena.verbs.ResourceLimitException;

/// A counter of objects of one kind up to a limit, which also numbers them.
public final class Limit {
    private final String resource;
    private final int max;
    private final AtomicInteger inUse = new AtomicInteger();
    private final AtomicInteger number = new AtomicInteger();

    Limit(String resource, int max) {
        this.resource = resource;
        this.max = max;
    }

    /// Makes an object with its number, counted from 1. An object that could not be made does not count.
    ///
    /// @throws ResourceLimitException when there are none left
    <T> T take(String verb, IntFunction<T> make) {
        if (inUse.incrementAndGet() > max) {
            inUse.decrementAndGet();
            throw new ResourceLimitException(verb, resource, max, "all are in use; close some");
        }
        boolean made = false;
        try {
            T object = make.apply(number.incrementAndGet());
            made = true;
            return object;
        } finally {
            if (!made) {
                inUse.decrementAndGet();
            }
        }
    }

    /// Returns how many objects there are.
    public int inUse() {
        return inUse.get();
    }

    void giveBack() {
        inUse.decrementAndGet();
    }
}
