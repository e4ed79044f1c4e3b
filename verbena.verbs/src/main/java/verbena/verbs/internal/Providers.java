package verbena.verbs.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import verbena.verbs.Device;
import verbena.verbs.Gid;
import verbena.verbs.spi.Provider;

/// The providers of devices in this process. It has no state, and any thread may use it.
public final class Providers {
    /// The system property that puts a [DeviceLayer] in front of every device of the process, when it is neither
    /// `off` nor empty; the environment variable `VERBENA_CHECK` does the same.
    public static final String LAYER = "verbena.check";

    private static final boolean IS_LAYERED = !layer().isEmpty() && !layer().equals("off");

    private Providers() {}

    /// Returns the value of the property, or else of the variable; empty when neither is set.
    public static String layer() {
        String variable = System.getenv("VERBENA_CHECK");
        return System.getProperty(LAYER, variable == null ? "" : variable).strip();
    }

    /// Returns the providers that the class loader of Verbena finds. Each is loaded when the iteration reaches it.
    ///
    /// Only when there are none, it asks the thread's context class loader. That one belongs to the program and may
    /// do anything. Spark's loads classes over a connection, and the thread that makes this connection must not
    /// wait for it.
    ///
    /// Where all code is in modules, it asks the modules alone. A class loader would search each of their files
    /// again, for a list that only a class path needs.
    public static Iterable<Provider> all() {
        return IS_LAYERED ? layered() : found(Provider.class);
    }

    /// Tells the layer, if there is one, that the program is not Java ([DeviceLayer#callFrom]).
    ///
    /// @return whether there is one
    public static boolean callFrom(Supplier<long[]> here, LongFunction<Optional<StackTraceElement>> frame) {
        if (IS_LAYERED) {
            found(DeviceLayer.class).findFirst().ifPresent(layer -> layer.callFrom(here, frame));
        }
        return IS_LAYERED;
    }

    /// Makes the layer, if there is one, print its findings, because the process ends without the JVM's own
    /// shutdown.
    public static void printFindings() {
        if (IS_LAYERED) {
            found(DeviceLayer.class).findFirst().ifPresent(DeviceLayer::printFindings);
        }
    }

    private static <S> ServiceLoader<S> found(Class<S> service) {
        ModuleLayer layer = Providers.class.getModule().getLayer();
        if (layer != null && System.getProperty("java.class.path", "").isEmpty()) {
            return ServiceLoader.load(layer, service);
        }
        ServiceLoader<S> own = ServiceLoader.load(service, Providers.class.getClassLoader());
        return own.iterator().hasNext() ? own : ServiceLoader.load(service);
    }

    private static List<Provider> layered() {
        DeviceLayer layer = found(DeviceLayer.class)
                .findFirst()
                .orElseThrow(() -> new ServiceConfigurationError(LAYER + " is set to \"" + layer()
                        + "\", but no module brings a layer: put verbena.check on the module path"));
        List<Provider> all = new ArrayList<>();
        found(Provider.class).forEach(each -> all.add(new Layered(each, layer)));
        return all;
    }

    /// A provider whose devices have a layer in front.
    private record Layered(Provider inner, DeviceLayer layer) implements Provider {
        @Override
        public String kind() {
            return inner.kind();
        }

        @Override
        public List<Device> devices() {
            return inner.devices().stream().map(layer::over).toList();
        }

        @Override
        public Optional<Device> device(String name) {
            return inner.device(name).map(layer::over);
        }

        @Override
        public boolean isOfSystem() {
            return inner.isOfSystem();
        }

        @Override
        public boolean isOfHost() {
            return inner.isOfHost();
        }

        @Override
        public Served served(long serviceId, Gid address) {
            return inner.served(serviceId, address);
        }
    }
}
