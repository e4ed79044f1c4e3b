/// iWARP without I/O: RDMAP over DDP over MPA (RFC 5040, 5041, 5044, 6581, 7306), functions of state, bytes and
/// time.
package verbena.transport.iwarp;
