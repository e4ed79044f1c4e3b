package verbena.netty;

import io.netty.channel.ChannelOption;
import java.time.Duration;
import verbena.verbs.Context;

/// Options of Verbena's channels that sockets do not have. Set them before connecting or binding. The options are
/// constants for any thread.
///
/// @since 0.1
public final class VerbenaChannelOption {
    /// The device that carries the connection, or at which a listener listens. Without it that is the nearest:
    /// within a host its memory (`shm`), else the device with the address. The program closes it after its
    /// channels.
    public static final ChannelOption<Context> DEVICE = ChannelOption.valueOf(VerbenaChannelOption.class, "DEVICE");

    /// The silence of the peer after which its device is probed; zero for never. A listener's value holds for the
    /// connections that it accepts. [ChannelOption#SO_KEEPALIVE] means two hours.
    public static final ChannelOption<Duration> KEEP_ALIVE =
            ChannelOption.valueOf(VerbenaChannelOption.class, "KEEP_ALIVE");

    private VerbenaChannelOption() {}
}
