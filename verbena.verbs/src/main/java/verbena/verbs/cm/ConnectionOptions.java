package verbena.verbs.cm;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import verbena.verbs.Context;
import verbena.verbs.QueuePairOptions;

/// Choices of [Connection] and [ConnectionListener]. Start with [#defaults()].
///
/// @param parameters what is agreed with the peer
/// @param sizes of the queue pair
/// @param timeout how long making a connection may take
/// @param device to use; empty for the host's memory (`shm`) where both ends are on one host and have it, else the one
///     that has the right address
public record ConnectionOptions(
        ConnectionParameters parameters, QueuePairOptions.Sizes sizes, Duration timeout, Optional<Context> device) {
    public ConnectionOptions {
        Objects.requireNonNull(parameters, "parameters");
        Objects.requireNonNull(sizes, "sizes");
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("timeout: more than zero, got " + timeout);
        }
    }

    /// [ConnectionParameters#defaults()] with a keep-alive of 5 s, 64 sends and 64 receives with up to 4 entries
    /// each, 64 bytes inline, 10 s to connect.
    public static ConnectionOptions defaults() {
        return new ConnectionOptions(
                ConnectionParameters.defaults().withKeepAlive(Duration.ofSeconds(5)),
                new QueuePairOptions.Sizes(64, 64, 4, 4, 64),
                Duration.ofSeconds(10),
                Optional.empty());
    }

    public ConnectionOptions withParameters(ConnectionParameters parameters) {
        return new ConnectionOptions(parameters, sizes, timeout, device);
    }

    public ConnectionOptions withSizes(QueuePairOptions.Sizes sizes) {
        return new ConnectionOptions(parameters, sizes, timeout, device);
    }

    public ConnectionOptions withTimeout(Duration timeout) {
        return new ConnectionOptions(parameters, sizes, timeout, device);
    }

    public ConnectionOptions withDevice(Context device) {
        return new ConnectionOptions(parameters, sizes, timeout, Optional.of(device));
    }

    /// Both ends prove that they know it: see [ConnectionParameters#withSecret].
    public ConnectionOptions withSecret(Secret secret) {
        return withParameters(parameters.withSecret(secret));
    }

    public ConnectionOptions withPrivateData(PrivateData privateData) {
        return withParameters(parameters.withPrivateData(privateData));
    }
}
