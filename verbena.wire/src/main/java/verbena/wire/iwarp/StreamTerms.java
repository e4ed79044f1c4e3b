package verbena.wire.iwarp;

/// What the two sides have agreed on when a connection starts (RFC 5044 7.1, RFC 6581).
///
/// @param isInitiator whether this side opened the TCP connection and sent the request
/// @param crc whether FPDUs carry a CRC, both ways
/// @param markersIn whether what arrives has markers
/// @param markersOut whether what is sent has to have markers
/// @param mulpdu the largest ULPDU to send, in bytes; see [Fpdu#mulpdu]
/// @param ird READs and atomics that the peer may have outstanding
/// @param ord READs and atomics that this side may have outstanding
/// @param rtr what the initiator sends before anything else
public record StreamTerms(
        boolean isInitiator,
        boolean crc,
        boolean markersIn,
        boolean markersOut,
        int mulpdu,
        int ird,
        int ord,
        Rtr rtr) {}
