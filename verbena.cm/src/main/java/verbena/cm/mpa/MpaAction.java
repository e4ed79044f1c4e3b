package verbena.cm.mpa;

import java.lang.foreign.MemorySegment;
import verbena.wire.iwarp.StreamTerms;

/// What an [MpaConnection] wants its owner to do next ([MpaConnection#poll]).
public sealed interface MpaAction {
    /// Open a TCP connection to the peer, again. The first one the owner opens by itself.
    record Connect() implements MpaAction {}

    /// Write this request or reply to the TCP connection.
    record Send(MemorySegment frame) implements MpaAction {}

    /// From now on the TCP connection carries the queue pair's stream.
    record Begin(StreamTerms terms) implements MpaAction {}

    /// Let the queue pair's stream send what is posted, and then end it: [MpaConnection#onStreamFinished] follows.
    record Finish() implements MpaAction {}

    /// Write nothing more to the TCP connection, so that the peer sees its end.
    record EndOutput() implements MpaAction {}

    /// Close the TCP connection at once.
    ///
    /// @param reset whether the peer is to see that it broke off
    record Close(boolean reset) implements MpaAction {}

    /// Tell the application.
    record Tell(MpaEvent event) implements MpaAction {}
}
