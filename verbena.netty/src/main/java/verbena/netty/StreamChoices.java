package verbena.netty;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamOptions;
import verbena.verbs.Context;

/// The options of a channel that its stream has, or that are kept because sockets have them. Safe for use by any
/// thread.
final class StreamChoices {
    private static final int RING_MIN = 1 << 14;
    private static final int RING_MAX = 1 << 24;
    /// A writer stops when half of the peer's ring is full.
    private static final int RING = 1 << 18;

    /// The time that Linux has for sockets: net.ipv4.tcp_keepalive_time.
    private static final Duration TWO_HOURS = Duration.ofHours(2);

    private final Map<ChannelOption<?>, Object> defaults;
    private final Set<ChannelOption<?>> known;
    private final Map<ChannelOption<?>, Object> chosen = new ConcurrentHashMap<>();

    /// @param further options of this kind of channel, each with what holds otherwise
    StreamChoices(Map<ChannelOption<?>, Object> further) {
        this.defaults = Stream.concat(
                        Map.<ChannelOption<?>, Object>of(
                                ChannelOption.SO_SNDBUF,
                                RING,
                                ChannelOption.SO_RCVBUF,
                                RING,
                                ChannelOption.SO_REUSEADDR,
                                false,
                                VerbenaChannelOption.KEEP_ALIVE,
                                Duration.ZERO)
                                .entrySet()
                                .stream(),
                        further.entrySet().stream())
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
        this.known = Stream.concat(defaults.keySet().stream(), Stream.of(VerbenaChannelOption.DEVICE))
                .collect(Collectors.toUnmodifiableSet());
    }

    Set<ChannelOption<?>> known() {
        return known;
    }

    boolean has(ChannelOption<?> option) {
        return known.contains(option);
    }

    <T> void set(ChannelOption<T> option, T value) {
        chosen.put(option, value);
    }

    /// Null for a device that was not chosen.
    @SuppressWarnings("unchecked") // a value was set with its option
    <T> @Nullable T get(ChannelOption<T> option) {
        return (T) chosen.getOrDefault(option, defaults.get(option));
    }

    int number(ChannelOption<Integer> option) {
        Integer number = get(option);
        return number == null ? 0 : number;
    }

    boolean is(ChannelOption<Boolean> option) {
        return Boolean.TRUE.equals(get(option));
    }

    /// Returns the options of a stream.
    ///
    /// @param allocator of the channel; one of registered memory decides where the stream belongs
    StreamOptions stream(ByteBufAllocator allocator) {
        StreamOptions made = StreamOptions.defaults()
                .withBuffers(ring(ChannelOption.SO_SNDBUF), ring(ChannelOption.SO_RCVBUF))
                .withKeepAlive(keepAlive());
        int linger = number(ChannelOption.SO_LINGER);
        if (has(ChannelOption.SO_LINGER) && linger > 0) {
            made = made.withLinger(Duration.ofSeconds(linger));
        }
        Context device = get(VerbenaChannelOption.DEVICE);
        if (!(allocator instanceof VerbenaByteBufAllocator registered)) {
            return device == null ? made : made.withDevice(device);
        }
        Context its = registered.domain().context();
        if (device != null && device != its) {
            throw new IllegalArgumentException(
                    "DEVICE: " + device + ", and the allocator's memory is registered at " + its);
        }
        return made.withProtectionDomain(registered.domain());
    }

    private int ring(ChannelOption<Integer> option) {
        return Math.clamp(number(option), RING_MIN, RING_MAX);
    }

    private Duration keepAlive() {
        Duration own = get(VerbenaChannelOption.KEEP_ALIVE);
        if (own != null && !own.isZero()) {
            return own;
        }
        return is(ChannelOption.SO_KEEPALIVE) ? TWO_HOURS : Duration.ZERO;
    }
}
