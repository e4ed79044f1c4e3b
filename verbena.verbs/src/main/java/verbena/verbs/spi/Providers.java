package verbena.verbs.spi;

import java.util.List;
import java.util.ServiceLoader;

/// The providers of devices that there are.
public final class Providers {
    private Providers() {}

    /// The providers that the class loader of Verbena sees; only where it sees none, those of the thread's
    /// context class loader. That one is the program's, and may do anything: Spark's fetches classes over a
    /// connection, and the thread that makes this connection must not wait for it.
    public static List<Provider> all() {
        List<Provider> own = found(ServiceLoader.load(Provider.class, Providers.class.getClassLoader()));
        return own.isEmpty() ? found(ServiceLoader.load(Provider.class)) : own;
    }

    private static List<Provider> found(ServiceLoader<Provider> by) {
        return by.stream().map(ServiceLoader.Provider::get).toList();
    }
}
