package verbena.stream.protocol;

/// How far the two directions of a stream have come to their end. Each side may say that it sends no more, or that
/// it neither sends nor takes anything more. Guarded as its [ByteStream] is.
public final class StreamEnds {
    /// What [#shutdown] answers when the peer need not be told.
    public static final int NOTHING = -1;

    private boolean mayRead;
    private boolean mayWrite;
    /// The peer knows that nothing more is sent.
    private boolean hasSaidNoMore;

    /// There is a connection.
    public void begin() {
        mayRead = true;
        mayWrite = true;
    }

    /// Whether more than what waits already can be read.
    public boolean mayRead() {
        return mayRead;
    }

    public boolean mayWrite() {
        return mayWrite;
    }

    /// Takes in what the peer has said; whether the connection is over.
    public boolean look(ByteStream of) {
        if (of.peerSendsNoMore()) {
            mayRead = false;
        }
        return (hasSaidNoMore && of.peerSendsNoMore() && of.isSent()) || of.isOver() || of.failure() != null;
    }

    /// Whether the peer was told that nothing more is sent.
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

    /// Whether both directions have ended.
    public boolean isAll() {
        return !mayRead && !mayWrite;
    }

    /// Tells the peer. Only while [ByteStream#hasControl()].
    public void say(int what, ByteStream by) {
        by.sendControl(what);
        hasSaidNoMore = true;
    }

    /// The connection is over.
    public void end() {
        mayRead = false;
        mayWrite = false;
    }
}
