package verbena.verbs.spi;

import java.util.ServiceLoader;
import verbena.verbs.Preview;

/// The providers of devices that there are.
@Preview
public final class Providers {
    private Providers() {}

    /// Returns the providers that the class loader of Verbena sees; only where it sees none, those of the thread's
    /// context class loader. That one is the program's, and may do anything: Spark's fetches classes over a
    /// connection, and the thread that makes this connection must not wait for it. Each provider is loaded when it
    /// is come to.
    ///
    /// Where all code is in modules, the modules are asked alone. A class loader would look into each of their
    /// files once more, for a list that only a class path needs.
    public static ServiceLoader<Provider> all() {
        ModuleLayer layer = Providers.class.getModule().getLayer();
        if (layer != null && System.getProperty("java.class.path", "").isEmpty()) {
            return ServiceLoader.load(layer, Provider.class);
        }
        ServiceLoader<Provider> own = ServiceLoader.load(Provider.class, Providers.class.getClassLoader());
        return own.iterator().hasNext() ? own : ServiceLoader.load(Provider.class);
    }
}
