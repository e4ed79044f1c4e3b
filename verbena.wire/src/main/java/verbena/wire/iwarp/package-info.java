/// iWARP on the wire: MPA start-up frames and FPDUs (RFC 5044, 6581), DDP segments (RFC 5041), RDMAP messages (RFC
/// 5040, 7306), as views over memory.
package verbena.wire.iwarp;
