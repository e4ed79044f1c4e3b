package verbena.tools.pingpong;

import java.util.Locale;

/// The kinds of ping-pong, and where they differ in what the C programs do.
enum PingpongService {
    /// `ibv_rc_pingpong`: a reliable connection.
    RC(1, 0),
    /// `ibv_uc_pingpong`: an unreliable connection.
    UC(1, 0),
    /// `ibv_ud_pingpong`: datagrams.
    UD(1, 40),
    /// `ibv_srq_pingpong`: reliable connections that share a receive queue.
    SRQ(256, 0);

    /// The number of messages that each end sends over TCP, one for each queue pair; those for queue pairs that are
    /// not there are empty.
    final int messages;
    /// Bytes of a receive before the message: what UD puts there is the address (IBTA 11.4.1.2).
    final int areaBytes;

    PingpongService(int messages, int areaBytes) {
        this.messages = messages;
        this.areaBytes = areaBytes;
    }

    /// Returns the name of the command, such as `rc`.
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
