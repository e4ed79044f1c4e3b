/// The process of a soft fabric of InfiniBand, [FabricServer], and what it and the devices say to each other over
/// its local socket ([FabricSocket], [FabricPort]).
package verbena.nic.fabric;
