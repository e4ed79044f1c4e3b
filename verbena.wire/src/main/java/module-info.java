import org.jspecify.annotations.NullMarked;

/// Every byte layout as a view over memory, and the notation in which packets are written and read.
@NullMarked
module verbena.wire {
    requires static org.jspecify;

    exports verbena.wire;
    exports verbena.wire.cm;
    exports verbena.wire.ib;
    exports verbena.wire.iwarp;
    exports verbena.wire.mad;
    exports verbena.wire.notation;
    exports verbena.wire.pcap;
    exports verbena.wire.psp;
    exports verbena.wire.roce;
}
