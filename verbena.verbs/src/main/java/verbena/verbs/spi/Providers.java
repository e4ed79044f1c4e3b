package verbena.verbs.spi;

import java.util.ServiceLoader;
import verbena.verbs.Preview;

/// The providers of devices in this process. It has no state, and any thread may use it.
///
/// @since 0.1
@Preview
public final class Providers {
    private Providers() {}

    /// Returns the providers that the class loader of Verbena finds. Each is loaded when the iteration reaches it.
    ///
    /// Only when there are none, it asks the thread's context class loader. That one belongs to the program and may
    /// do anything. Spark's loads classes over a connection, and the thread that makes this connection must not
    /// wait for it.
    ///
    /// Where all code is in modules, it asks the modules alone. A class loader would search each of their files
    /// again, for a list that only a class path needs.
    public static ServiceLoader<Provider> all() {
        ModuleLayer layer = Providers.class.getModule().getLayer();
        if (layer != null && System.getProperty("java.class.path", "").isEmpty()) {
            return ServiceLoader.load(layer, Provider.class);
        }
        ServiceLoader<Provider> own = ServiceLoader.load(Provider.class, Providers.class.getClassLoader());
        return own.iterator().hasNext() ? own : ServiceLoader.load(Provider.class);
    }
}
