package verbena.messages.protocol;

import java.lang.foreign.MemorySegment;

/// A message on its way out. Its memory belongs to it until [#done()] or [#failed].
public abstract class Outgoing {
    final Kind kind;
    final long tag;
    final MemorySegment data;

    /// @param data may be empty
    protected Outgoing(Kind kind, long tag, MemorySegment data) {
        this.kind = kind;
        this.tag = tag;
        this.data = data;
    }

    /// Its bytes have left the memory.
    public abstract void done();

    /// The peer is lost. Called once, in place of [#done()].
    public abstract void failed(String why);
}
