/// How bytes leave and enter the process: [Link] is the contract, [LinuxUdpLink] and [DatagramChannelLink] keep it
/// over UDP sockets, [UdpLinks] picks one of them, [Interfaces] and [LoopbackAddress] say which addresses there are.
/// [FaultyLink] is a bad network around any of them. [TcpLink] is the same for streams.
package verbena.nic.link;
