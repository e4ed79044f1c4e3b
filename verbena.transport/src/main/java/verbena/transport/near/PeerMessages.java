package verbena.transport.near;

import java.lang.foreign.MemorySegment;
import verbena.transport.rc.PacketWay;

/// Brings the messages of a reliable connection to the peer's device on the same host, without packets and in their
/// order. No message is lost. Packets take the same queue, and are dropped only where there is no room.
/// Engine-confined.
public interface PeerMessages extends PacketWay {
    /// Returns whether messages may pass without packets. Otherwise those that come are declined.
    boolean isOpen();

    /// Begins a [verbena.wire.DirectMessage] of so many bytes: returns its place in [#memory()], or a negative
    /// number when there is no room now. It is added with [#end()], and never if that is not called.
    long begin(int bytes);

    /// Returns the memory of the message that was begun.
    MemorySegment memory();

    /// Completes the message that was begun. The peer sees it after [#show()].
    void end();

    /// Shows the peer all that was added.
    void show();
}
