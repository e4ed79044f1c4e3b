package verbena.tools.observe;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import verbena.nic.management.DeviceMXBean;
import verbena.tools.observe.Look.DeviceLook;
import verbena.tools.observe.Look.ProcessLook;

/// An observer of the processes that use Verbena. At each look it attaches to new processes, and forgets those that
/// are gone. A process that does not answer, because it is stopped perhaps, is reported and does not hold up the
/// others.
public final class Observatory implements AutoCloseable {
    private static final long ANSWER_SECONDS = 3;

    private final @Nullable Long only;
    private final Map<Long, CompletableFuture<Observed>> observed = new LinkedHashMap<>();

    /// @param only the one process to look at; null for all of this user
    public Observatory(@Nullable Long only) {
        this.only = only;
    }

    /// Returns the present state of all processes.
    ///
    /// @throws UnsupportedOperationException where the system does not tell which processes there are
    public Look look() throws InterruptedException {
        List<Long> there = only == null ? Processes.find() : List.of(only);
        observed.entrySet().removeIf(entry -> !there.contains(entry.getKey()) && close(entry.getValue()));
        for (Long pid : there) {
            observed.computeIfAbsent(pid, Observatory::attach);
        }
        var processes = new ArrayList<ProcessLook>();
        for (Long pid : there) {
            ProcessLook process = look(pid);
            if (process != null) {
                processes.add(process);
            }
        }
        return new Look(System.currentTimeMillis(), processes);
    }

    private static CompletableFuture<Observed> attach(long pid) {
        var attached = new CompletableFuture<Observed>();
        Thread.ofPlatform().daemon().name("attach-" + pid).start(() -> {
            try {
                attached.complete(Observed.attach(pid));
            } catch (IOException | RuntimeException e) {
                attached.completeExceptionally(e);
            }
        });
        return attached;
    }

    private @Nullable ProcessLook look(long pid) throws InterruptedException {
        CompletableFuture<Observed> attached = observed.get(pid);
        if (attached == null) {
            return null;
        }
        try {
            Observed process = attached.get(ANSWER_SECONDS, TimeUnit.SECONDS);
            CompletableFuture<List<DeviceLook>> devices =
                    CompletableFuture.supplyAsync(() -> devices(process), Thread::startVirtualThread);
            return new ProcessLook(pid, process.program(), null, devices.get(ANSWER_SECONDS, TimeUnit.SECONDS));
        } catch (TimeoutException _) {
            return new ProcessLook(pid, "", "does not answer", List.of());
        } catch (ExecutionException e) {
            observed.remove(pid); // the next look tries anew
            close(attached);
            return only == null
                            && !ProcessHandle.of(pid)
                                    .map(ProcessHandle::isAlive)
                                    .orElse(false)
                    ? null
                    : new ProcessLook(
                            pid,
                            "",
                            String.valueOf(
                                    e.getCause() == null ? e : e.getCause().getMessage()),
                            List.of());
        }
    }

    private static List<DeviceLook> devices(Observed process) {
        var devices = new ArrayList<DeviceLook>();
        try {
            for (Observed.ObservedDevice each : process.devices()) {
                try {
                    devices.add(look(each));
                } catch (UndeclaredThrowableException _) {
                    // it was closed this moment
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return devices;
    }

    private static DeviceLook look(Observed.ObservedDevice device) {
        DeviceMXBean bean = device.bean();
        long nanoTime = bean.getNanoTime();
        return new DeviceLook(
                device.id(),
                bean.getName(),
                bean.getTransport(),
                bean.getState(),
                nanoTime,
                bean.getGids(),
                bean.getCounters(),
                bean.getQueuePairs(),
                bean.getPeers());
    }

    /// Closes an observed process, also while the program still attaches to it.
    private static boolean close(CompletableFuture<Observed> attached) {
        var _ = attached.thenAccept(Observed::close);
        return true;
    }

    @Override
    public void close() {
        observed.values().forEach(Observatory::close);
        observed.clear();
    }
}
