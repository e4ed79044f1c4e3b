package verbena.sim.ethernet;

import org.jspecify.annotations.Nullable;

/// A packet without content: what switches and ends decide by. Pooled by [PacketPool].
final class LightPacket {
    /// What a packet is.
    enum Kind {
        DATA,
        /// All data before [#psn] has come.
        ACK,
        /// The same, and the packet [#psn] is missing.
        NAK,
        /// A congestion notification for a flow.
        CNP,
        /// A pause frame for the priority [#psn]: it stops or, when not [#marked], resumes.
        PAUSE
    }

    Kind kind = Kind.DATA;

    @Nullable
    Transfer transfer;
    /// Length on the wire, with all headers and the gap between frames.
    int bytes;
    int priority;
    long psn;
    /// For an answer: which packet caused it.
    long causedBy;
    /// Whether a switch has met congestion (ECN's CE).
    boolean marked;
    /// Whether the sender of data wants an answer.
    boolean asks;
    /// What switches write into it; null when they need not, or it never was one that they wrote into.
    @Nullable
    Telemetry telemetry;

    boolean isMeasuring;
    /// When the packet left its sender; an answer has the time of the packet that it answers.
    long sentAt;

    /// The way in by which the switch that holds it got it.
    int ingress;
    /// Whether it takes up headroom there.
    boolean isInHeadroom;
    /// When it is fully there.
    long arrivesAt;

    @Nullable
    LightPacket next;
}
