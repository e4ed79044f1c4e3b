package verbena.verbs.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.verbs.Device;
import verbena.verbs.spi.Provider;

/// This room has no provider, so the program's class loader is asked.
class ProvidersTest {
    @TempDir
    private Path folder;

    /// What the program's class loader finds.
    public static final class OfTheProgram implements Provider {
        @Override
        public String kind() {
            return "program's";
        }

        @Override
        public List<Device> devices() {
            return List.of();
        }

        @Override
        public Optional<Device> device(String name) {
            return Optional.empty();
        }
    }

    @Test
    void whereVerbenaSeesNoneTheProgramsClassLoaderFindsThem() throws Exception {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(services.resolve(Provider.class.getName()), OfTheProgram.class.getName());
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (var program = new URLClassLoader(new URL[] {folder.toUri().toURL()}, before)) {
            assertThat(Providers.all()).isEmpty();
            thread.setContextClassLoader(program);
            assertThat(Providers.all()).extracting(Provider::kind).containsExactly("program's");
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}
