package verbena.bench;

import org.openjdk.jmh.annotations.Benchmark;

/// What reading the clock costs: the engine does it once per cycle.
public class ClockBenchmark {
    @Benchmark
    public long nanoTime() {
        return System.nanoTime();
    }
}
