/// Channels of bytes over any device, as sockets have them. They speak the protocol of rsockets, so a C program that
/// uses rsocket(7) is a peer.
///
/// {@snippet file="Streams.java"}
package verbena.stream;
