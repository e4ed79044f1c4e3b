package verbena.cm.mpa;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.verbs.cm.PrivateData;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.MpaFrame;
import verbena.wire.iwarp.Rtr;
import verbena.wire.iwarp.StreamTerms;
import verbena.wire.iwarp.TerminateCode;

/// The terms of one side in its request or reply, and the result of both (RFC 5044 7.1, RFC 6581). Functions only:
/// [MpaConnection] sends and receives the frames.
///
/// @param revision 1 or 2
/// @param enhanced whether IRD, ORD and the first message are given; only in revision 2
/// @param crc whether this side wants CRCs; both use them if either does
/// @param markers whether this side wants markers in the stream that it receives
/// @param peerToPeer whether the initiator sends a ready-to-receive message first, so that the responder need not
///     wait for one of the application's
/// @param rtrSend whether a SEND of no bytes will do for that
/// @param rtrWrite whether a WRITE of no bytes will do
/// @param rtrRead whether a READ of no bytes will do
/// @param ird READs and atomics that this side can serve at once; [MpaFrame#DEPTH_MAX] when it gives none
/// @param ord READs and atomics that this side wants to have outstanding; [MpaFrame#DEPTH_MAX] when it gives none
public record MpaTerms(
        int revision,
        boolean enhanced,
        boolean crc,
        boolean markers,
        boolean peerToPeer,
        boolean rtrSend,
        boolean rtrWrite,
        boolean rtrRead,
        int ird,
        int ord) {
    /// The outcome of a reply.
    ///
    /// @param terms that are agreed; null when none are
    /// @param code of the TERMINATE when nothing is
    public record Outcome(
            @Nullable StreamTerms terms, @Nullable TerminateCode code) {}

    /// Returns terms of revision 2, with all that belongs to it; a WRITE or a READ will do for the first message.
    /// The application of either side may send first then. Devices offer these terms.
    public static MpaTerms enhanced(boolean crc, int ird, int ord) {
        return new MpaTerms(2, true, crc, false, true, false, true, true, ird, ord);
    }

    /// Returns these terms without a first message of the initiator: its application has to send first.
    MpaTerms withoutFirstMessage() {
        return new MpaTerms(revision, enhanced, crc, markers, false, false, false, false, ird, ord);
    }

    /// Returns terms of revision 1: nothing is agreed about READs, and the initiator's application has to send
    /// first.
    public static MpaTerms basic(boolean crc) {
        return new MpaTerms(1, false, crc, false, false, false, false, false, MpaFrame.DEPTH_MAX, MpaFrame.DEPTH_MAX);
    }

    /// Reads the terms of a frame whose length has been found ([MpaFrame#length]).
    public static MpaTerms read(MemorySegment segment, long offset) {
        int flags = MpaFrame.flags(segment, offset);
        boolean enhanced = MpaFrame.isEnhanced(segment, offset);
        int ird = enhanced ? MpaFrame.irdWord(segment, offset) : MpaFrame.DEPTH_MAX;
        int ord = enhanced ? MpaFrame.ordWord(segment, offset) : MpaFrame.DEPTH_MAX;
        boolean peerToPeer = (ird & MpaFrame.PEER_TO_PEER) != 0;
        return new MpaTerms(
                MpaFrame.revision(segment, offset),
                enhanced,
                (flags & MpaFrame.CRC) != 0,
                (flags & MpaFrame.MARKERS) != 0,
                peerToPeer,
                peerToPeer && (ird & MpaFrame.RTR_SEND) != 0,
                peerToPeer && (ord & MpaFrame.RTR_WRITE) != 0,
                peerToPeer && (ord & MpaFrame.RTR_READ) != 0,
                ird & MpaFrame.DEPTH_MAX,
                ord & MpaFrame.DEPTH_MAX);
    }

    /// Returns whether the frame that these terms were read from rejects the connection.
    public static boolean isReject(MemorySegment segment, long offset) {
        return (MpaFrame.flags(segment, offset) & MpaFrame.REJECT) != 0;
    }

    /// Writes these terms as a frame; returns its length.
    ///
    /// @param privateData at most [#privateDataMax] bytes
    public int write(MemorySegment segment, long offset, boolean isReply, boolean reject, MemorySegment privateData) {
        int flags = (markers ? MpaFrame.MARKERS : 0)
                | (crc ? MpaFrame.CRC : 0)
                | (reject ? MpaFrame.REJECT : 0)
                | (enhanced ? MpaFrame.ENHANCED : 0);
        int irdWord = ird | (peerToPeer ? MpaFrame.PEER_TO_PEER : 0) | (rtrSend ? MpaFrame.RTR_SEND : 0);
        int ordWord = ord | (rtrWrite ? MpaFrame.RTR_WRITE : 0) | (rtrRead ? MpaFrame.RTR_READ : 0);
        return MpaFrame.write(segment, offset, isReply, flags, revision, irdWord, ordWord, privateData);
    }

    /// Returns these terms as a frame of their own.
    MemorySegment frame(boolean isReply, boolean reject, PrivateData privateData) {
        MemorySegment whole = MemorySegment.ofArray(new byte[MpaFrame.HEADER_BYTES + MpaFrame.PRIVATE_DATA_MAX]);
        return whole.asSlice(0, write(whole, 0, isReply, reject, MemorySegment.ofArray(privateData.bytes())));
    }

    /// Returns the bytes of private data that the application may add.
    public int privateDataMax() {
        return MpaFrame.PRIVATE_DATA_MAX - (enhanced ? MpaFrame.ENHANCED_BYTES : 0);
    }

    /// Returns the answer to a request by a responder that could do these terms: in the request's revision, with
    /// what both can, and with one of the first messages that the request offers. As soft-iWARP does, a WRITE
    /// before a READ.
    public MpaTerms reply(MpaTerms request) {
        boolean p2p = request.peerToPeer;
        boolean write = p2p && request.rtrWrite && rtrWrite;
        boolean read = p2p && !write && request.rtrRead && rtrRead;
        boolean send = p2p && !write && !read && request.rtrSend && rtrSend;
        return new MpaTerms(
                Math.min(request.revision, 2),
                request.enhanced,
                crc || request.crc,
                markers,
                p2p,
                send,
                write,
                read,
                !request.enhanced ? MpaFrame.DEPTH_MAX : ird,
                !request.enhanced ? MpaFrame.DEPTH_MAX : lower(ord, request.ird));
    }

    /// Returns the terms of a responder that has sent `reply` to `request`.
    ///
    /// @param ird what to serve, and
    /// @param ord to have outstanding, when the request gave none
    /// @param emss bytes of payload of a full TCP segment
    public static StreamTerms ofResponder(MpaTerms request, MpaTerms reply, int ird, int ord, int emss) {
        return new StreamTerms(
                false,
                reply.crc,
                reply.markers,
                request.markers,
                Fpdu.mulpdu(emss, request.markers),
                reply.ird == MpaFrame.DEPTH_MAX ? ird : reply.ird,
                reply.ord == MpaFrame.DEPTH_MAX ? ord : reply.ord,
                rtr(reply));
    }

    /// Returns the terms of an initiator that has sent `request` and received `reply`, which does not reject. It
    /// has no more READs outstanding than the responder can serve. It cannot go on when the responder wants more
    /// READs of it than it can serve, or has picked none of the first messages that it offered (RFC 6581 9).
    ///
    /// @param ird what to serve, and
    /// @param ord to have outstanding, when the reply gives none
    /// @param emss bytes of payload of a full TCP segment
    public static Outcome ofInitiator(MpaTerms request, MpaTerms reply, int ird, int ord, int emss) {
        if (reply.revision != request.revision || reply.enhanced != request.enhanced || (request.crc && !reply.crc)) {
            return new Outcome(null, TerminateCode.START_UP);
        }
        if (reply.enhanced && reply.ord != MpaFrame.DEPTH_MAX && reply.ord > request.ird) {
            return new Outcome(null, TerminateCode.INSUFFICIENT_IRD);
        }
        Rtr rtr = rtr(reply);
        boolean offered = switch (rtr) {
            case NONE -> !request.peerToPeer;
            case SEND -> request.rtrSend;
            case WRITE -> request.rtrWrite;
            case READ -> request.rtrRead;
        };
        if (!offered || reply.peerToPeer != request.peerToPeer) {
            return new Outcome(null, TerminateCode.NO_MATCHING_RTR);
        }
        return new Outcome(
                new StreamTerms(
                        true,
                        reply.crc,
                        request.markers,
                        reply.markers,
                        Fpdu.mulpdu(emss, reply.markers),
                        request.ird == MpaFrame.DEPTH_MAX ? ird : request.ird,
                        reply.ird == MpaFrame.DEPTH_MAX
                                ? ord
                                : request.ord == MpaFrame.DEPTH_MAX
                                        ? Math.min(ord, reply.ird)
                                        : lower(request.ord, reply.ird),
                        rtr),
                null);
    }

    private static int lower(int ord, int peersIrd) {
        return peersIrd == MpaFrame.DEPTH_MAX ? ord : Math.min(ord, peersIrd);
    }

    private static Rtr rtr(MpaTerms reply) {
        return reply.rtrWrite ? Rtr.WRITE : reply.rtrRead ? Rtr.READ : reply.rtrSend ? Rtr.SEND : Rtr.NONE;
    }
}
