package verbena.nio;

import java.io.IOException;
import java.nio.channels.Selector;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import verbena.stream.StreamChannel;
import verbena.stream.waiting.StreamSleep;
import verbena.verbs.internal.DeviceWait;

/// The sleep of a selecting thread: at the device of its streams, where it watches the kernel's channels too, or in
/// the selector of the JDK's.
///
/// By the selecting thread, except where a method allows another.
final class SelectorSleep implements StreamSleep.Elsewhere {
    private final Selector inner;
    private final StreamSleep sleep;
    /// The keys with a channel below whose events the kernel reports. Any thread adds.
    private final List<RdmaKey> kernelKeys = new CopyOnWriteArrayList<>();

    /// @param inner of the JDK's
    /// @param isOver as [StreamSleep] has it
    SelectorSleep(Selector inner, BooleanSupplier isOver) {
        this.inner = inner;
        this.sleep = new StreamSleep(this, isOver);
    }

    // ---- what there is to wait for

    /// Adds a key with a channel of the kernel. Any thread.
    void addKernel(RdmaKey key) {
        kernelKeys.add(key);
    }

    void removeKernel(RdmaKey key) {
        kernelKeys.remove(key);
    }

    boolean hasKernel() {
        return !kernelKeys.isEmpty();
    }

    void addStream() {
        sleep.add();
    }

    void removeStream() {
        sleep.remove();
    }

    void remove(RdmaKey key) {
        kernelKeys.remove(key);
        if (key.isStream) {
            sleep.remove();
        }
    }

    void found(StreamChannel stream) {
        sleep.found(stream.context());
    }

    // ---- sleeping

    /// Ends the sleep, if there is one. Any thread.
    void end() {
        sleep.wake();
    }

    /// Sleeps as [StreamSleep#sleep] does; the other place is the kernel.
    boolean begin(long nanos) throws IOException {
        return sleep.sleep(nanos);
    }

    @Override
    public boolean watch(DeviceWait at) {
        for (int i = 0; i < kernelKeys.size(); i++) {
            if (!kernelKeys.get(i).watch(at)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void sleep(long nanos) throws IOException {
        int _ = nanos == Long.MAX_VALUE
                ? inner.select()
                : inner.select(Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos + 999_999)));
    }

    @Override
    public void wake() {
        inner.wakeup();
    }
}
