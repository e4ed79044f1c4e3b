import org.jspecify.annotations.NullMarked;

/// Every byte layout as a view over memory, and the notation in which packets are written and read.
@NullMarked
@SuppressWarnings("module") // its users are compiled later
module verbena.wire {
    requires static org.jspecify;

    exports verbena.wire to
            verbena.cm,
            verbena.nic,
            verbena.sim,
            verbena.subnet,
            verbena.tools,
            verbena.transport;
    exports verbena.wire.cm to
            verbena.cm,
            verbena.nic,
            verbena.tools;
    exports verbena.wire.ib to
            verbena.cm,
            verbena.nic,
            verbena.sim,
            verbena.subnet,
            verbena.tools,
            verbena.transport;
    exports verbena.wire.iwarp to
            verbena.cm,
            verbena.nic,
            verbena.tools,
            verbena.transport;
    exports verbena.wire.mad to
            verbena.cm,
            verbena.nic,
            verbena.subnet,
            verbena.tools;
    exports verbena.wire.notation to
            verbena.nic,
            verbena.sim,
            verbena.tools;
    exports verbena.wire.pcap to
            verbena.nic,
            verbena.sim,
            verbena.tools;
    exports verbena.wire.psp to
            verbena.cm,
            verbena.nic,
            verbena.tools,
            verbena.transport;
    exports verbena.wire.roce to
            verbena.nic,
            verbena.sim,
            verbena.tools,
            verbena.transport;
}
