/// `verbena perf`: the measurements of perftest (`ib_write_bw` and its siblings), so alike that either end can be
/// the C program. `PerfTest` is the story of one measurement; what the ends say to each other is in `Exchange`,
/// the memory in `Layout`, the loops that measure in `BandwidthRun` and `LatencyRun`, what is printed in
/// `Printer`.
package verbena.tools.perf;
