/// How bytes leave and enter the process. [Link] is the contract; [LinuxUdpLink] and [DatagramChannelLink] implement
/// it over UDP sockets, and [UdpLinks] chooses one of them. [Interfaces] and [LoopbackAddress] find the addresses.
/// [FaultyLink] simulates a bad network around any link. [TcpLink] carries streams.
package verbena.nic.link;
