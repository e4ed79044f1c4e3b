package verbena.stream.protocol;

/// The ends of the two directions of a stream. Each side may announce that it sends no more, or that it neither
/// sends nor takes anything more. Guarded as its [ByteStream] is.
public final class StreamEnds {
    /// The result of [#shutdown] when the peer need not know.
    public static final int NOTHING = -1;

    private boolean mayRead;
    private boolean mayWrite;
    /// Whether the peer knows that nothing more is sent.
    private boolean hasSaidNoMore;

    /// Opens both directions, when there is a connection.
    public void begin() {
        mayRead = true;
        mayWrite = true;
    }

    /// Returns whether more can be read than the bytes that wait already.
    public boolean mayRead() {
        return mayRead;
    }

    public boolean mayWrite() {
        return mayWrite;
    }

    /// Takes in the announcements of the peer. Returns whether the connection is over.
    public boolean look(ByteStream of) {
        if (of.peerSendsNoMore()) {
            mayRead = false;
        }
        return (hasSaidNoMore && of.peerSendsNoMore() && of.isSent()) || of.isOver() || of.failure() != null;
    }

    /// Returns whether the peer knows that nothing more is sent.
    public boolean hasSaidNoMore() {
        return hasSaidNoMore;
    }

    /// Ends one direction, or both.
    ///
    /// @return what the peer is to be told, by [#say]; [#NOTHING] when it need not know
    public int shutdown(boolean endsReading, boolean endsWriting) {
        boolean isNews = endsWriting && mayWrite;
        mayRead &= !endsReading;
        mayWrite &= !endsWriting;
        if (isAll()) {
            return StreamMessage.DISCONNECT;
        }
        return isNews ? StreamMessage.SHUTDOWN : NOTHING;
    }

    /// Returns whether both directions have ended.
    public boolean isAll() {
        return !mayRead && !mayWrite;
    }

    /// Sends the announcement to the peer. It may be called only while [ByteStream#hasControl()].
    public void say(int what, ByteStream by) {
        by.sendControl(what);
        hasSaidNoMore = true;
    }

    /// Ends both directions, when the connection is over.
    public void end() {
        mayRead = false;
        mayWrite = false;
    }
}
