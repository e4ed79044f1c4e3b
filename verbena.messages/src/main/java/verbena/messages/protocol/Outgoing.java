package verbena.messages.protocol;

import java.lang.foreign.MemorySegment;

/// A message on its way out. Its memory belongs to it until [#done()] or [#failed].
public abstract class Outgoing {
    private static final byte[] NO_HEADER = {};

    final Kind kind;
    final long tag;
    final MemorySegment data;
    /// The header of an active message, which goes in a frame even when the data does not.
    final byte[] header;
    final boolean mayChange;

    /// @param data may be empty
    protected Outgoing(Kind kind, long tag, MemorySegment data) {
        this(kind, tag, data, false);
    }

    /// @param mayChange whether the memory may be the program's before the other end has read it
    Outgoing(Kind kind, long tag, MemorySegment data, boolean mayChange) {
        this(kind, tag, NO_HEADER, data, mayChange);
    }

    /// Returns an active message.
    protected Outgoing(int handler, byte[] header, MemorySegment data) {
        this(Kind.ACTIVE, activeTag(handler, header.length), header, data, false);
    }

    private Outgoing(Kind kind, long tag, byte[] header, MemorySegment data, boolean mayChange) {
        this.mayChange = mayChange;
        this.kind = kind;
        this.header = header;
        this.tag = tag;
        this.data = data;
    }

    /// Returns the value that an active message has in place of a tag.
    public static long activeTag(int handler, int headerBytes) {
        return (long) handler << 32 | headerBytes;
    }

    long bytes() {
        return header.length + data.byteSize();
    }

    /// Handles the end of the send: its bytes have left the memory.
    public abstract void done();

    /// Fails the send because the peer is lost. Called once, in place of [#done()].
    public abstract void failed(String why);
}
