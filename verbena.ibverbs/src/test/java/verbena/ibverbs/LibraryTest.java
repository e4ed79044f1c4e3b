package verbena.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.foreign.NativeLibrary;
import verbena.foreign.linux.Errno;
import verbena.ibverbs.lib.VerbsLibrary;

/// Libraries that are not there, and libraries that are another.
class LibraryTest {
    @Test
    void aMissingLibrarySaysHowToGetIt(@TempDir Path folder) {
        assertThatThrownBy(() ->
                        VerbsLibrary.load(folder.resolve("libibverbs.so.1").toString()))
                .isInstanceOf(NativeLibrary.MissingException.class)
                .hasMessageContaining("libibverbs.so.1 cannot be loaded: install it");
    }

    @Test
    void aLibraryWithoutVerbsIsNamedWithWhatItLacks() {
        assertThatThrownBy(() -> VerbsLibrary.load("libc.so.6"))
                .isInstanceOf(NativeLibrary.MissingException.class)
                .hasMessage("libc.so.6 has no function ibv_get_device_list: rdma-core 28 or newer is needed");
    }

    @Test
    void withoutDevicesOrLibraryTheProviderIsSilent() {
        var provider = new IbverbsProvider();
        assertThat(provider.kind()).isEqualTo("ibverbs");
        assertThat(provider.device("no-such-device")).isEmpty();
        assertThat(provider.device("ibverbs@192.0.2.99")).isEmpty();
        assertThatThrownBy(() -> provider.device("ibverbs@nonsense"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is no IPv4 or IPv6 address");
    }

    @Test
    void errorsAreTextWithTheirNames() {
        assertThat(Errno.text(22)).isEqualTo("EINVAL (Invalid argument)");
        assertThat(Errno.text(4711)).isEqualTo("error 4711");
        assertThat(Errno.isUnsupported(95)).isTrue();
    }
}
