package verbena.check;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import verbena.check.TrackedRequest.Flag;
import verbena.verbs.internal.Providers;
import verbena.verbs.spi.SendOperation;

/// A recorder of what a program posts, registers and waits for, which `verbena card predict` reads. When the process
/// ends it writes a text:
///
///     recording 1
///     region BYTES
///     post THREAD GAP-NANOS TAKEN REQUESTS
///     request OPERATION BYTES INLINE SIGNALED PAIR REGION ADDRESS
///     sleeps COUNT
///     left-out REQUESTS
///
/// A gap is the time since the last call of the thread to the verbs ended. `TAKEN` is how many completions of the
/// thread's requests had been taken before the post, by any thread. Any thread.
public final class Recorder extends Watcher {
    /// The number of requests that are kept.
    static final int REQUESTS_MAX = 200_000;

    private final Path folder;
    private final List<String> lines = new ArrayList<>();
    private final Map<Thread, Course> courses = new ConcurrentHashMap<>();
    private final Map<TrackedRequest, Course> underWay = new ConcurrentHashMap<>();
    private int requests;
    private long leftOut;
    private long sleeps;

    /// The course of a thread.
    private static final class Course {
        final int number;
        /// The end of the last call.
        long left = System.nanoTime();

        final AtomicLong taken = new AtomicLong();

        Course(int number) {
            this.number = number;
        }
    }

    /// @param folder where the file goes, under the number of the process
    public Recorder(Path folder) {
        super(Set.of(
                Event.SUBMIT,
                Event.SUBMITTED,
                Event.END,
                Event.DROP,
                Event.REGISTER,
                Event.POLL,
                Event.WAIT,
                Event.EXIT));
        this.folder = folder;
    }

    private synchronized Course course() {
        return courses.computeIfAbsent(Thread.currentThread(), _ -> new Course(courses.size()));
    }

    @Override
    public void onSubmit(TrackedPair pair, List<TrackedRequest> posted) {
        Course course = course();
        long now = System.nanoTime(); // after the first call of a thread has begun its course
        synchronized (this) {
            if (requests + posted.size() > REQUESTS_MAX) {
                leftOut += posted.size();
                return;
            }
            requests += posted.size();
            lines.add("post " + course.number + " " + (now - course.left) + " " + course.taken.get() + " "
                    + posted.size());
            for (TrackedRequest request : posted) {
                lines.add(line(pair, request));
                if (request.has(Flag.SIGNALED)) {
                    underWay.put(request, course);
                }
            }
        }
    }

    private static String line(TrackedPair pair, TrackedRequest request) {
        SendOperation operation = request.operation();
        String word = operation == null
                ? "send"
                : operation.isAtomic()
                        ? "atomic"
                        : switch (operation) {
                            case READ -> "read";
                            case WRITE, WRITE_WITH_IMMEDIATE -> "write";
                            default -> "send";
                        };
        return "request " + word + " " + request.bytes() + " " + request.isInline() + " " + request.has(Flag.SIGNALED)
                + " " + pair.qpn() + " " + request.rkey() + " " + request.remoteAddress();
    }

    @Override
    public void onSubmitted(TrackedPair pair) {
        course().left = System.nanoTime();
    }

    @Override
    public void onEnd(TrackedRequest request, boolean isOk) {
        Course poster = underWay.remove(request);
        if (poster != null) {
            poster.taken.incrementAndGet();
        }
        course().left = System.nanoTime();
    }

    @Override
    public void onDrop(TrackedRequest request) {
        underWay.remove(request);
    }

    @Override
    public void onPoll(TrackedQueue queue, boolean found) {
        course().left = System.nanoTime();
    }

    @Override
    public synchronized void onWait(List<TrackedQueue> queues, boolean isAll) {
        sleeps++;
    }

    @Override
    public synchronized void onRegister(TrackedRegion region) {
        lines.add("region " + region.region().length());
    }

    @Override
    public synchronized void onExit(List<TrackedDevice> open) {
        var text = new ArrayList<String>();
        text.add("recording 1");
        text.addAll(lines);
        text.add("sleeps " + sleeps);
        text.add("left-out " + leftOut);
        try {
            Files.write(folder.resolve(ProcessHandle.current().pid() + ".recording"), text);
        } catch (IOException e) {
            throw new UncheckedIOException(Providers.LAYER + ": record: " + e.getMessage(), e);
        }
    }
}
