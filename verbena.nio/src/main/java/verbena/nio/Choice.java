package verbena.nio;

import java.net.InetSocketAddress;
import verbena.nio.KnownPeers.Reach;

/// Which of RDMA and TCP an [Attempt] to connect takes: RDMA has a head start, and TCP has its turn when that is over.
/// A function of events and time, given as nanoseconds.
///
/// Both are never under way to the same peer: RDMA is withdrawn before TCP begins. The peer is told that it has no
/// connection by RDMA, as long as this side has not confirmed one; and confirming is what [#onAnswer] decides.
final class Choice {
    /// What is to be done.
    enum Turn {
        RDMA,
        TCP,
        /// Nothing more: it is connected, or has failed, or is given up.
        OVER
    }

    private final KnownPeers known;
    private final InetSocketAddress peer;
    private final Reach reach;
    private final long headStartNanos;
    /// By which time it is TCP's turn, unless the peer has accepted.
    private final long latest;

    private Turn turn;
    private boolean isAsked;
    private long asked;
    /// RDMA is what connects it, unless that fails at the last step.
    private boolean isAnswered;
    /// The peer has refused RDMA, or this side cannot.
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

    /// How long RDMA still has, while it is its turn; `Long.MAX_VALUE` when the peer has accepted.
    long nanosLeft(long now) {
        return isAnswered ? Long.MAX_VALUE : Math.max(0, deadline - now);
    }

    // ---- what happens

    /// The peer is asked now; it has its time from here.
    void onAsked(long now) {
        isAsked = true;
        asked = now;
        deadline = earlier(now + headStartNanos, latest);
    }

    /// The peer has accepted by RDMA, or will. Whether that is confirmed: else the peer is told that there is none.
    boolean onAnswer(long now) {
        if (turn == Turn.RDMA) {
            isAnswered = true;
            known.answered(peer, reach, now);
        }
        return turn == Turn.RDMA;
    }

    /// There is a connection by RDMA. False when it is not wanted any more.
    boolean onRdma() {
        boolean isTaken = turn == Turn.RDMA;
        turn = isTaken ? Turn.OVER : turn;
        return isTaken;
    }

    /// RDMA has failed. False when it was not its turn any more.
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

    /// How an attempt by RDMA fails.
    enum Failure {
        /// The device of the peer has said no.
        REFUSED,
        /// The peer has not said anything.
        SILENCE,
        /// This side could not, or the peer's kernel has said no.
        OWN
    }

    /// Time has passed.
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

    /// There is a connection by TCP. False when it is not wanted any more.
    boolean onTcp(long now) {
        boolean isTaken = turn == Turn.TCP;
        if (isTaken && hasFailed) {
            known.takesTcpOnly(peer, now);
        }
        turn = isTaken ? Turn.OVER : turn;
        return isTaken;
    }

    /// TCP has failed, so all has; or something else that ends it.
    void onFailed() {
        turn = Turn.OVER;
    }

    /// The program has given it up.
    void onCancel(long now) {
        if (turn == Turn.RDMA && !isAnswered) {
            known.gaveUp(peer, reach, now);
        }
        turn = Turn.OVER;
    }
}
