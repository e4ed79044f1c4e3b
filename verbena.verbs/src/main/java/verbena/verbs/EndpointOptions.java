package verbena.verbs;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/// The options of [QueuePair#connect(Endpoint, EndpointOptions)]. Start with [#defaults()]. Immutable.
///
/// Each end sets its own, because the ends agree on nothing. For connections by address and port there are
/// [verbena.verbs.cm.ConnectionOptions] in place of these.
///
/// @param access rights of the peer
/// @param mtu path MTU; empty for the smaller of what the two ends can use
/// @param ackTimeout time to wait for an answer before sending again
/// @param retryCount attempts after the first, 0 to 7
/// @param rnrRetry attempts after an RNR NAK, 0 to 6; 7 is without limit
/// @param minRnrTimer time that the peer is asked to wait when no receive is posted
/// @param maxReadAtomic READs and atomics that this end may have outstanding, and that it serves at once, 0 to 255. A
///     value over the device's limit counts as that limit
/// ([DeviceAttributes.TransportLimits#maxQpInitiatorReadAtomic()],
///     [DeviceAttributes.TransportLimits#maxQpReadAtomic()])
/// @param trafficClass IPv6 traffic class or IPv4 TOS, 0 to 255
/// @since 0.1
public record EndpointOptions(
        Set<Access> access,
        Optional<Mtu> mtu,
        AckTimeout ackTimeout,
        int retryCount,
        int rnrRetry,
        RnrTimer minRnrTimer,
        int maxReadAtomic,
        int trafficClass) {
    /// @throws IllegalArgumentException when a number is out of range; names it
    @Preview
    public EndpointOptions {
        access = Set.copyOf(access);
        Objects.requireNonNull(mtu, "mtu");
        Objects.requireNonNull(ackTimeout, "ackTimeout");
        Objects.requireNonNull(minRnrTimer, "minRnrTimer");
        Checks.range("retryCount", retryCount, 0, 7);
        Checks.range("rnrRetry", rnrRetry, 0, 7);
        Checks.range("maxReadAtomic", maxReadAtomic, 0, 255);
        Checks.range("trafficClass", trafficClass, 0, 255);
    }

    /// Returns the defaults: the peer may READ, WRITE and do atomics where regions allow; 67 ms ACK timeout, 7
    /// retries, RNR without limit with 0.64 ms between attempts, 16 READs and atomics.
    public static EndpointOptions defaults() {
        return new EndpointOptions(
                Access.remoteAll(),
                Optional.empty(),
                AckTimeout.atLeast(Duration.ofMillis(60)),
                7,
                7,
                RnrTimer.atLeast(Duration.ofNanos(640_000)),
                16,
                0);
    }

    /// Returns these options with other rights of the peer. Regions may grant less.
    public EndpointOptions withAccess(Set<Access> access) {
        return new EndpointOptions(
                access, mtu, ackTimeout, retryCount, rnrRetry, minRnrTimer, maxReadAtomic, trafficClass);
    }

    /// Returns these options with this path MTU, which both ends have to set alike.
    public EndpointOptions withMtu(Mtu mtu) {
        return new EndpointOptions(
                access, Optional.of(mtu), ackTimeout, retryCount, rnrRetry, minRnrTimer, maxReadAtomic, trafficClass);
    }

    /// Returns these options with other retries of this end. When the last one has failed too, the request fails, and
    /// the queue pair goes to ERR.
    ///
    /// @param ackTimeout time to wait for an answer before sending again
    /// @param retryCount attempts after the first, 0 to 7
    /// @param rnrRetry attempts after an RNR NAK, 0 to 6; 7 is without limit
    public EndpointOptions withRetries(AckTimeout ackTimeout, int retryCount, int rnrRetry) {
        return new EndpointOptions(
                access, mtu, ackTimeout, retryCount, rnrRetry, minRnrTimer, maxReadAtomic, trafficClass);
    }

    /// Returns these options with another time that the peer waits when this end has posted no receive.
    public EndpointOptions withMinRnrTimer(RnrTimer minRnrTimer) {
        return new EndpointOptions(
                access, mtu, ackTimeout, retryCount, rnrRetry, minRnrTimer, maxReadAtomic, trafficClass);
    }

    /// Returns these options with another number of READs and atomics at once in each direction, 0 to 255. A READ
    /// beyond the number waits in the send queue.
    public EndpointOptions withMaxReadAtomic(int maxReadAtomic) {
        return new EndpointOptions(
                access, mtu, ackTimeout, retryCount, rnrRetry, minRnrTimer, maxReadAtomic, trafficClass);
    }

    /// Returns these options with another IPv6 traffic class or IPv4 TOS, 0 to 255. Its upper six bits are the DSCP,
    /// by which switches choose a queue.
    public EndpointOptions withTrafficClass(int trafficClass) {
        return new EndpointOptions(
                access, mtu, ackTimeout, retryCount, rnrRetry, minRnrTimer, maxReadAtomic, trafficClass);
    }
}
