package verbena.wire.iwarp;

/// The terms on which the two sides have agreed when a connection starts (RFC 5044 7.1, RFC 6581).
///
/// @param isInitiator whether this side opened the TCP connection and sent the request
/// @param crc whether FPDUs carry a CRC, in both directions
/// @param markersIn whether arriving streams have markers
/// @param markersOut whether sent streams have to have markers
/// @param mulpdu the largest ULPDU to send, in bytes; see [Fpdu#mulpdu]
/// @param ird READs and atomics that the peer may have outstanding
/// @param ord READs and atomics that this side may have outstanding
/// @param rtr the message that the initiator sends before anything else
public record StreamTerms(
        boolean isInitiator,
        boolean crc,
        boolean markersIn,
        boolean markersOut,
        int mulpdu,
        int ird,
        int ord,
        Rtr rtr) {}
