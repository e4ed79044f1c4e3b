/// How bytes leave and enter the process. [Link] is the contract. [LinuxUdpLink] and [DatagramChannelLink]
/// implement it over UDP sockets, and [UdpLinks] chooses one of them. [SharedAddress] lets links of one user
/// share an address. [ShmLink] carries frames through shared memory, [TcpLink] streams. [FaultyLink] simulates a
/// bad network around any link of frames, and [TapLink] shows its packets. [Interfaces] and [LoopbackAddress]
/// find the addresses.
package verbena.nic.link;
