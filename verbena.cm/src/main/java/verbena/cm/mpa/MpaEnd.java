package verbena.cm.mpa;

import verbena.verbs.cm.PrivateData;

/// The properties of one side when a connection is made.
///
/// @param crc whether this side asks for CRCs (RFC 5044 7.1)
/// @param ird READs and atomics that this side can serve at once, less than [verbena.wire.iwarp.MpaFrame#DEPTH_MAX]
/// @param ord READs and atomics that this side wants to have outstanding, less than the same
/// @param privateData data of the application
public record MpaEnd(boolean crc, int ird, int ord, PrivateData privateData) {}
