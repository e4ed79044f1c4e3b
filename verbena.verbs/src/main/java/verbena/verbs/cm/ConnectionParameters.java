package verbena.verbs.cm;

import java.time.Duration;
import java.util.Objects;
import verbena.verbs.AckTimeout;
import verbena.verbs.Preview;
import verbena.verbs.RnrTimer;

/// The parameters of a connection that one side proposes (`struct rdma_conn_param`, rdma_connect(3), rdma_accept(3),
/// and the options of rdma_set_option(3)). Start with [#defaults()]. Immutable; the constructor throws
/// [IllegalArgumentException] for a value out of range.
///
/// @param privateData of the application for its peer
/// @param responderResources READs and atomics of the peer that this side serves at once, 0 to 128
/// @param initiatorDepth READs and atomics that this side has outstanding at once, 0 to 128
/// @param retryCount attempts after the first without an answer, 0 to 7; the active side's value counts for both
/// @param rnrRetryCount attempts of the *peer's* queue pair after an RNR NAK, 0 to 6; 7 is without limit
/// @param ackTimeout time that a request waits for its answer; the active side's value counts for both
/// @param minRnrTimer time that the peer is asked to wait when no receive is posted
/// @param trafficClass IPv6 traffic class or IPv4 TOS, 0 to 255; the active side's value counts for both
/// @param keepAlive silence of the peer after which the device probes it. Without an answer in time the connection
///     ends. Zero for never
/// @param secret that the peer has to prove that it knows, see [#withSecret(Secret)]
/// @since 0.1
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

    @Preview
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

    /// Returns the defaults: no private data, 16 READs and atomics in each direction, 7 retries of 67 ms, RNR
    /// without limit with 0.64 ms between attempts, no keep-alive, no secret.
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

    /// Returns these parameters with other private data: bytes that the peer's program gets with the request or the
    /// answer ([PrivateData] has their limits).
    public ConnectionParameters withPrivateData(PrivateData privateData) {
        return between(privateData, secret);
    }

    /// Returns these parameters with other numbers of READs and atomics at once. A READ beyond the number waits in
    /// the queue until an earlier one is done.
    ///
    /// @param responderResources those of the peer that this side serves, 0 to 128
    /// @param initiatorDepth those that this side has outstanding, 0 to 128
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

    /// Returns these parameters with other retries. A peer that leaves all attempts without an answer is lost, and
    /// the connection ends. Retries mean nothing over iWARP, where TCP retransmits.
    ///
    /// @param ackTimeout time that a request waits for its answer; the active side's value counts for both
    /// @param retryCount attempts after the first without an answer, 0 to 7; the active side's value counts
    ///     for both
    /// @param rnrRetryCount attempts of the *peer's* queue pair after an RNR NAK, 0 to 6; 7 is without limit
    public ConnectionParameters withRetries(AckTimeout ackTimeout, int retryCount, int rnrRetryCount) {
        return onTheWay(retryCount, rnrRetryCount, ackTimeout, minRnrTimer, trafficClass, keepAlive);
    }

    /// Returns these parameters with another time that the peer waits when this side has posted no receive. A short
    /// one costs packets, a long one delays the message.
    public ConnectionParameters withMinRnrTimer(RnrTimer minRnrTimer) {
        return onTheWay(retryCount, rnrRetryCount, ackTimeout, minRnrTimer, trafficClass, keepAlive);
    }

    /// Returns these parameters with another IPv6 traffic class or IPv4 TOS, 0 to 255. Its upper six bits are the
    /// DSCP, by which switches choose a queue.
    public ConnectionParameters withTrafficClass(int trafficClass) {
        return onTheWay(retryCount, rnrRetryCount, ackTimeout, minRnrTimer, trafficClass, keepAlive);
    }

    /// Returns these parameters with another silence after which the device probes the peer; zero for never. A
    /// connection whose peer does not answer ends.
    public ConnectionParameters withKeepAlive(Duration keepAlive) {
        return onTheWay(retryCount, rnrRetryCount, ackTimeout, minRnrTimer, trafficClass, keepAlive);
    }

    /// Returns parameters of a connection between ends that know this secret. Both prove it to each other before
    /// either has a connection, and before the passive program sees a request. An end without the right secret is
    /// refused. The active side gets [ConnectionEvent.Rejected], and the passive side logs it.
    ///
    /// The passive side's secret is that of [ConnectionId#listen(int, Secret)]; [ConnectionId#accept] ignores a
    /// secret in its parameters.
    ///
    /// The proof covers all messages of both ends: addresses, queue pair numbers, first PSNs and private data. It
    /// covers no packet after that, so these are neither encrypted nor authenticated. It costs one more round trip.
    ///
    /// It leaves 24 bytes of private data to connect with and 180 to accept with over RoCE, and 468 and 484 over
    /// iWARP. It works over both, between two Verbena ends, and for connections, not for datagrams. A device
    /// without [verbena.verbs.Capability#CONNECTION_SECRETS], such as a card, cannot prove a secret.
    public ConnectionParameters withSecret(Secret secret) {
        return between(privateData, secret);
    }

    /// Returns these parameters with another part that the two programs know.
    private ConnectionParameters between(PrivateData privateData, Secret secret) {
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

    /// Returns these parameters with another part that concerns packets on their way.
    private ConnectionParameters onTheWay(
            int retryCount,
            int rnrRetryCount,
            AckTimeout ackTimeout,
            RnrTimer minRnrTimer,
            int trafficClass,
            Duration keepAlive) {
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
