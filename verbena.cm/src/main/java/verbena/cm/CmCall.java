package verbena.cm;

import org.jspecify.annotations.Nullable;
import verbena.wire.ib.Bth;
import verbena.wire.ib.NativePacket;

/// The terms that the active side asks for, and that both sides get.
///
/// @param serviceId see [verbena.wire.cm.IpCmHeader#serviceId]
/// @param transportType as in [verbena.wire.cm.Req]
/// @param pathMtu 1 for 256 bytes to 5 for 4096; both paths carry it
/// @param ackTimeout code of both queue pairs' ACK timeout
/// @param retryCount both queue pairs', 0 to 7
/// @param responseTimeout code of how long either side may take to answer
/// @param maxRetries how often a message is sent again, 0 to 15
/// @param pkey P_Key of both queue pairs
/// @param alternate the path that both migrate to when the primary one fails (IBTA 17.2.8); null for none
public record CmCall(
        long serviceId,
        int transportType,
        int pathMtu,
        int ackTimeout,
        int retryCount,
        int trafficClass,
        int responseTimeout,
        int maxRetries,
        int pkey,
        Path primary,
        @Nullable Path alternate) {
    /// A path through the network.
    ///
    /// @param localLid own LID
    /// @param remoteLid the peer's LID
    /// @param isSubnetLocal whether no router is on the path
    /// @param packetRate `enum ibv_rate`
    public record Path(
            int localLid, int remoteLid, int serviceLevel, boolean isSubnetLocal, int packetRate, int hopLimit) {
        /// Makes a path on wires without LIDs (IBTA A16.5.2.1).
        static Path byGid(int packetRate, int hopLimit) {
            return new Path(NativePacket.LID_PERMISSIVE, NativePacket.LID_PERMISSIVE, 0, false, packetRate, hopLimit);
        }
    }

    /// Makes a call on a wire without LIDs.
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
                responseTimeout,
                maxRetries,
                Bth.PKEY_DEFAULT,
                Path.byGid(packetRate, hopLimit),
                null);
    }

    /// Returns the same call by these paths.
    ///
    /// @param mtuMax the largest path MTU on them, as a code
    public CmCall by(int pkey, int mtuMax, Path primary, @Nullable Path alternate) {
        return new CmCall(
                serviceId,
                transportType,
                Math.min(pathMtu, mtuMax),
                ackTimeout,
                retryCount,
                trafficClass,
                responseTimeout,
                maxRetries,
                pkey,
                primary,
                alternate);
    }
}
