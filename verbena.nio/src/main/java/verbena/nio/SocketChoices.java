package verbena.nio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.NetworkChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamOptions;

/// The socket options of a channel, as long as no socket of the kernel's has them. The JDK's own channel checks the
/// values that are set, and knows the defaults. Safe for use by any thread.
final class SocketChoices {
    private static final int RING_MIN = 1 << 14;
    private static final int RING_MAX = 1 << 24;
    /// A writer stops when half of the peer's ring is full. On a busy host each stop may cost a time slice.
    private static final int RING = 1 << 18;

    /// The time after which a device asks whether a silent peer lives. The kernel notifies the peers of a killed
    /// process. A device of this process ends with it and notifies none, so the peer's device asks.
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(5);

    /// Apart, because only streams need them.
    private static final class Defaults {
        static final StreamOptions ALL =
                StreamOptions.defaults().withBuffers(RING, RING).withKeepAlive(KEEP_ALIVE);
    }

    /// The supported options, the same for each channel of IP; asked for once.
    private static volatile @Nullable Set<SocketOption<?>> supported;

    private final Opener<SocketChannel> opener;
    private final Map<SocketOption<?>, Object> chosen = new ConcurrentHashMap<>();

    SocketChoices(Opener<SocketChannel> opener) {
        this.opener = opener;
    }

    /// Returns the options of streams that hold when the program sets no others.
    static StreamOptions defaults() {
        return Defaults.ALL;
    }

    /// Makes a socket of the kernel's without the options.
    SocketChannel open() throws IOException {
        return opener.open();
    }

    /// Refuses an option that there is not.
    void check(SocketOption<?> name) {
        if (!supported().contains(Objects.requireNonNull(name))) {
            throw new UnsupportedOperationException("'" + name + "' not supported");
        }
    }

    <T> void check(SocketOption<T> name, @Nullable T value) {
        check(name);
        if (!name.type().isInstance(value)) {
            throw new IllegalArgumentException(
                    name + ": " + value + " is no " + name.type().getSimpleName());
        }
    }

    <T> void set(SocketOption<T> name, T value) throws IOException {
        boolean isSize = name.equals(StandardSocketOptions.SO_SNDBUF) || name.equals(StandardSocketOptions.SO_RCVBUF);
        try (SocketChannel judge = opener.open()) {
            judge.setOption(name, value);
            chosen.put(name, isSize ? value : Objects.requireNonNull(judge.getOption(name)));
        }
    }

    /// Takes over the options that a listener has set for the channels that it accepts.
    void inherit(NetworkChannel listener) throws IOException {
        chosen.put(
                StandardSocketOptions.SO_REUSEADDR,
                Objects.requireNonNull(listener.getOption(StandardSocketOptions.SO_REUSEADDR)));
        chosen.put(
                StandardSocketOptions.SO_RCVBUF, Math.max(RING, listener.getOption(StandardSocketOptions.SO_RCVBUF)));
    }

    @Nullable
    <T> T get(SocketOption<T> name) throws IOException {
        if (name.equals(StandardSocketOptions.SO_SNDBUF)) {
            return name.type().cast(ring(StandardSocketOptions.SO_SNDBUF));
        }
        if (name.equals(StandardSocketOptions.SO_RCVBUF)) {
            return name.type().cast(ring(StandardSocketOptions.SO_RCVBUF));
        }
        Object own = chosen.get(name);
        if (own != null) {
            return name.type().cast(own);
        }
        try (SocketChannel judge = opener.open()) {
            return judge.getOption(name);
        }
    }

    Set<SocketOption<?>> supported() {
        Set<SocketOption<?>> known = supported;
        if (known == null) {
            try (SocketChannel judge = opener.open()) {
                known = judge.supportedOptions();
                supported = known;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return known;
    }

    /// Returns the seconds that closing may take; -1 when the program has not set them.
    int linger() {
        return chosen.get(StandardSocketOptions.SO_LINGER) instanceof Integer seconds ? seconds : -1;
    }

    /// Sets all options at a socket of the kernel's.
    void apply(NetworkChannel to) throws IOException {
        for (Map.Entry<SocketOption<?>, Object> each : chosen.entrySet()) {
            apply(to, each.getKey(), each.getValue());
        }
    }

    private static <T> void apply(NetworkChannel to, SocketOption<T> name, Object value) throws IOException {
        to.setOption(name, name.type().cast(value));
    }

    /// Makes a socket of the kernel's with all options, bound.
    SocketChannel bind(@Nullable SocketAddress local) throws IOException {
        SocketChannel made = opener.open();
        boolean done = false;
        try {
            if (ChosenDevice.hasPortsOfTcp()) {
                made.setOption(StandardSocketOptions.SO_REUSEADDR, true); // the device binds the same port
            }
            apply(made);
            SocketChannel _ = made.bind(local);
            done = true;
            return made;
        } finally {
            if (!done) {
                made.close();
            }
        }
    }

    /// Returns options of a stream, whose rings have the sizes of the socket's buffers.
    StreamOptions stream() {
        return defaults().withBuffers(ring(StandardSocketOptions.SO_SNDBUF), ring(StandardSocketOptions.SO_RCVBUF));
    }

    private int ring(SocketOption<Integer> name) {
        return chosen.get(name) instanceof Integer bytes ? Math.clamp(bytes, RING_MIN, RING_MAX) : RING;
    }
}
