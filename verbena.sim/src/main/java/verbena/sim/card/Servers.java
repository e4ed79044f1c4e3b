package verbena.sim.card;

/// Some equal servers, taken in turn. It is what units, tags, credits and pipes are: each knows when it is free.
final class Servers {
    private final long[] free;
    private int next;
    private long busy;

    Servers(int count) {
        free = new long[count];
    }

    /// Occupies the next server.
    ///
    /// @return when the service ends
    long take(long now, long service) {
        long end = Math.max(now, free[next]) + service;
        free[next] = end;
        busy += service;
        next = next + 1 == free.length ? 0 : next + 1;
        return end;
    }

    /// Returns the sum of all services, for one server.
    long busy() {
        return busy / free.length;
    }
}
