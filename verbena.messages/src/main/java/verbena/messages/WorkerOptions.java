package verbena.messages;

import java.time.Duration;
import java.util.function.UnaryOperator;
import verbena.verbs.Preview;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.Secret;

/// The options of a [Worker]. Start with [#defaults()]. Immutable; the constructor throws [IllegalArgumentException]
/// for a value out of range. The worker's memory is `2 * maxPeers * window * frameBytes`, with 8 bytes for each
/// frame, and half as much for each further device. It does not grow with its peers.
///
/// Over RoCE a peer that acknowledges nothing for some 0.5 s is lost. [#withParameters] makes a worker more patient,
/// where peers may get no processor for longer.
///
/// @param maxPeers peers at once, 1 to 4096; a lost peer frees its place
/// @param window frames that each peer may send before this worker acknowledges them, 2 to 255
/// @param frameBytes of the longest frame, 64 to 65,536. The receiver reads a longer message from its sender; both
///     ends use the shorter of their two frames
/// @param maxCalls calls of one peer that are outstanding at once, 1 to 65,536; the next one waits
/// @param maxCallBytes of a request or an active message that this worker takes, and of an answer to a call without
///     memory for it
/// @param budgetBytes of messages that came without a receive or a call of this worker, at least 4 KiB for each peer.
///     Messages beyond it wait at their senders
/// @param connectTimeout longest time to make a connection, more than zero, with the wait until the other program
///     accepts
/// @param parameters of each connection: retries, keep-alive, the secret that both ends have to know. The private data
///     are the worker's own
/// @since 0.1
public record WorkerOptions(
        int maxPeers,
        int window,
        int frameBytes,
        int maxCalls,
        int maxCallBytes,
        long budgetBytes,
        Duration connectTimeout,
        ConnectionParameters parameters) {
    @Preview
    public WorkerOptions {
        range("maxPeers", maxPeers, 1, 4096);
        range("window", window, 2, 255);
        range("frameBytes", frameBytes, 64, 65_536);
        range("maxCalls", maxCalls, 1, 65_536);
        range("maxCallBytes", maxCallBytes, 0, Integer.MAX_VALUE);
        if (budgetBytes < 4096L * maxPeers) {
            throw new IllegalArgumentException(
                    "budgetBytes: 4096 for each peer at least, " + 4096L * maxPeers + ", got " + budgetBytes);
        }
        if (parameters.privateData().length() > 0) {
            throw new IllegalArgumentException("parameters: no private data, got " + parameters.privateData());
        }
        if (connectTimeout.isNegative() || connectTimeout.isZero()) {
            throw new IllegalArgumentException("connectTimeout: more than zero, got " + connectTimeout);
        }
    }

    private static void range(String name, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + ": " + min + " to " + max + ", got " + value);
        }
    }

    /// Returns the defaults: 64 peers with 32 frames of 8 KiB each, 64 calls of a peer at once with up to 16 MiB
    /// each. The budget is 256 MiB, and making a connection may take 10 s. The parameters are
    /// [ConnectionParameters#defaults()] with a keep-alive of 5 s.
    public static WorkerOptions defaults() {
        return new WorkerOptions(
                64,
                32,
                8192,
                64,
                1 << 24,
                1 << 28,
                Duration.ofSeconds(10),
                ConnectionParameters.defaults().withKeepAlive(Duration.ofSeconds(5)));
    }

    /// Returns these options with another number of peers at once, 1 to 4096. A worker refuses further peers. Its
    /// memory grows with this number.
    public WorkerOptions withMaxPeers(int maxPeers) {
        return new WorkerOptions(
                maxPeers, window, frameBytes, maxCalls, maxCallBytes, budgetBytes, connectTimeout, parameters);
    }

    /// Returns these options with another number of frames that each peer may send unacknowledged, 2 to 255. More
    /// frames keep a long path busy, and cost memory for each peer.
    public WorkerOptions withWindow(int window) {
        return new WorkerOptions(
                maxPeers, window, frameBytes, maxCalls, maxCallBytes, budgetBytes, connectTimeout, parameters);
    }

    /// Returns these options with another length of the longest frame in bytes, 64 to 65,536. A message that fits
    /// into a frame takes one trip; the receiver reads a longer one, which takes two.
    public WorkerOptions withFrameBytes(int frameBytes) {
        return new WorkerOptions(
                maxPeers, window, frameBytes, maxCalls, maxCallBytes, budgetBytes, connectTimeout, parameters);
    }

    /// Returns these options with another number of calls of one peer that are outstanding at once, 1 to 65,536. The
    /// smaller number of the two ends counts.
    public WorkerOptions withMaxCalls(int maxCalls) {
        return new WorkerOptions(
                maxPeers, window, frameBytes, maxCalls, maxCallBytes, budgetBytes, connectTimeout, parameters);
    }

    /// Returns these options with another length of the longest request, active message or answer that the worker
    /// takes, in bytes. A longer request or answer fails its call, and a longer active message throws at its
    /// sender, so no peer can make the worker allocate more.
    public WorkerOptions withMaxCallBytes(int maxCallBytes) {
        return new WorkerOptions(
                maxPeers, window, frameBytes, maxCalls, maxCallBytes, budgetBytes, connectTimeout, parameters);
    }

    /// Returns these options with another limit of the bytes of messages that came before their receive or call, at
    /// least 4 KiB for each peer. With a small one, early messages wait at their senders sooner.
    public WorkerOptions withBudgetBytes(long budgetBytes) {
        return new WorkerOptions(
                maxPeers, window, frameBytes, maxCalls, maxCallBytes, budgetBytes, connectTimeout, parameters);
    }

    /// Returns these options with another time limit for making a connection, more than zero. When it passes,
    /// [Worker#connect] throws a [verbena.verbs.ConnectionException].
    public WorkerOptions withConnectTimeout(Duration connectTimeout) {
        return new WorkerOptions(
                maxPeers, window, frameBytes, maxCalls, maxCallBytes, budgetBytes, connectTimeout, parameters);
    }

    /// Returns these options with changed parameters: `options.withParameters(p -> p.withTrafficClass(104))`.
    /// What `change` leaves alone stays, also the keep-alive and the secret.
    ///
    /// @throws IllegalArgumentException when `change` adds private data
    public WorkerOptions withParameters(UnaryOperator<ConnectionParameters> change) {
        return new WorkerOptions(
                maxPeers,
                window,
                frameBytes,
                maxCalls,
                maxCallBytes,
                budgetBytes,
                connectTimeout,
                change.apply(parameters));
    }

    /// Returns these options with another silence after which the device probes a peer; zero for never
    /// ([ConnectionParameters#withKeepAlive]).
    public WorkerOptions withKeepAlive(Duration keepAlive) {
        return withParameters(own -> own.withKeepAlive(keepAlive));
    }

    /// Returns these options with a secret. Only workers that prove that they know it get a connection
    /// ([ConnectionParameters#withSecret]).
    public WorkerOptions withSecret(Secret secret) {
        return withParameters(own -> own.withSecret(secret));
    }
}
