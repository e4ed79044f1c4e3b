/// The packet notation: one line for one packet, printed by everything that shows packets and read by everything
/// that takes them from text.
///
///     WRITE_FIRST   psn 100  r1+0 len 3000  | 1024
///     WRITE_LAST    psn 102  ackreq         | 952
///     NAK sequence  psn 101  msn 0
///
/// ### Grammar
/// Words are separated by any white space; case matters.
///
///     packet   = head { field } [ "|" number ] [ "badicrc" ]  |  "bytes" [ hex ] [ "badicrc" ]
///     head     = [ transport "_" ] ( operation | "ACK" | "NAK" [ reason ] | "RNR" )  |  "CNP"  |  "opcode" number
///     transport= "RC" | "UC" | "UD" | "RD" | "XRC"                        RC when left out
///     operation= a constant of verbena.wire.ib.Operation
///     reason   = "sequence" | "invalid-request" | "access" | "operational" | "invalid-rd-request"
///     field    = flag [ "0" ] | word number | "qp" name | ("rkey" | "inv") region | region ("+" | "-") number
///     number   = decimal | "0x" hexadecimal | "-" decimal
///
/// `| n` is the payload in bytes, without pad. Which fields a packet has follows from its opcode;
/// `docs/notation.md` lists them. `opcode 0x1f` is a packet seen as a BTH with `n` bytes behind it, for opcodes
/// that are undefined and packets too short for their headers; `bytes` one that is too short for a BTH and an
/// ICRC.
///
/// [verbena.wire.notation.PacketText] prints, [verbena.wire.notation.PacketPattern] reads, compares and builds,
/// [verbena.wire.notation.Names] gives regions and queue pairs their names.
package verbena.wire.notation;
