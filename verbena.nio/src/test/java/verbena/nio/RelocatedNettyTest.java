package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RelocatedNettyTest {
    private static void load(@Nullable String name) {
        assertThat(new RelocatedNetty().transform(null, name, null, null, new byte[0]))
                .as("the class stays as it is")
                .isNull();
    }

    @Test
    void aNettyWithAPrefixHasItsNativeTransportTurnedOffWhenItAsksForIt() {
        load("org/one/shaded/io/netty/channel/epoll/Epoll");
        assertThat(System.getProperty("org.one.shaded.io.netty.transport.noNative"))
                .isEqualTo("true");
    }

    @Test
    void whatTheUserHasSetStays() {
        System.setProperty("org.two.shaded.io.netty.transport.noNative", "false");
        load("org/two/shaded/io/netty/channel/uring/IoUring");
        assertThat(System.getProperty("org.two.shaded.io.netty.transport.noNative"))
                .isEqualTo("false");
    }

    @Test
    void otherClassesSayNothing() {
        load("org/three/io/netty/channel/epoll/EpollChannel");
        load(null);
        assertThat(System.getProperty("org.three.io.netty.transport.noNative")).isNull();
    }
}
