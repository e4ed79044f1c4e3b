package verbena.stream;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import verbena.stream.protocol.StreamSizes;
import verbena.verbs.Context;
import verbena.verbs.Preview;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.waiting.TimeLimits;

/// The options of [StreamChannel] and [StreamListener]. Start with [#defaults()]. Immutable; the constructor
/// throws [IllegalArgumentException] for a value out of range. What was set cannot be removed again: derive
/// options from a common base that lacks it.
///
/// @param sendBytes size of the ring of data on their way, 2 KiB to 256 MiB
/// @param receiveBytes size of the ring that the peer writes to, 2 KiB to 256 MiB
/// @param depth requests of the device that are outstanding in each direction, 16 to 65,534; a device may have fewer.
///     A write of a few KiB is one request
/// @param connectTimeout longest time to make a connection, more than zero
/// @param timeout longest time that a blocking read or write waits for the peer, more than zero; empty for no limit
/// @param linger time that [StreamChannel#close()] waits for written bytes to arrive. With zero they are dropped, and
///     the peer finds the connection reset
/// @param parameters of each connection: retries, keep-alive, traffic class. The private data are the stream's
///     own and take the room of a secret; protect streams by a device with PSP
/// @param device to use; empty for the host's memory (`shm`) where both ends are on one host and have it, else the
///     device with the right address
/// @param application number of what the program uses its streams for, 0 to 255. Both ends must have the same: a
///     listener refuses others. 0 is that of rsocket(7)
/// @param domain of the queue pairs and rings of the channels, of `device`; empty for one of each channel's own
/// @since 0.1
public record StreamOptions(
        int sendBytes,
        int receiveBytes,
        int depth,
        Duration connectTimeout,
        Optional<Duration> timeout,
        Duration linger,
        ConnectionParameters parameters,
        int application,
        Optional<Context> device,
        Optional<ProtectionDomain> domain) {
    private static final int BYTES_MIN = 2_048;
    private static final int BYTES_MAX = 1 << 28;

    @Preview
    public StreamOptions {
        range("sendBytes", sendBytes, BYTES_MIN, BYTES_MAX);
        range("receiveBytes", receiveBytes, BYTES_MIN, BYTES_MAX);
        range("depth", depth, 16, 0xFFFE);
        positive("connectTimeout", connectTimeout);
        timeout.ifPresent(limit -> positive("timeout", limit));
        if (linger.isNegative()) {
            throw new IllegalArgumentException("linger: zero or more, got " + linger);
        }
        if (parameters.privateData().length() > 0) {
            throw new IllegalArgumentException("parameters: no private data, got " + parameters.privateData());
        }
        if (!parameters.secret().isNone()) {
            throw new IllegalArgumentException(
                    "parameters: no secret, because a stream's private data leave no room to prove one; "
                            + "use a device with PSP and a secret");
        }
        range("application", application, 0, 0xFF);
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

    /// Returns the defaults: 128 KiB in each direction as rsocket(7) has them, a depth of 384, 60 s to connect,
    /// no limit for reads and writes, 10 s to linger, no keep-alive.
    public static StreamOptions defaults() {
        return new StreamOptions(
                1 << 17,
                1 << 17,
                384,
                Duration.ofSeconds(60),
                Optional.empty(),
                Duration.ofSeconds(10),
                ConnectionParameters.defaults(),
                0,
                Optional.empty(),
                Optional.empty());
    }

    /// Returns these options with other rings, each of 2 KiB to 256 MiB. A ring holds the bytes that are written and
    /// not acknowledged, or received and not read: a long path with a high rate needs large rings.
    public StreamOptions withBuffers(int sendBytes, int receiveBytes) {
        return sized(sendBytes, receiveBytes, depth);
    }

    /// Returns these options with another number of outstanding requests in each direction, 16 to 65,534. It limits
    /// how many short writes can be on their way at once.
    public StreamOptions withDepth(int depth) {
        return sized(sendBytes, receiveBytes, depth);
    }

    /// Returns these options with another time limit for making a connection, more than zero. When it passes,
    /// connecting throws a [java.net.SocketTimeoutException].
    public StreamOptions withConnectTimeout(Duration connectTimeout) {
        return limited(connectTimeout, timeout, linger, parameters);
    }

    /// Returns these options with a time limit for each blocking read and write, more than zero. When it passes, a
    /// read throws a [java.net.SocketTimeoutException]. So does a write that has taken no byte; other writes return
    /// how many they have taken. The channel can be used afterwards.
    public StreamOptions withTimeout(Duration timeout) {
        return limited(connectTimeout, Optional.of(timeout), linger, parameters);
    }

    /// Returns these options with another time that [StreamChannel#close()] waits for written bytes to arrive. With
    /// zero they are dropped, and the peer finds the connection reset.
    public StreamOptions withLinger(Duration linger) {
        return limited(connectTimeout, timeout, linger, parameters);
    }

    /// Returns these options with another silence after which the device probes the peer; zero for never. A peer that
    /// does not answer the probe is gone, and reads and writes throw a [java.net.SocketException].
    public StreamOptions withKeepAlive(Duration keepAlive) {
        return withParameters(own -> own.withKeepAlive(keepAlive));
    }

    /// Returns these options with changed parameters: `options.withParameters(p -> p.withTrafficClass(104))`.
    /// What `change` leaves alone stays.
    ///
    /// @throws IllegalArgumentException when `change` adds private data or a secret
    public StreamOptions withParameters(UnaryOperator<ConnectionParameters> change) {
        return limited(connectTimeout, timeout, linger, change.apply(parameters));
    }

    /// Returns these options with a number that both ends must have, 0 to 255, so that other programs' streams are
    /// refused.
    public StreamOptions withApplication(int application) {
        return new StreamOptions(
                sendBytes,
                receiveBytes,
                depth,
                connectTimeout,
                timeout,
                linger,
                parameters,
                application,
                device,
                domain);
    }

    /// Returns these options with a device for all channels. The program closes the device, after them.
    ///
    /// @throws IllegalArgumentException when these options have a protection domain of another device
    public StreamOptions withDevice(Context device) {
        return at(Optional.of(device), domain);
    }

    /// Returns these options with one protection domain for all channels, which use its device. So each of them can
    /// write memory that was registered there without a copy ([StreamChannel#write(verbena.verbs.MemoryRegion,
    /// long, long)]). The peers of such channels share the domain's keys: a peer that knows a key of another peer's
    /// ring can write there.
    public StreamOptions withProtectionDomain(ProtectionDomain domain) {
        return at(Optional.of(domain.context()), Optional.of(domain));
    }

    private StreamOptions sized(int sendBytes, int receiveBytes, int depth) {
        return new StreamOptions(
                sendBytes,
                receiveBytes,
                depth,
                connectTimeout,
                timeout,
                linger,
                parameters,
                application,
                device,
                domain);
    }

    private StreamOptions limited(
            Duration connectTimeout, Optional<Duration> timeout, Duration linger, ConnectionParameters parameters) {
        return new StreamOptions(
                sendBytes,
                receiveBytes,
                depth,
                connectTimeout,
                timeout,
                linger,
                parameters,
                application,
                device,
                domain);
    }

    private StreamOptions at(Optional<Context> device, Optional<ProtectionDomain> domain) {
        return new StreamOptions(
                sendBytes,
                receiveBytes,
                depth,
                connectTimeout,
                timeout,
                linger,
                parameters,
                application,
                device,
                domain);
    }

    StreamSizes sizes() {
        return new StreamSizes(sendBytes, receiveBytes, depth, depth, 0);
    }

    /// Returns the text of the time limit of a read or a write.
    static String limit(long nanos) {
        return TimeLimits.text(Duration.ofNanos(nanos)) + ", the limit of StreamOptions.withTimeout or of this call";
    }
}
