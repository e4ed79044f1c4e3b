package verbena.nic;

import java.util.concurrent.atomic.AtomicInteger;
import verbena.verbs.ResourceLimitException;

/// Counts objects of one kind up to a limit, and numbers them.
final class Limit {
    private final String resource;
    private final int max;
    private final AtomicInteger inUse = new AtomicInteger();
    private final AtomicInteger number = new AtomicInteger();

    Limit(String resource, int max) {
        this.resource = resource;
        this.max = max;
    }

    /// Takes one and numbers it, from 1.
    ///
    /// @throws ResourceLimitException when there are none left
    int take(String verb) {
        if (inUse.incrementAndGet() > max) {
            inUse.decrementAndGet();
            throw new ResourceLimitException(verb, resource, max, "all are in use; close some");
        }
        return number.incrementAndGet();
    }

    void giveBack() {
        inUse.decrementAndGet();
    }
}
