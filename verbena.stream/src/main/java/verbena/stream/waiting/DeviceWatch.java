package verbena.stream.waiting;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.Context;
import verbena.verbs.InvalidStateException;
import verbena.verbs.WaitSource;
import verbena.verbs.internal.DeviceWait;
import verbena.verbs.internal.WaitableChannel;

/// The notifications of a device, passed on to its streams. All streams of the process on one device share a
/// completion channel, which is closed after the last of them.
public final class DeviceWatch {
    private static final Map<Context, DeviceWatch> ALL = new HashMap<>();
    private static volatile boolean hasStreams;

    private final Context context;
    private final CompletionChannel channel;
    private final Map<CompletionQueue, Seat> seats = new ConcurrentHashMap<>();

    // Guarded by the class.
    private int streams;
    private boolean isTold;

    private DeviceWatch(Context context) {
        this.context = context;
        this.channel = context.createCompletionChannel();
    }

    /// A stream that is connected, when the process ends.
    public interface Stream {
        /// Announces to the peer that nothing more comes, if there is time for that.
        void sayLast(long nanos) throws InterruptedException;

        /// Waits until the peer has all that was written.
        void awaitLast(long nanos) throws InterruptedException;
    }

    /// The place of one stream.
    public static final class Seat implements AutoCloseable {
        private final DeviceWatch watch;
        private @Nullable CompletionQueue queue;
        private volatile boolean isArmed;
        private volatile @Nullable Runnable listener;
        private volatile @Nullable Stream stream;

        private Seat(DeviceWatch watch) {
            this.watch = watch;
        }

        /// Makes the stream's completion queue, once.
        public CompletionQueue createQueue(int entries) {
            CompletionQueue made = watch.context.createCompletionQueue(
                    CompletionQueueOptions.of(entries).withChannel(watch.channel));
            queue = made;
            watch.seats.put(made, this);
            return made;
        }

        /// Sets the stream of this place when it is connected.
        public void take(Stream made) {
            stream = made;
        }

        /// Sets a listener that runs after each notification.
        public void listen(Runnable to) {
            listener = to;
            watch.begin();
        }

        /// Returns the place where a [verbena.verbs.Waiter] waits for the streams of the device; empty when
        /// it has to wait elsewhere.
        public Optional<WaitSource.Place> place() {
            return watch.channel.waitSource().place();
        }

        /// Returns whether a notification is to come. When none is, the caller arms the queue and calls
        /// [#armed].
        public boolean isArmed() {
            return isArmed;
        }

        /// Notes that the queue is armed.
        public void armed() {
            isArmed = true;
        }

        /// Runs the listener, if there is one.
        public void tell() {
            Runnable to = listener;
            if (to != null) {
                to.run();
            }
        }

        /// Leaves the device, when the stream has closed its queue or has not made one.
        @Override
        public void close() {
            CompletionQueue own = queue;
            if (own != null) {
                watch.seats.remove(own);
            }
            watch.leave();
        }
    }

    /// Returns a place at the device, for one stream.
    public static Seat join(Context context) {
        hasStreams = true;
        synchronized (ALL) {
            DeviceWatch watch = ALL.computeIfAbsent(context, DeviceWatch::new);
            watch.streams++;
            return new Seat(watch);
        }
    }

    private void leave() {
        synchronized (ALL) {
            if (--streams == 0) {
                ALL.remove(context);
                channel.close();
            }
        }
    }

    /// Begins to take notifications, when the first stream wants them.
    private void begin() {
        synchronized (ALL) {
            if (!isTold && streams > 0) {
                isTold = true;
                channel.waitSource().addListener(this::bring);
            }
        }
        bring(); // what came before
    }

    /// Passes notifications on to the streams. The thread that works for the device calls this, and may be in the
    /// middle of any call.
    private void bring() {
        Optional<CompletionQueue> next = take();
        while (next.isPresent()) {
            bring(next.get());
            next = take();
        }
    }

    private Optional<CompletionQueue> take() {
        if (channel instanceof WaitableChannel working) {
            return working.take();
        }
        try {
            return channel.poll();
        } catch (InvalidStateException e) {
            return Optional.empty(); // the last stream has gone
        }
    }

    private void bring(CompletionQueue notified) {
        Seat seat = seats.get(notified);
        if (seat != null) {
            seat.isArmed = false;
            seat.tell();
        }
    }

    /// Returns a thread that waits at a device that streams use; null when the device cannot have one.
    public static @Nullable DeviceWait waiter(Context at, BooleanSupplier isOver) {
        synchronized (ALL) {
            DeviceWatch watch = ALL.get(at);
            return watch != null && watch.channel instanceof WaitableChannel waiting ? waiting.waiter(isOver) : null;
        }
    }

    private static List<DeviceWatch> all() {
        synchronized (ALL) {
            return List.copyOf(ALL.values());
        }
    }

    /// Returns whether there is a stream, or was one, or is to be one.
    static boolean hasStreams() {
        return hasStreams;
    }

    /// Returns the streams that are connected.
    static List<Stream> streams() {
        return all().stream()
                .flatMap(watch -> watch.seats.values().stream())
                .map(seat -> seat.stream)
                .filter(Objects::nonNull)
                .toList();
    }
}
