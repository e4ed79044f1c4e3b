package verbena.cm.mpa;

import java.lang.foreign.MemorySegment;
import verbena.wire.iwarp.StreamTerms;

/// An action that an [MpaConnection] wants its owner to do next ([MpaConnection#poll]).
public sealed interface MpaAction {
    /// The opening of another TCP connection to the peer. The owner opens the first by itself.
    record Connect() implements MpaAction {}

    /// The writing of this request or reply to the TCP connection.
    record Send(MemorySegment frame) implements MpaAction {}

    /// The beginning of the queue pair's stream, which the TCP connection carries from now on.
    record Begin(StreamTerms terms) implements MpaAction {}

    /// The end of the queue pair's stream, after everything that is posted has been sent:
    /// [MpaConnection#onStreamFinished] follows.
    record Finish() implements MpaAction {}

    /// The end of output: nothing more is written to the TCP connection, so that the peer sees its end.
    record EndOutput() implements MpaAction {}

    /// The closing of the TCP connection at once.
    ///
    /// @param reset whether the peer is to see that it broke off
    record Close(boolean reset) implements MpaAction {}

    /// The report of an event to the application.
    record Tell(MpaEvent event) implements MpaAction {}
}
