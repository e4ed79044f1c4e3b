package verbena.nio;

import java.io.IOException;
import java.nio.channels.Selector;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;
import verbena.stream.StreamDevices;
import verbena.verbs.Context;
import verbena.verbs.spi.Waiter;

/// How a selecting thread sleeps: at the device of its streams, where it watches the kernel's channels too. Without
/// streams, or when other threads of the process sleep at the device, it sleeps in the selector of the JDK's.
/// [Decision 0101](../../../../../../docs/decisions/0101-one-selector-for-both.md) says why no wake-up is lost.
///
/// By the selecting thread, except where a method allows another.
final class SelectorSleep {
    private enum Place {
        /// It is awake, or has to ask once more before it sleeps.
        NONE,
        DEVICE,
        KERNEL
    }

    private final Selector inner;
    private final BooleanSupplier isOver;
    /// With a channel below that the kernel tells about. Any thread adds.
    private final List<RdmaKey> kernelKeys = new CopyOnWriteArrayList<>();

    private volatile Place place = Place.NONE;
    private volatile @Nullable Waiter waiter;
    /// The device of the stream that was ready last.
    private @Nullable Context device;

    private int streams;

    /// @param inner of the JDK's
    /// @param isOver whether there is a reason to be awake. A thread that makes it true calls [#wake()] afterwards
    SelectorSleep(Selector inner, BooleanSupplier isOver) {
        this.inner = inner;
        this.isOver = isOver;
    }

    // ---- what there is to wait for

    /// Any thread.
    void addKernel(RdmaKey key) {
        kernelKeys.add(key);
    }

    boolean hasKernel() {
        return !kernelKeys.isEmpty();
    }

    void addStream() {
        streams++;
    }

    void remove(RdmaKey key) {
        kernelKeys.remove(key);
        if (key.isStream && --streams == 0) {
            device = null;
            waiter = null;
        }
    }

    /// A stream was ready: its device is where the next sleep is.
    void found(StreamChannel stream) {
        Context its = stream.context();
        if (its != device) {
            device = its;
            waiter = StreamDevices.waiter(its, isOver);
        }
    }

    // ---- sleeping

    /// Ends the sleep, if there is one. Any thread.
    void wake() {
        switch (place) {
            case NONE -> {}
            case DEVICE -> {
                Waiter at = waiter;
                if (at != null) {
                    at.wake();
                }
            }
            case KERNEL -> inner.wakeup();
        }
    }

    /// Sleeps, at most so long; it may end early. Returns whether the kernel may have something to tell.
    boolean sleep(long nanos) throws IOException {
        Waiter at = waiter;
        if (at == null) {
            return sleepInKernel(nanos);
        }
        if (watchKernel(at)) {
            place = Place.DEVICE; // before it asks whether to sleep: see wake()
            try {
                if (at.await(nanos)) {
                    return at.isReady();
                }
            } finally {
                place = Place.NONE;
            }
        }
        at.parked(1);
        try {
            return sleepInKernel(nanos);
        } finally {
            at.parked(-1);
        }
    }

    private boolean watchKernel(Waiter at) {
        at.watchNone();
        for (int i = 0; i < kernelKeys.size(); i++) {
            if (!kernelKeys.get(i).watch(at)) {
                return false;
            }
        }
        return true;
    }

    private boolean sleepInKernel(long nanos) throws IOException {
        place = Place.KERNEL; // before the question: see wake()
        try {
            if (isOver.getAsBoolean()) {
                return false;
            }
            int _ = nanos == Long.MAX_VALUE
                    ? inner.select()
                    : inner.select(Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos + 999_999)));
            return true;
        } finally {
            place = Place.NONE;
        }
    }
}
