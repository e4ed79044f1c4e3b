/// RoCE v2 over UDP sockets. [UdpLinks] chooses between [LinuxUdpLink] and [DatagramChannelLink].
package verbena.nic.link.udp;
