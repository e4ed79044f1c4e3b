package verbena.tools.files;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/// What a transfer has told, by name.
final class Heard implements TransferListener {
    final Map<String, String> said = new ConcurrentSkipListMap<>();
    final AtomicLong moved = new AtomicLong();

    @Override
    public void begins(String name, long size, long kept) {
        said.put(name, kept == 0 ? "begins" : "goes on after " + kept);
    }

    @Override
    public void moved(long bytes) {
        moved.addAndGet(bytes);
    }

    @Override
    public void done(String name, long size) {
        said.merge(name, "done", (before, now) -> before.equals("begins") ? now : before + ", " + now);
    }

    @Override
    public void made(String name) {
        said.put(name, "made");
    }

    @Override
    public void same(String name, long size) {
        said.put(name, "same");
    }

    @Override
    public void would(String name, long size) {
        said.put(name, "would");
    }

    @Override
    public void leftOut(String name, String why) {
        said.put(name, "left out: " + why);
    }

    @Override
    public void failed(String name, String why) {
        said.put(name, "failed: " + why);
    }
}
