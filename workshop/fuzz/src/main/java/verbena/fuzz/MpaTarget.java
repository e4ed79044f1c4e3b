package verbena.fuzz;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import verbena.cm.mpa.MpaTerms;
import verbena.wire.iwarp.MpaFrame;
import verbena.wire.iwarp.StreamTerms;
import verbena.wire.notation.FpduText;

/// Requests and replies that start an MPA connection, and the agreement of its two ends. The input is one byte of
/// choices and the bytes that arrive.
final class MpaTarget {
    private static final int EMSS = 1_460;

    private MpaTarget() {}

    static void run(byte[] data) {
        var in = new Input(data);
        int choices = in.u8();
        boolean isReply = (choices & 1) != 0;
        MemorySegment bytes = MemorySegment.ofArray(in.rest());
        int there = (int) bytes.byteSize();
        int length = MpaFrame.length(bytes, 0, there, isReply);
        Contract.holds(length >= -1 && length <= there, "a frame of " + length + " bytes of " + there);
        for (int cut = 0; cut < Math.min(there, length < 0 ? 24 : length); cut++) {
            // A frame that is not whole yet is not judged otherwise than when it is, unless it is refused early.
            int early = MpaFrame.length(bytes.asSlice(0, cut), 0, cut, isReply);
            Contract.holds(early == 0 || (early < 0 && length < 0), cut + " bytes of it: " + early);
        }
        if (length > 0) {
            whole(bytes.asSlice(0, length), isReply, choices);
        }
    }

    private static void whole(MemorySegment frame, boolean isReply, int choices) {
        int length = (int) frame.byteSize();
        int dataAt = MpaFrame.privateDataOffset(frame, 0);
        int dataBytes = MpaFrame.privateDataLength(frame, 0);
        Contract.equal(length, dataAt + dataBytes, "header and private data");
        Contract.holds(!FpduText.mpa(frame, isReply).isEmpty(), "printed");
        MpaTerms theirs = MpaTerms.read(frame, 0);
        boolean isReject = MpaTerms.isReject(frame, 0);
        Contract.holds(dataBytes >= 0 && dataBytes <= MpaFrame.PRIVATE_DATA_MAX, dataBytes + " bytes of private data");

        // Written and read again, all that means something is the same.
        MemorySegment copy = MemorySegment.ofArray(new byte[length]);
        int written = theirs.write(copy, 0, isReply, isReject, frame.asSlice(dataAt, dataBytes));
        Contract.equal(length, written, "bytes written");
        Contract.equal(theirs, MpaTerms.read(copy, 0), "terms written and read again");
        Contract.equal(isReject, MpaTerms.isReject(copy, 0), "rejection written and read again");
        Contract.equal(
                frame.asSlice(dataAt, dataBytes).toArray(ValueLayout.JAVA_BYTE),
                copy.asSlice(dataAt, dataBytes).toArray(ValueLayout.JAVA_BYTE),
                "private data");

        boolean crc = (choices & 2) != 0;
        MpaTerms ours =
                (choices & 4) != 0 ? MpaTerms.enhanced(crc, choices >>> 4, choices >>> 3 & 0xF) : MpaTerms.basic(crc);
        if (isReply) {
            MpaTerms.Outcome outcome = MpaTerms.ofInitiator(ours, theirs, 16, 16, EMSS);
            StreamTerms agreed = outcome.terms();
            Contract.holds((agreed == null) == (outcome.code() != null), "terms or a reason");
            if (agreed != null) {
                Contract.equal(crc || theirs.crc(), agreed.crc(), "CRC when either wants it");
            }
        } else {
            MpaTerms reply = ours.reply(theirs);
            Contract.holds(reply.crc() || !(crc || theirs.crc()), "CRC when either wants it");
            int offers = (reply.rtrSend() ? 1 : 0) + (reply.rtrWrite() ? 1 : 0) + (reply.rtrRead() ? 1 : 0);
            Contract.holds(offers <= 1, "one way to begin is picked");
            StreamTerms agreed = MpaTerms.ofResponder(theirs, reply, 16, 16, EMSS);
            Contract.equal(reply.crc(), agreed.crc(), "CRC as agreed");
        }
    }
}
