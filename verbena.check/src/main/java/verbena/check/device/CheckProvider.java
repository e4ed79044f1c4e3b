package verbena.check.device;

import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.CheckOptions;
import verbena.check.Checker;
import verbena.check.Recorder;
import verbena.check.Rule;
import verbena.check.Watcher;
import verbena.check.Watcher.Event;
import verbena.check.rules.Watchers;
import verbena.verbs.Device;
import verbena.verbs.internal.DeviceLayer;
import verbena.verbs.internal.Providers;
import verbena.verbs.internal.QueryableDevice;
import verbena.verbs.spi.Provider;

/// Devices with the layer of checks in front: `check:NAME` for any device by its name, and every device when the
/// process is checked as a whole ([Providers#LAYER]).
public final class CheckProvider implements Provider, DeviceLayer {
    private static final String PREFIX = "check:";

    /// The checker of the process, made when the first device is.
    private static final class OfProcess {
        /// Null before the first device.
        private static @Nullable OfProcess made;

        private final AtomicBoolean isTold = new AtomicBoolean();
        private final CheckOptions options;
        final Checker checker;

        private OfProcess(CheckOptions options) {
            this.options = options;
            this.checker = new Checker(options.rules(), this::watchers);
        }

        /// Returns that of this process.
        ///
        /// @throws IllegalArgumentException when an option of the process is wrong; the next call tries again
        static synchronized OfProcess get() {
            OfProcess known = made;
            if (known == null) {
                known = new OfProcess(CheckOptions.ofProcess());
                Runtime.getRuntime().addShutdownHook(new Thread(known::halt, "verbena-check"));
                made = known;
            }
            return known;
        }

        private List<Watcher> watchers(Set<Rule> on, Checker checker) {
            List<Watcher> all = Watchers.of(on, checker, options);
            options.recording().ifPresent(folder -> all.add(new Recorder(folder)));
            return all;
        }

        /// Reports once.
        ///
        /// @return the status that the process is to end with; 0 when it is to be its own
        int report() {
            if (!isTold.compareAndSet(false, true)) {
                return 0;
            }
            checker.hear(Event.EXIT, watcher -> watcher.onExit(checker.devices()));
            return options.report(checker.findings(), new PrintWriter(System.err, false, System.err.charset()));
        }

        private void halt() {
            int status = report();
            if (status != 0) {
                Runtime.getRuntime().halt(status); // a hook cannot change the status in another way
            }
        }
    }

    /// Creates the provider; [java.util.ServiceLoader] does.
    public CheckProvider() {}

    /// Returns a device with the layer in front.
    public static Device over(String name, Device device, Checker checker) {
        if (device instanceof QueryableDevice) { // no conditional: to verify one, the JVM would load both classes
            return new QueryableCheckedDevice(name, (Device & QueryableDevice) device, checker);
        }
        return new CheckedDevice(name, device, checker);
    }

    @Override
    public String kind() {
        return "check";
    }

    @Override
    public List<Device> devices() {
        return List.of();
    }

    @Override
    public Optional<Device> device(String name) {
        if (!name.startsWith(PREFIX)) {
            return Optional.empty();
        }
        String inner = name.substring(PREFIX.length());
        for (Provider each : Providers.all()) {
            Optional<Device> device = each.device(inner);
            if (device.isPresent()) {
                return Optional.of(over(name, below(device.get()), OfProcess.get().checker));
            }
        }
        return Optional.empty();
    }

    /// Removes a layer: two would tell everything twice.
    static Device below(Device device) {
        return device instanceof CheckedDevice checked ? checked.inner() : device;
    }

    @Override
    public Device over(Device device) {
        return device instanceof CheckedDevice ? device : over(device.name(), device, OfProcess.get().checker);
    }

    @Override
    public void callFrom(Supplier<long[]> here, LongFunction<Optional<StackTraceElement>> frame) {
        CallPlace.callFrom(here, frame);
    }

    @Override
    public void printFindings() {
        int _ = OfProcess.get().report();
    }
}
