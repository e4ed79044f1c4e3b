package verbena.verbs.cm;

import java.time.Duration;
import java.util.Objects;
import verbena.verbs.AckTimeout;
import verbena.verbs.RnrTimer;

/// The parameters that one side asks of a connection (`struct rdma_conn_param`, rdma_connect(3), rdma_accept(3), and
/// the options of rdma_set_option(3)). Start with [#defaults()].
///
/// @param privateData what the application says to its peer
/// @param responderResources READs and atomics of the peer that this side serves at once, 0 to 128
/// @param initiatorDepth READs and atomics that this side has outstanding at once, 0 to 128
/// @param retryCount attempts after the first without an answer, 0 to 7; the active side's counts for both
/// @param rnrRetryCount attempts after an RNR NAK, 0 to 6; 7 is without limit; meant for the *peer's* queue pair
/// @param ackTimeout how long a request waits for its answer; the active side's counts for both
/// @param minRnrTimer how long the peer is asked to wait when no receive is posted
/// @param trafficClass IPv6 traffic class or IPv4 TOS; the active side's counts for both
/// @param keepAlive when nothing has come from the peer for so long, it is asked whether it lives, and without an
///     answer in time the connection ends; zero for never
/// @param secret what the peer has to prove that it knows, see [#withSecret(Secret)]
public record ConnectionParameters(
        PrivateData privateData,
        int responderResources,
        int initiatorDepth,
        int retryCount,
        int rnrRetryCount,
        AckTimeout ackTimeout,
        RnrTimer minRnrTimer,
        int trafficClass,
        Duration keepAlive,
        Secret secret) {
    private static final int READS_MAX = 128;

    public ConnectionParameters {
        Objects.requireNonNull(privateData, "privateData");
        Objects.requireNonNull(ackTimeout, "ackTimeout");
        Objects.requireNonNull(minRnrTimer, "minRnrTimer");
        Objects.requireNonNull(secret, "secret");
        range("responderResources", responderResources, READS_MAX);
        range("initiatorDepth", initiatorDepth, READS_MAX);
        range("retryCount", retryCount, 7);
        range("rnrRetryCount", rnrRetryCount, 7);
        range("trafficClass", trafficClass, 255);
        if (keepAlive.isNegative()) {
            throw new IllegalArgumentException("keepAlive: zero or more, got " + keepAlive);
        }
    }

    private static void range(String name, int value, int max) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(name + ": 0 to " + max + ", got " + value);
        }
    }

    /// Returns the defaults: no private data, 16 READs and atomics each way, 7 retries of 67 ms, RNR without limit
    /// with 0.64 ms between attempts, no keep-alive, no secret.
    public static ConnectionParameters defaults() {
        return new ConnectionParameters(
                PrivateData.NONE,
                16,
                16,
                7,
                7,
                AckTimeout.atLeast(Duration.ofMillis(60)),
                RnrTimer.atLeast(Duration.ofNanos(640_000)),
                0,
                Duration.ZERO,
                Secret.NONE);
    }

    public ConnectionParameters withPrivateData(PrivateData privateData) {
        return new ConnectionParameters(
                privateData,
                responderResources,
                initiatorDepth,
                retryCount,
                rnrRetryCount,
                ackTimeout,
                minRnrTimer,
                trafficClass,
                keepAlive,
                secret);
    }

    /// Sets how many READs and atomics there may be at once: of the peer's, and of one's own.
    public ConnectionParameters withReads(int responderResources, int initiatorDepth) {
        return new ConnectionParameters(
                privateData,
                responderResources,
                initiatorDepth,
                retryCount,
                rnrRetryCount,
                ackTimeout,
                minRnrTimer,
                trafficClass,
                keepAlive,
                secret);
    }

    public ConnectionParameters withRetries(AckTimeout ackTimeout, int retryCount, int rnrRetryCount) {
        return new ConnectionParameters(
                privateData,
                responderResources,
                initiatorDepth,
                retryCount,
                rnrRetryCount,
                ackTimeout,
                minRnrTimer,
                trafficClass,
                keepAlive,
                secret);
    }

    public ConnectionParameters withMinRnrTimer(RnrTimer minRnrTimer) {
        return new ConnectionParameters(
                privateData,
                responderResources,
                initiatorDepth,
                retryCount,
                rnrRetryCount,
                ackTimeout,
                minRnrTimer,
                trafficClass,
                keepAlive,
                secret);
    }

    public ConnectionParameters withTrafficClass(int trafficClass) {
        return new ConnectionParameters(
                privateData,
                responderResources,
                initiatorDepth,
                retryCount,
                rnrRetryCount,
                ackTimeout,
                minRnrTimer,
                trafficClass,
                keepAlive,
                secret);
    }

    public ConnectionParameters withKeepAlive(Duration keepAlive) {
        return new ConnectionParameters(
                privateData,
                responderResources,
                initiatorDepth,
                retryCount,
                rnrRetryCount,
                ackTimeout,
                minRnrTimer,
                trafficClass,
                keepAlive,
                secret);
    }

    /// Requires both ends to prove to each other that they know this secret before either has a connection, and
    /// before the passive side's program hears of a request. An end that has another secret, or none while the
    /// other has one, is refused, and both are told why: the active side by [ConnectionEvent.Rejected], the passive
    /// side's log. The passive side's secret is that of [ConnectionId#listen(int, Secret)]; a secret given here for
    /// [ConnectionId#accept] is ignored.
    ///
    /// The proof covers all of both ends' messages: addresses, queue pair numbers, first PSNs and private
    /// data. It covers no packet after that: these are neither encrypted nor authenticated. It costs one
    /// more way there and back, and leaves 24 bytes of private data to connect with and 180 to accept with.
    /// It works over RoCE only, between two Verbena ends, and for connections, not for datagrams.
    public ConnectionParameters withSecret(Secret secret) {
        return new ConnectionParameters(
                privateData,
                responderResources,
                initiatorDepth,
                retryCount,
                rnrRetryCount,
                ackTimeout,
                minRnrTimer,
                trafficClass,
                keepAlive,
                secret);
    }
}
