/// RoCE over Ethernet itself: [EthernetLink], by a packet socket ([PacketWire]) or by AF_XDP ([XdpWire]). [TapPorts]
/// are interfaces whose cables end in this process.
package verbena.nic.link.ethernet;
