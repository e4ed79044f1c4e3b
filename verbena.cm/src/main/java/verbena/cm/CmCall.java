package verbena.cm;

/// What the active side wants and both sides get.
///
/// @param serviceId see [verbena.wire.cm.IpCmHeader#serviceId]
/// @param transportType as in [verbena.wire.cm.Req]
/// @param pathMtu 1 for 256 bytes to 5 for 4096
/// @param ackTimeout code of both queue pairs' ACK timeout
/// @param retryCount both queue pairs', 0 to 7
/// @param packetRate `enum ibv_rate`
/// @param responseTimeout code of how long either side may take to answer
/// @param maxRetries how often a message is sent again, 0 to 15
public record CmCall(
        long serviceId,
        int transportType,
        int pathMtu,
        int ackTimeout,
        int retryCount,
        int trafficClass,
        int hopLimit,
        int packetRate,
        int responseTimeout,
        int maxRetries) {}
