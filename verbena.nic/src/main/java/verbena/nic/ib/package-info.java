/// Devices of InfiniBand: adapters of the soft fabric.
package verbena.nic.ib;
