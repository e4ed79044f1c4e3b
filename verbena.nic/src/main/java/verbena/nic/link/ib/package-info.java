/// Packets of InfiniBand to and from an adapter of the soft fabric: [IbLink].
package verbena.nic.link.ib;
