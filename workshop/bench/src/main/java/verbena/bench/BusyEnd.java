package verbena.bench;

import java.util.Map;

/// A thread that wants a processor all the time, and reports how much time it got. It shows the effect of a spinning
/// program on its neighbours.
final class BusyEnd implements WorkerEnd {
    private static final int STEPS = 1_000;

    private volatile boolean stopped = true;
    private volatile long steps;

    /// Orders are `go`, and `stop`, which returns how far the thread came.
    @Override
    public Object order(String[] words) {
        if (words[0].equals("stop")) {
            stopped = true;
            return Map.of("steps", steps);
        }
        stopped = false;
        steps = 0;
        Thread.ofPlatform().daemon().start(this::spin);
        return Map.of();
    }

    private void spin() {
        long count = 0;
        long value = 1;
        while (!stopped) {
            for (int i = 0; i < STEPS; i++) {
                value = value * 6_364_136_223_846_793_005L + 1;
            }
            count += value == 0 ? 2 : 1; // so that no compiler leaves out the multiplications
            steps = count;
        }
    }
}
