package verbena.cm.mpa;

import verbena.verbs.cm.EndedBy;
import verbena.verbs.cm.PrivateData;
import verbena.wire.cm.RejectReason;

/// An event that an [MpaConnection] reports to its owner. At most one [Ended] comes, and nothing after it.
public sealed interface MpaEvent {
    /// A peer wants to connect: call [MpaConnection#accept] or [MpaConnection#reject].
    record Requested(MpaTerms terms, PrivateData privateData) implements MpaEvent {}

    /// The peer has accepted: prepare the queue pair, then call [MpaConnection#ready].
    record Accepted(MpaTerms terms, PrivateData privateData) implements MpaEvent {}

    /// Passive: the reply is sent, and the stream has begun.
    record Established() implements MpaEvent {}

    /// The connection is over, or has not come about.
    sealed interface Ended extends MpaEvent {
        /// Returns the reason in words.
        String why();
    }

    /// The peer refuses, or is no peer for iWARP.
    record Rejected(RejectReason reason, String why, PrivateData privateData) implements Ended {}

    /// The peer does not answer.
    record Unreachable(String why) implements Ended {}

    /// The connection has ended.
    record Disconnected(EndedBy by, String why) implements Ended {}
}
