package verbena.transport.near;

import java.lang.foreign.MemorySegment;
import verbena.transport.rc.PacketWay;

/// Brings the messages of a reliable connection to the peer's device on the same host, without packets and in their
/// order. Nothing is lost on this way. Packets go it too, and are dropped only where there is no room. Engine-confined.
public interface PeerMessages extends PacketWay {
    /// Whether messages may go and come this way. Otherwise those that come are declined.
    boolean isOpen();

    /// Begins a [verbena.wire.DirectMessage] of so many bytes: answers where in [#memory()] it goes, or with a
    /// negative number when there is no room now. It is added with [#end()], and never if that is not called.
    long begin(int bytes);

    /// The memory of the message that was begun.
    MemorySegment memory();

    /// The message that was begun is complete. The peer sees it after [#show()].
    void end();

    /// Shows the peer all that was added.
    void show();
}
