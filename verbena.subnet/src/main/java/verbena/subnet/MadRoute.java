package verbena.subnet;

import org.jspecify.annotations.Nullable;
import verbena.wire.mad.Smp;

/// The addresses of the packet in which a datagram travels.
///
/// @param port where it has arrived, or by which it leaves; 0 at a switch: by the forwarding table, from the
///     switch's own port
/// @param slid LID of the sender
/// @param dlid LID of the receiver; [Smp#PERMISSIVE_LID] by directed route
/// @param serviceLevel 0 to 15
/// @param sourceQpn 0 for subnet management
/// @param destinationQpn 0 for subnet management
/// @param pkey P_Key of the packet; subnet management has none
/// @param gids null without a GRH
public record MadRoute(
        int port,
        int slid,
        int dlid,
        int serviceLevel,
        int sourceQpn,
        int destinationQpn,
        int pkey,
        @Nullable Gids gids) {
    /// The addresses in a GRH.
    public record Gids(long sourceHigh, long sourceLow, long destinationHigh, long destinationLow) {}

    /// The P_Key of subnet management and of all members of the default partition.
    public static final int DEFAULT_PKEY = 0xFFFF;

    /// Makes a route without GRH.
    public MadRoute(int port, int slid, int dlid, int serviceLevel, int sourceQpn, int destinationQpn, int pkey) {
        this(port, slid, dlid, serviceLevel, sourceQpn, destinationQpn, pkey, null);
    }

    /// Returns the route of a subnet management packet from queue pair 0 to queue pair 0.
    public static MadRoute subnet(int port, int slid, int dlid, int serviceLevel) {
        return new MadRoute(port, slid, dlid, serviceLevel, Smp.QPN, Smp.QPN, DEFAULT_PKEY);
    }

    /// Returns the route back, from this LID, by this port; with a GRH when there was a GRH (IBTA 13.5.1).
    public MadRoute back(int port, int lid) {
        Gids swapped = gids == null
                ? null
                : new Gids(
                        /* sourceHigh= */ gids.destinationHigh,
                        /* sourceLow= */ gids.destinationLow,
                        /* destinationHigh= */ gids.sourceHigh,
                        /* destinationLow= */ gids.sourceLow);
        return new MadRoute(port, lid, slid, serviceLevel, destinationQpn, sourceQpn, pkey, swapped);
    }
}
