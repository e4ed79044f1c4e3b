package verbena.tools.files;

import java.util.concurrent.atomic.LongAdder;

/// The counts of a transfer, for one line about it.
class Tally implements TransferListener {
    private static final double NANOS = 1e9;

    private final long start = System.nanoTime();
    private final LongAdder files = new LongAdder();
    private final LongAdder same = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final LongAdder moved = new LongAdder();

    @Override
    public void moved(long bytes) {
        moved.add(bytes);
    }

    @Override
    public void done(String name, long size) {
        files.increment();
    }

    @Override
    public void same(String name, long size) {
        same.increment();
    }

    @Override
    public void would(String name, long size) {
        files.increment();
    }

    @Override
    public void failed(String name, String why) {
        failures.increment();
    }

    final long movedBytes() {
        return moved.sum();
    }

    final long failures() {
        return failures.sum();
    }

    final double seconds() {
        return (System.nanoTime() - start) / NANOS;
    }

    @Override
    public String toString() {
        double seconds = seconds();
        return counted(files.sum()) + ", " + Sizes.bytes(moved.sum()) + " in " + Sizes.seconds(seconds) + ", "
                + Sizes.bytes(moved.sum() / Math.max(seconds, 1e-9)) + "/s"
                + (same.sum() == 0 ? "" : ", " + same.sum() + " were there already")
                + (failures.sum() == 0 ? "" : ", " + failures.sum() + " failed");
    }

    private static String counted(long files) {
        return files == 1 ? "1 file" : files + " files";
    }
}
