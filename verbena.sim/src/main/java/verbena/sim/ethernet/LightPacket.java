package verbena.sim.ethernet;

import org.jspecify.annotations.Nullable;

/// A packet without content: what switches and ends decide by. A frame of an [Emulation] has its content elsewhere.
/// Pooled by [PacketPool].
final class LightPacket {
    /// The kinds of packets.
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

    static final int NO_FRAME = -1;
    static final int NO_HOST = -1;

    Kind kind = Kind.DATA;

    /// The number of the host that it goes to; a pause goes to no host, and has -1.
    int to = NO_HOST;
    /// A value by which equal paths are chosen.
    int hash;
    /// A number that distinguishes it from others of its flow, for switches that spray.
    int serial;
    /// The flow that it is a packet of; null for pauses and for frames from outside.
    @Nullable
    Flow flow;
    /// The place of a frame from outside, or -1.
    int frame = NO_FRAME;
    /// Length on the wire, with all headers and the gap between frames.
    int bytes;
    int priority;
    long psn;
    /// The packet that caused an answer.
    long causedBy;
    /// A bit for each of the 128 packets behind [#psn], set for those that have come; for an answer of selective
    /// repeat.
    long near;

    long far;
    /// Whether a switch has met congestion (ECN's CE).
    boolean marked;
    /// Whether its sender understands marks (ECN's ECT). A switch drops what it cannot mark (RFC 3168, 5).
    boolean isMarkable;
    /// Whether the sender of data wants an answer.
    boolean asks;
    /// The record that switches write into it. It is null when they need not, or the packet never carried a record.
    @Nullable
    Telemetry telemetry;

    boolean isMeasuring;
    /// The time when the packet left its sender; an answer has the time of the packet that it answers.
    long sentAt;

    /// The way in by which the switch that holds it got it.
    int ingress;
    /// The time when it is fully there.
    long arrivesAt;

    @Nullable
    LightPacket next;
}
