package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.util.Enumeration;
import org.junit.jupiter.api.Test;
import verbena.verbs.Context;
import verbena.verbs.Device;

/// Devices are found without the class loader of the program. Spark's fetches classes over a connection: the
/// thread that made this connection asked it for providers, and both waited for each other.
class ProvidersTest {
    /// A class loader that must not be asked for anything.
    private static final class Untouchable extends ClassLoader {
        private Untouchable() {
            super(null);
        }

        @Override
        protected Class<?> findClass(String name) {
            throw new AssertionError("asked for the class " + name);
        }

        @Override
        public URL getResource(String name) {
            throw new AssertionError("asked for " + name);
        }

        @Override
        public Enumeration<URL> getResources(String name) {
            throw new AssertionError("asked for all " + name);
        }
    }

    @Test
    void theProgramsClassLoaderIsNotAsked() {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(new Untouchable());
        try (Context device = Device.named("rocev2").open()) {
            assertThat(device.device().name()).startsWith("rocev2");
            assertThat(Device.list())
                    .isNotEmpty()
                    .allSatisfy(each -> assertThat(each).hasToString(each.name()));
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}
