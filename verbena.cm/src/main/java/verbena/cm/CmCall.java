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
/// @param lids on InfiniBand; [Lids#NONE] where a GID is enough
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
        int maxRetries,
        Lids lids) {
    /// The way within a subnet of InfiniBand.
    ///
    /// @param local own LID
    /// @param remote the peer's LID
    /// @param pkey P_Key of both queue pairs
    /// @param isSubnetLocal whether no router is on the way
    public record Lids(int local, int remote, int serviceLevel, int pkey, boolean isSubnetLocal) {
        /// Of wires without LIDs (IBTA A16.5.2.1): the permissive LID, and the default partition.
        public static final Lids NONE = new Lids(0xFFFF, 0xFFFF, 0, 0xFFFF, false);
    }

    /// A call on a wire without LIDs.
    public CmCall(
            long serviceId,
            int transportType,
            int pathMtu,
            int ackTimeout,
            int retryCount,
            int trafficClass,
            int hopLimit,
            int packetRate,
            int responseTimeout,
            int maxRetries) {
        this(
                serviceId,
                transportType,
                pathMtu,
                ackTimeout,
                retryCount,
                trafficClass,
                hopLimit,
                packetRate,
                responseTimeout,
                maxRetries,
                Lids.NONE);
    }

    /// The same call by a path.
    ///
    /// @param mtuMax the largest path MTU on it, as a code
    public CmCall by(Lids lids, int mtuMax, int packetRate, int hopLimit) {
        return new CmCall(
                serviceId,
                transportType,
                Math.min(pathMtu, mtuMax),
                ackTimeout,
                retryCount,
                trafficClass,
                hopLimit,
                packetRate,
                responseTimeout,
                maxRetries,
                lids);
    }
}
