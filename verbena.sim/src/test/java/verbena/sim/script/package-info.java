/// Packet scripts: a test of the protocol as a sequence diagram, run in virtual time.
///
/// A script is text. Each line is a packet or something that an end does or shows; `#` starts a remark. The packet
/// part is the notation of [verbena.wire.notation]; what a line does not name is not compared.
///
/// ```
/// line     = [ "+" span ] step            the step happens exactly that long after the line before; nothing until
/// then step     = end arrow end packet [ "=>" fate ]        an end sends, and the network does what the arrow says
///          | end arrow end { "," end } packet          a multicast, and its receivers
///          | "peer" arrow end packet [ "=>" fate ]     a scripted peer sends anything
///          | end arrow "peer" packet                   an end sends, and only the scripted peer sees it
///          | "nothing"                                 neither end has anything to send now
///          | ( end | "peer" ) "=>" end message        an end, or a scripted peer, sends a message without packets
///          | end "silent"                              that end has nothing to send now
///          | "nothing until +" span  |  "nothing ever" and not while that time passes
///          | "nobody moves until +" span               time passes, arrivals and deadlines happen, no end sends
///          | end verb ...
/// packet   = notation { "from" address | "to" address | "tos" n | "ttl" n | "port" n }
/// end      = a name
/// message  = ( "send" | "write" | "answer" | "decline" | "query" ) { "number" n | "expects" n | "bytes" n
///          | "first" | "follows" | "silent" | "solicited" | "source-qp" n | "rkey" n | "at" place | "imm" n }
/// arrow    = "->" | "-x" | "->>" span | "-2>" | "-2>>" span | "-~>" | "-ce>"
/// span     = number ( "ns" | "us" | "ms" | "s" )
///
/// post send N            { "imm" n | "inv" key | option }
/// post write N -> place  { "imm" n | option }
/// post read N <- place   { option }
/// post fetch-add N -> place, post cmp-swap N N -> place
/// post atomic-write N -> place, post flush N -> place { "whole" | "global" | "persistent" }
/// post bind window -> region+N len N access right ... [ "same-key" | "index-of-none" ] { option }
/// post invalidate window
/// post recv [ "srq" n ] [ N ] { "wr" n | "into" list }
/// option   = "wr" n | "signaled" | "solicited" | "fence" | "inline" | "rkey" key | ( "from" | "into" ) list
///          | "to" ( end | group | handle ) | "qp" n | "qkey" n | "srq" n
/// list     = region+N len N { "," region+N len N }
///
/// completion wr N status [ opcode o ] [ byte-len n ] [ imm n ] [ inv key ] [ qp end ] [ source-qp n ] [ grh ]
///                        [ cause words ],
/// completion none
/// event TYPE,  state STATE,  migration ( "MIGRATED" | "REARM" | "ARMED" ),  counter name N
/// memory region+N len N as [ end ] ( sent | wr N | region+N ) [ only ],  memory [ region+N ] unchanged
/// memory region+N grh                                 the 40 bytes before the data of the last datagram
/// word region+N is N,  set region+N ( word N | len N byte N )
/// modify { STATE | attribute N | "alternate" address | "migration" ( "REARM" | "MIGRATED" ) }
/// region name { len N | iova N | pd N | access right ... },  window name type N
/// srq N [ "xrcd" N ] [ "pd" N ]                       a shared receive queue that peers name (XRC)
/// close ( region | arena | window | srq ) name
/// handle name to ( end | group ) { "traffic-class" n | "hop-limit" n | "port" n },  attach group,  detach group
/// direct [ "off" | "step" N ]                         one-sided requests go to the peer's memory, N bytes at once
/// messages [ "closed" | "full" | "room" | "unread" | "read" | "busy" | "lossy" ]
///                                                     messages need no packets; or they are declined, have no room, or
///                                                     the peer has not read them, nor packets; busy: it has read all
///                                                     but what another has just added; lossy: packets may be lost
///                                                     unread
/// at-once ( "all" | "some" )                          the poster's thread does what it can; is all of it done?
/// shown ( packet | "nothing" )                        the next packet that such a request would have sent or got
/// arm [ solicited ],  arm limit N,  notified [ N ]
/// ```
///
/// Each end has the regions `out` (sent from) and `in` (received into); b has `r1` and a has `r2`, which peers may
/// read, write and do atomics on. All are 64 KiB and start with a pattern of their own. A window `w1` is named with
/// the key it has now, `w1.0`, `w1.1` … are the keys that it had.
///
/// The payload of the scripted peer's packets continues from packet to packet through the `out` of the end that it
/// stands for, so that `as sent` holds for it too.
package verbena.sim.script;
