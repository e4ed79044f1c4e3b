package verbena.tools.perf;

/// The operation that is measured.
enum Verb {
    SEND("send", "Send"),
    WRITE("write", "RDMA_Write"),
    /// A WRITE that takes a receive of the peer; perftest 4.5 does not have it.
    WRITE_IMM("write-imm", "RDMA_Write with Immediate"),
    READ("read", "RDMA_Read"),
    ATOMIC("atomic", "Atomic");

    /// The name of the command, before `-bw` or `-lat`.
    final String command;
    /// The name in the program's report.
    final String title;

    Verb(String command, String title) {
        this.command = command;
        this.title = title;
    }

    /// Returns whether each operation takes a receive of the peer, so that its program is involved.
    boolean takesReceives() {
        return this == SEND || this == WRITE_IMM;
    }

    /// Returns whether the answer carries what was asked for: then its time is the round trip, otherwise half of a
    /// ping-pong.
    boolean isAnswered() {
        return this == READ || this == ATOMIC;
    }
}
