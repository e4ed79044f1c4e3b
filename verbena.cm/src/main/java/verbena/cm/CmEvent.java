package verbena.cm;

import verbena.wire.cm.CmPath;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;

/// An event that a [CmConnection] reports to its owner. The end comes exactly once: [Rejected], [Unreachable] or
/// [Disconnected].
public sealed interface CmEvent {
    /// A peer wants to connect: call [CmConnection#accept] or [CmConnection#reject].
    record Requested(Req request) implements CmEvent {}

    /// The peer has accepted: set the queue pair up, then [CmConnection#ready], or [CmConnection#reject].
    record Accepted(Rep reply) implements CmEvent {}

    /// Both sides are ready for use.
    record Established(PrivateData privateData) implements CmEvent {}

    /// The peer refuses.
    record Rejected(Rej refusal) implements CmEvent {}

    /// The peer does not answer, or answers nonsense, or its request had to make room for others.
    ///
    /// @param why in words
    record Unreachable(String why) implements CmEvent {}

    /// Passive: the peer names another alternate path, as it is seen from there. Load it, and call
    /// [PathLoading#answer].
    record AlternateAsked(CmPath path) implements CmEvent {}

    /// Active: the peer's answer about the path that [PathLoading#ask] has named.
    ///
    /// @param status as in [verbena.wire.cm.Apr]
    record AlternateAnswered(CmPath path, int status) implements CmEvent {}

    /// The connection has ended.
    ///
    /// @param byPeer whether the peer ended it
    record Disconnected(boolean byPeer, PrivateData privateData) implements CmEvent {}

    /// Long after [Disconnected] (or the end of an attempt that the peer knew of): late packets of this connection
    /// are not to be expected any more.
    record TimewaitExit() implements CmEvent {}

    /// Receives events, on the thread that calls the [CommunicationManager]; it may call the manager back.
    @FunctionalInterface
    interface Listener {
        void onEvent(CmConnection connection, CmEvent event);
    }
}
