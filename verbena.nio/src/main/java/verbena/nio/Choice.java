package verbena.nio;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import verbena.nio.KnownPeers.Reach;

/// The choice between RDMA and TCP in an [Attempt] to connect. RDMA has a head start, and TCP has its turn when that
/// is over. A function of events and time, given as nanoseconds.
///
/// Both are never under way to the same peer: RDMA is withdrawn before TCP begins. Until this side confirms a
/// connection by RDMA, the peer learns that there is none; and [#onAnswer] decides whether this side confirms it.
final class Choice {
    /// The transport whose turn it is.
    enum Turn {
        RDMA,
        TCP,
        /// The end of the attempt: it is connected, or has failed, or is given up.
        OVER
    }

    private final KnownPeers known;
    private final InetSocketAddress peer;
    private final Reach reach;
    private final long headStartNanos;
    /// The time when the turn of TCP begins, unless the peer has accepted.
    private final long latest;

    private Turn turn;
    private boolean isAsked;
    private long asked;
    /// Whether RDMA connects it, unless that fails at the last step.
    private boolean isAnswered;
    /// Whether the peer has refused RDMA, or this side cannot use it.
    private boolean hasFailed;

    private long deadline;

    /// @param mayTryRdma as the rules say
    /// @param limitNanos how long the program waits at most, `Long.MAX_VALUE` when it has not said so
    Choice(KnownPeers known, InetSocketAddress peer, Reach reach, boolean mayTryRdma, long limitNanos, long now) {
        this.known = known;
        this.peer = peer;
        this.reach = reach;
        this.headStartNanos = mayTryRdma ? known.headStart(peer, reach, limitNanos, now) : 0;
        this.latest = now + known.mostNanos(headStartNanos, limitNanos);
        this.turn = headStartNanos > 0 ? Turn.RDMA : Turn.TCP;
        this.deadline = now + known.setupNanos(limitNanos);
    }

    private static long earlier(long one, long other) {
        return one - other < 0 ? one : other;
    }

    Turn turn() {
        return turn;
    }

    /// Returns the time that RDMA still has while it is its turn; `Long.MAX_VALUE` when the peer has accepted.
    long nanosLeft(long now) {
        return isAnswered ? Long.MAX_VALUE : Math.max(0, deadline - now);
    }

    // ---- what happens

    /// Notes that the peer is asked now: its time begins here.
    void onAsked(long now) {
        isAsked = true;
        asked = now;
        deadline = earlier(now + headStartNanos, latest);
    }

    /// Handles the acceptance of the peer by RDMA, also one to come. Returns whether this side confirms it; else
    /// the peer learns that there is no connection.
    boolean onAnswer(long now) {
        if (turn == Turn.RDMA) {
            isAnswered = true;
            known.answered(peer, reach, now);
        }
        return turn == Turn.RDMA;
    }

    /// Handles a connection by RDMA. Returns false when it is not wanted any more.
    boolean onRdma() {
        boolean isTaken = turn == Turn.RDMA;
        turn = isTaken ? Turn.OVER : turn;
        return isTaken;
    }

    /// Handles a failure of RDMA. Returns false when it was not the turn of RDMA any more.
    boolean onRdmaFailed(Failure how, long now) {
        boolean isNews = turn == Turn.RDMA;
        if (isNews) {
            isAnswered = false;
            hasFailed = how != Failure.SILENCE;
            switch (how) {
                case SILENCE -> known.silent(peer, reach, now);
                case REFUSED -> known.answered(peer, reach, now);
                case OWN -> {}
            }
            turn = Turn.TCP;
        }
        return isNews;
    }

    /// The kinds of failure of an attempt by RDMA.
    enum Failure {
        /// A refusal by the peer's device.
        REFUSED,
        /// No answer of the peer.
        SILENCE,
        /// A failure of this side, or a refusal by the peer's kernel.
        OWN;

        /// Returns the kind of a failure to connect by RDMA.
        static Failure of(Throwable why) {
            return switch (why) {
                case SocketTimeoutException e -> SILENCE;
                case ConnectException e -> REFUSED;
                default -> OWN;
            };
        }
    }

    /// Handles the passing of time.
    void onTime(long now) {
        if (turn == Turn.RDMA && !isAnswered && deadline - now <= 0) {
            if (isAsked && now - asked >= headStartNanos) {
                known.silent(peer, reach, now);
            } else {
                known.gaveUp(peer, reach, now);
            }
            turn = Turn.TCP;
        }
    }

    /// Handles a connection by TCP. Returns false when it is not wanted any more.
    boolean onTcp(long now) {
        boolean isTaken = turn == Turn.TCP;
        if (isTaken && hasFailed) {
            known.takesTcpOnly(peer, now);
        }
        turn = isTaken ? Turn.OVER : turn;
        return isTaken;
    }

    /// Ends the attempt: TCP has failed as the last transport, or another failure ends it.
    void onFailed() {
        turn = Turn.OVER;
    }

    /// Handles that the program has given the attempt up.
    void onCancel(long now) {
        if (turn == Turn.RDMA && !isAnswered) {
            known.gaveUp(peer, reach, now);
        }
        turn = Turn.OVER;
    }
}
