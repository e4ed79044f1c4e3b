package verbena.tools.weak;

import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import verbena.check.device.CheckProvider;
import verbena.verbs.Device;
import verbena.verbs.internal.DeviceLayer;
import verbena.verbs.spi.Provider;

/// The layer of a process in which every device is checked, and weak where it can be. So programs need no change to
/// run on weak devices.
public final class WeakLayer implements DeviceLayer {
    private static final List<Provider> PROVIDERS = ServiceLoader.load(Provider.class).stream()
            .map(ServiceLoader.Provider::get)
            .toList();

    private static volatile WeakScene scene = new WeakScene("card", 0, false);

    /// Creates the layer; [ServiceLoader] does.
    public WeakLayer() {}

    /// Has devices that are opened from now on belong to a scene.
    static void use(WeakScene next) {
        scene = next;
    }

    @Override
    public Device over(Device device) {
        WeakScene now = scene;
        return CheckProvider.over(device.name(), now.device(device), now.checker());
    }

    static Device named(String name) {
        return PROVIDERS.stream()
                .flatMap(provider -> provider.device(name).stream())
                .findFirst()
                .orElseThrow(() -> new AssertionError("there is no device " + name));
    }

    @Override
    public void callFrom(Supplier<long[]> here, LongFunction<Optional<StackTraceElement>> frame) {
        // Programs in C have the usual layer.
    }

    @Override
    public void printFindings() {
        // The campaign reports after each program.
    }
}
