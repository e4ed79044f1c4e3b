package verbena.transport.congestion;

import org.jspecify.annotations.Nullable;
import verbena.transport.queue.Path;

/// The share of one reliable connection in a [PeerWindow]. The connection knows nothing else of the others that
/// share the window. Engine-confined.
public final class WindowShare {
    /// The most packets between two that ask for an ACK.
    private static final int ASK_PACKETS_MAX = 2 * PeerWindow.RUN;

    private final PeerWindow.Waiter waiter = this::onRoom;
    private final Runnable onReady;
    private final ReactionPoint reaction;

    /// The window to the peer; null while the connection has no peer.
    private @Nullable PeerWindow window;
    /// Whether the window will notify this connection when there is room.
    private boolean waits;
    /// Whether the window has notified of room, and nothing has been sent since.
    private boolean wasTold;
    /// PSNs under way that take up room.
    private int charged;
    /// Packets since the last that asked for an ACK.
    private int sinceAckRequest;

    /// @param onReady called when there may be room that was waited for
    /// @param reaction what else the connection holds to
    public WindowShare(Runnable onReady, ReactionPoint reaction) {
        this.onReady = onReady;
        this.reaction = reaction;
    }

    // ---- life

    /// Shares the window to a peer from now on.
    public void join(PeerWindows windows, long peerHigh, long peerLow) {
        assert window == null : "left before";
        window = windows.join(peerHigh, peerLow);
    }

    /// Leaves the window, when nothing is under way.
    public void leave(PeerWindows windows) {
        PeerWindow left = window;
        if (left != null) {
            window = null;
            left.forget(waiter);
            left.done(charged);
            windows.leave(left);
        }
        charged = 0;
        waits = false;
        wasTold = false;
        sinceAckRequest = 0;
    }

    // ---- how much

    /// Returns the number of PSNs that this connection may have under way, and all together; 0 without a peer.
    public int limit() {
        return window == null ? 0 : limit(window);
    }

    private int limit(PeerWindow of) {
        return Math.min(of.limit(), reaction.limit());
    }

    /// Returns the number of PSNs that they have under way.
    public int outstandingOfAll() {
        return window == null ? 0 : window.outstanding();
    }

    /// Returns whether `psns` more may be sent: there is room for all of them, or for half a window. If not, the
    /// connection is notified when there is.
    ///
    /// @param unanswered PSNs of this connection that have no answer, whether they take up room or not
    public boolean hasRoom(int psns, int unanswered) {
        PeerWindow of = window;
        if (of == null || waits) {
            return false;
        }
        if (unanswered > 0 && unanswered + psns > reaction.limit()) {
            return false; // the answers to these are what it waits for
        }
        int enough = Math.min(psns, Math.max(1, of.limit() / 2));
        boolean toldBefore = wasTold;
        wasTold = false;
        if (of.room() >= enough) {
            // Also what takes up no room any more may still be answered: no more than a window of its own.
            return of.limit() - unanswered >= enough;
        }
        waits = true;
        if (toldBefore) {
            of.awaitAgain(waiter);
        } else {
            of.await(waiter);
        }
        return false;
    }

    private void onRoom() {
        waits = false;
        wasTold = true;
        onReady.run();
    }

    // ---- what happens

    /// Returns whether a packet in the middle of a message asks for an ACK. The last packet of a message asks, as
    /// rxe does and the standard advises (IBTA 9.7.3.2). Enough other packets ask, so that the window never closes
    /// while no ACK is to come.
    public boolean wantsAck(int unanswered) {
        PeerWindow of = window;
        if (of == null || of.room() <= 1) {
            return true;
        }
        int limit = limit(of);
        return unanswered + 1 >= limit
                || reaction.pace().isSlow()
                || ++sinceAckRequest >= Math.max(1, Math.min(ASK_PACKETS_MAX, limit / 2));
    }

    /// Notes that a packet which asks for an ACK leaves, or that the connection goes back and will ask again.
    public void asked() {
        sinceAckRequest = 0;
    }

    /// Returns whether the rate of the connection lets a packet with data leave.
    public boolean mayLeave(long now) {
        return reaction.pace().mayLeave(now);
    }

    /// Returns the time when the rate of the connection lets a packet with data leave, if not now.
    public long leavesNanos(long now) {
        return reaction.pace().leavesNanos(now);
    }

    /// Counts a packet with data that leaves. A packet that asks for data is not counted here: the peer sends that
    /// at a rate of its own.
    public void sentData(Path by, int bytes, long now) {
        reaction.sent(by, bytes, now);
    }

    /// Counts PSNs that have been sent, or sent again.
    public void sent(int psns) {
        charged += psns;
        if (window != null) {
            window.sent(psns);
        }
    }

    /// Counts PSNs that were answered without a gap.
    public void answered(int psns) {
        if (window != null) {
            window.answered(psns);
        }
        reaction.answered(psns, charged);
    }

    /// Returns room: at most `underWay` PSNs are still under way.
    public void settle(int underWay) {
        int excess = charged - Math.max(0, underWay);
        if (excess > 0) {
            charged -= excess;
            if (window != null) {
                window.done(excess);
            }
        }
    }

    /// Returns all room, because no answer is expected any more. Other connections need not wait for it.
    public void giveUp() {
        int unanswered = charged;
        charged = 0;
        if (window != null) {
            window.done(unanswered);
        }
    }

    /// Called when a packet got lost.
    public void lost(long now) {
        if (window != null) {
            window.lost(now);
            reaction.lost(now, window.roundTripNanos());
        }
    }

    /// Called when a packet got lost that alone is sent again.
    public void repaired(long now) {
        if (window != null) {
            window.repaired(now);
            if (reaction != null) {
                reaction.repaired(now, window.roundTripNanos());
            }
        }
    }

    /// Measures a round trip: the answer to a packet that was sent only once.
    public void roundTrip(long nanos, long now) {
        if (window != null) {
            window.roundTrip(nanos);
        }
        reaction.roundTrip(nanos, now);
    }

    /// Returns the time to wait for an answer.
    public long answerNanos() {
        return window == null ? PeerWindow.ANSWER_NANOS_AT_FIRST : window.answerNanos();
    }

    /// Returns whether to probe for a packet that has no answer by then.
    public boolean mayProbe() {
        return window != null && window.mayProbe();
    }
}
