package verbena.stream;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import verbena.stream.protocol.StreamSizes;
import verbena.verbs.Context;

/// Choices of [StreamChannel] and [StreamListener]. Start with [#defaults()].
///
/// @param sendBytes of the ring of data on their way, 2 KiB to 256 MiB
/// @param receiveBytes of the ring that the peer writes to, 2 KiB to 256 MiB
/// @param messages under way each way, 16 to 65534; a device may have fewer
/// @param connectTimeout how long making a connection may take
/// @param timeout how long a blocking read or write waits for the peer; zero for ever
/// @param linger how long [StreamChannel#close()] waits until what was written has arrived; zero drops it, and the
///     peer finds the connection reset
/// @param keepAlive when nothing has come from the peer for so long, it is asked whether it lives; zero for never
/// @param device to use; empty for the host's memory (`shm`) where both ends are on one host and have it, else
///     the one that has the right address
public record StreamOptions(
        int sendBytes,
        int receiveBytes,
        int messages,
        Duration connectTimeout,
        Duration timeout,
        Duration linger,
        Duration keepAlive,
        Optional<Context> device) {
    private static final int BYTES_MIN = 2_048;
    private static final int BYTES_MAX = 1 << 28;

    public StreamOptions {
        range("sendBytes", sendBytes, BYTES_MIN, BYTES_MAX);
        range("receiveBytes", receiveBytes, BYTES_MIN, BYTES_MAX);
        range("messages", messages, 16, 0xFFFE);
        notNegative("timeout", timeout);
        notNegative("linger", linger);
        notNegative("keepAlive", keepAlive);
        Objects.requireNonNull(device, "device");
        if (connectTimeout.isNegative() || connectTimeout.isZero()) {
            throw new IllegalArgumentException("connectTimeout: more than zero, got " + connectTimeout);
        }
    }

    private static void range(String name, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + ": " + min + " to " + max + ", got " + value);
        }
    }

    private static void notNegative(String name, Duration value) {
        if (value.isNegative()) {
            throw new IllegalArgumentException(name + ": zero or more, got " + value);
        }
    }

    /// 128 KiB each way as rsocket(7) has them, 384 messages, 10 s to connect, no limit for reads and writes, 10 s
    /// to linger, no keep-alive.
    public static StreamOptions defaults() {
        return new StreamOptions(
                1 << 17,
                1 << 17,
                384,
                Duration.ofSeconds(10),
                Duration.ZERO,
                Duration.ofSeconds(10),
                Duration.ZERO,
                Optional.empty());
    }

    /// With rings of these sizes, in bytes.
    public StreamOptions withBuffers(int sendBytes, int receiveBytes) {
        return new StreamOptions(sendBytes, receiveBytes, messages, connectTimeout, timeout, linger, keepAlive, device);
    }

    public StreamOptions withMessages(int messages) {
        return new StreamOptions(sendBytes, receiveBytes, messages, connectTimeout, timeout, linger, keepAlive, device);
    }

    public StreamOptions withConnectTimeout(Duration connectTimeout) {
        return new StreamOptions(sendBytes, receiveBytes, messages, connectTimeout, timeout, linger, keepAlive, device);
    }

    public StreamOptions withTimeout(Duration timeout) {
        return new StreamOptions(sendBytes, receiveBytes, messages, connectTimeout, timeout, linger, keepAlive, device);
    }

    public StreamOptions withLinger(Duration linger) {
        return new StreamOptions(sendBytes, receiveBytes, messages, connectTimeout, timeout, linger, keepAlive, device);
    }

    public StreamOptions withKeepAlive(Duration keepAlive) {
        return new StreamOptions(sendBytes, receiveBytes, messages, connectTimeout, timeout, linger, keepAlive, device);
    }

    public StreamOptions withDevice(Context device) {
        return new StreamOptions(
                sendBytes, receiveBytes, messages, connectTimeout, timeout, linger, keepAlive, Optional.of(device));
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
}
