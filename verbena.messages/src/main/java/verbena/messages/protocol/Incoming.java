package verbena.messages.protocol;

import java.lang.foreign.MemorySegment;

/// The destination of a message.
public interface Incoming {
    /// Memory for what is not wanted any more.
    Incoming NOWHERE = new Incoming() {
        @Override
        public MemorySegment memory() {
            return MemorySegment.NULL;
        }

        @Override
        public void done(PeerOwner from, long tag, long length) {}

        @Override
        public void failed(String why) {}
    };

    /// Returns the memory for it. A message that is longer fills it, and the rest is lost.
    MemorySegment memory();

    /// Handles the message, which is in its memory.
    ///
    /// @param length bytes of the message, perhaps more than the memory has
    void done(PeerOwner from, long tag, long length);

    /// Fails the message: the peer was lost in the middle of it. Called once, in place of [#done].
    void failed(String why);
}
