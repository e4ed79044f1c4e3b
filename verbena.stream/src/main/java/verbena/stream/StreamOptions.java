package verbena.stream;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import verbena.stream.protocol.StreamSizes;
import verbena.verbs.Context;
import verbena.verbs.ProtectionDomain;

/// Options of [StreamChannel] and [StreamListener]. Start with [#defaults()].
///
/// @param sendBytes of the ring of data on their way, 2 KiB to 256 MiB
/// @param receiveBytes of the ring that the peer writes to, 2 KiB to 256 MiB
/// @param messages under way each way, 16 to 65534; a device may have fewer
/// @param connectTimeout how long making a connection may take
/// @param timeout how long a blocking read or write waits for the peer; empty for no limit
/// @param linger how long [StreamChannel#close()] waits until what was written has arrived; zero drops it, and the
///     peer finds the connection reset
/// @param keepAlive when nothing has come from the peer for so long, it is asked whether it lives; zero for never
/// @param device to use; empty for the host's memory (`shm`) where both ends are on one host and have it, else
///     the one that has the right address
/// @param domain that the queue pairs and rings of the channels belong to; empty for one of each channel's own
public record StreamOptions(
        int sendBytes,
        int receiveBytes,
        int messages,
        Duration connectTimeout,
        Optional<Duration> timeout,
        Duration linger,
        Duration keepAlive,
        Optional<Context> device,
        Optional<ProtectionDomain> domain) {
    private static final int BYTES_MIN = 2_048;
    private static final int BYTES_MAX = 1 << 28;

    public StreamOptions {
        range("sendBytes", sendBytes, BYTES_MIN, BYTES_MAX);
        range("receiveBytes", receiveBytes, BYTES_MIN, BYTES_MAX);
        range("messages", messages, 16, 0xFFFE);
        positive("connectTimeout", connectTimeout);
        timeout.ifPresent(limit -> positive("timeout", limit));
        notNegative("linger", linger);
        notNegative("keepAlive", keepAlive);
        Objects.requireNonNull(device, "device");
        if (domain.isPresent() && !device.equals(domain.map(ProtectionDomain::context))) {
            throw new IllegalArgumentException("domain: it belongs to "
                    + domain.get().context() + ", and the channels are to use "
                    + device.map(Object::toString).orElse("the nearest device"));
        }
    }

    private static void range(String name, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + ": " + min + " to " + max + ", got " + value);
        }
    }

    private static void positive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + ": more than zero, got " + value);
        }
    }

    private static void notNegative(String name, Duration value) {
        if (value.isNegative()) {
            throw new IllegalArgumentException(name + ": zero or more, got " + value);
        }
    }

    /// Returns the defaults: 128 KiB in each direction as rsocket(7) has them, 384 messages, 60 s to connect, no
    /// limit for reads and writes, 10 s to linger, no keep-alive.
    public static StreamOptions defaults() {
        return new StreamOptions(
                1 << 17,
                1 << 17,
                384,
                Duration.ofSeconds(60),
                Optional.empty(),
                Duration.ofSeconds(10),
                Duration.ZERO,
                Optional.empty(),
                Optional.empty());
    }

    /// Returns these options with rings of these sizes, in bytes.
    public StreamOptions withBuffers(int sendBytes, int receiveBytes) {
        return new StreamOptions(
                sendBytes, receiveBytes, messages, connectTimeout, timeout, linger, keepAlive, device, domain);
    }

    public StreamOptions withMessages(int messages) {
        return new StreamOptions(
                sendBytes, receiveBytes, messages, connectTimeout, timeout, linger, keepAlive, device, domain);
    }

    public StreamOptions withConnectTimeout(Duration connectTimeout) {
        return new StreamOptions(
                sendBytes, receiveBytes, messages, connectTimeout, timeout, linger, keepAlive, device, domain);
    }

    public StreamOptions withTimeout(Duration timeout) {
        return new StreamOptions(
                sendBytes,
                receiveBytes,
                messages,
                connectTimeout,
                Optional.of(timeout),
                linger,
                keepAlive,
                device,
                domain);
    }

    public StreamOptions withLinger(Duration linger) {
        return new StreamOptions(
                sendBytes, receiveBytes, messages, connectTimeout, timeout, linger, keepAlive, device, domain);
    }

    public StreamOptions withKeepAlive(Duration keepAlive) {
        return new StreamOptions(
                sendBytes, receiveBytes, messages, connectTimeout, timeout, linger, keepAlive, device, domain);
    }

    public StreamOptions withDevice(Context device) {
        return at(Optional.of(device), Optional.empty());
    }

    /// Returns these options with one protection domain for all channels, which use its device. So any of them can
    /// write memory that was registered there once without a copy ([StreamChannel#write(verbena.verbs.MemoryRegion,
    /// long, long)]). The peers of such channels share the domain's keys: a peer that knows a key of another peer's
    /// ring can write there.
    public StreamOptions withProtectionDomain(ProtectionDomain domain) {
        return at(Optional.of(domain.context()), Optional.of(domain));
    }

    private StreamOptions at(Optional<Context> device, Optional<ProtectionDomain> domain) {
        return new StreamOptions(
                sendBytes, receiveBytes, messages, connectTimeout, timeout, linger, keepAlive, device, domain);
    }

    StreamSizes sizes() {
        return new StreamSizes(sendBytes, receiveBytes, messages, messages, 0);
    }

    /// Durations that do not fit are for ever.
    static long nanos(Duration of) {
        try {
            return of.toNanos();
        } catch (ArithmeticException e) {
            return Long.MAX_VALUE;
        }
    }

    /// Returns the text of a time limit, for messages.
    static String text(long nanos) {
        long millis = nanos / 1_000_000;
        return nanos % 1_000_000_000 == 0
                ? millis / 1_000 + " s"
                : nanos % 1_000_000 == 0 ? millis + " ms" : nanos / 1_000 + " us";
    }

    /// Returns the text of the time limit of a read or a write.
    static String limit(long nanos) {
        return text(nanos) + ", the limit of StreamOptions.withTimeout or of this call";
    }
}
