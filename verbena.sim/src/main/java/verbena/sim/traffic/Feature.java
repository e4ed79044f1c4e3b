package verbena.sim.traffic;

/// Actions and faults of the reliable connections of a world, which have to go together with everything else that
/// these connections do. A world counts how often each has really happened ([Account#happened]), not only that it
/// was allowed to.
public enum Feature {
    /// A silent peer was asked whether it lives.
    KEEP_ALIVE("keep-alive"),
    /// The window that all connections to a peer share was full.
    SHARED_WINDOW("shared window"),
    /// A READ was asked for in several requests.
    READ_PIECES("READ pieces"),
    /// A peer without a receive asked to wait.
    RNR("RNR"),
    /// A send queue was drained while requests were outstanding, and went on.
    SQD("SQD"),
    /// A completion queue, or the number of READs at once, was changed while requests were outstanding.
    RESIZE("resize"),
    /// A device whose connections are spread over several engines.
    ENGINES("engines"),
    /// A packet was sent again.
    RETRIES("retries"),
    /// Probes: a program asked about a packet before the ACK timer ran out.
    PROBES("probes"),
    /// A message was received from a receive queue that several queue pairs share.
    SRQ("SRQ"),
    /// A message was written through a memory window.
    WINDOWS("windows"),
    /// A word was changed by a FETCH_ADD or COMPARE_SWAP.
    ATOMICS("atomics"),
    /// A message of an extended connection was received from the queue that it named, which several targets share.
    XRC("XRC"),
    /// A peer told of a marked packet, and the rate of a connection fell.
    MARKS("marks"),
    /// An answer to a READ, or a packet of a request, was kept before an earlier one had come.
    SELECTIVE_REPEAT("selective repeat");

    private final String label;

    Feature(String label) {
        this.label = label;
    }

    /// Returns the name in documents and tables.
    public String label() {
        return label;
    }
}
