/// The InfiniBand transport in frames: RoCE v2.
package verbena.nic.kind.roce;
