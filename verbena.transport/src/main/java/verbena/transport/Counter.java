package verbena.transport;

/// The counters of a device besides those of the fates of packets.
public enum Counter {
    RECEIVED_PACKETS("received.packets"),
    RECEIVED_BYTES("received.bytes"),
    SENT_PACKETS("sent.packets"),
    SENT_BYTES("sent.bytes"),
    SENT_ACKS("sent.acks"),
    SENT_NAK_SEQUENCE("sent.nak.sequence"),
    SENT_NAK_INVALID_REQUEST("sent.nak.invalid.request"),
    SENT_NAK_ACCESS("sent.nak.access"),
    SENT_NAK_OPERATIONAL("sent.nak.operational"),
    SENT_NAK_RNR("sent.nak.rnr"),
    RECEIVED_NAK_SEQUENCE("received.nak.sequence"),
    RECEIVED_NAK_FATAL("received.nak.fatal"),
    RECEIVED_NAK_RNR("received.nak.rnr"),
    SENT_TERMINATES("sent.terminates"),
    RECEIVED_TERMINATES("received.terminates"),
    ACK_TIMEOUTS("ack.timeouts"),
    /// A later acknowledgement showed that a response was lost.
    IMPLIED_NAKS("implied.naks"),
    /// Probes: questions about packets that should have been answered by now.
    PROBES("probes"),
    RETRANSMITTED_PACKETS("retransmitted.packets"),
    /// Answers to READs that were placed before earlier ones had come.
    EARLY_ANSWERS("early.answers"),
    /// Packets of requests that came ahead of a gap, and were kept until their turn.
    EARLY_REQUESTS("early.requests"),
    /// One-sided requests that were carried out on the peer's memory, without a packet, and their bytes.
    DIRECT_REQUESTS("direct.requests"),
    DIRECT_BYTES("direct.bytes"),
    /// Direct requests that the kernel carried out, because the memory was not mapped here.
    DIRECT_SYSTEM_REQUESTS("direct.system.requests"),
    DIRECT_SYSTEM_BYTES("direct.system.bytes"),
    /// One-sided requests that went by packets, although the peer's memory can be reached.
    DIRECT_DECLINED_REQUESTS("direct.declined.requests"),
    DIRECT_DECLINED_BYTES("direct.declined.bytes"),
    /// Messages that went to the peer's device on the same host without a packet, and their bytes.
    DIRECT_MESSAGES("direct.messages"),
    DIRECT_MESSAGE_BYTES("direct.message.bytes"),
    /// Messages of peers that were not taken so, and came again by packets.
    DIRECT_DECLINED_MESSAGES("direct.declined.messages"),
    /// Keep-alives: questions whether an idle peer lives, repeated ones included.
    KEEP_ALIVES("keep.alives"),
    /// Packets that a switch has marked. The names of the four that count congestion are those of the kernel's
    /// drivers.
    MARKED_PACKETS("np_ecn_marked_roce_packets"),
    /// Notifications of congestion that were sent for them.
    SENT_NOTIFICATIONS("np_cnp_sent"),
    /// Notifications of the peer that lowered a rate, and others.
    HANDLED_NOTIFICATIONS("rp_cnp_handled"),
    IGNORED_NOTIFICATIONS("rp_cnp_ignored"),
    COMPLETIONS("completions"),
    /// Requests that failed; not those that are flushed, as the end of a good connection flushes its receives.
    COMPLETION_ERRORS("completion.errors"),
    /// Requests that were given back undone because their queue pair was in error or at its end.
    FLUSHED_COMPLETIONS("flushed.completions"),
    COMPLETION_OVERFLOWS("completion.overflows"),
    /// Management datagrams that were not sent because too many were waiting.
    MANAGEMENT_OVERFLOWS("management.overflows"),
    /// Suspicions that a peer is trying numbers.
    SEARCHES("searches"),
    /// Failures in our own code that ended one queue pair, stream or command, and not the device.
    CONTAINED_FAILURES("contained.failures"),
    /// Blocks of a peer because of the requests of its connections.
    BLOCKED_PEERS("blocked.peers");

    private final String label;

    Counter(String label) {
        this.label = label;
    }

    /// Returns the counter's name.
    public String label() {
        return label;
    }
}
