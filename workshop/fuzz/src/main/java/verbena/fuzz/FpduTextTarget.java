package verbena.fuzz;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.notation.FpduText;

/// FPDUs as text, and markers in them. The input is a position in the stream and an FPDU.
final class FpduTextTarget {
    private FpduTextTarget() {}

    static void run(byte[] data) {
        var in = new Input(data);
        long position = in.u16() & ~3;
        byte[] rest = in.take(4_096);
        if (rest.length < Fpdu.LENGTH_BYTES) {
            return;
        }
        // A reader cuts FPDUs by their length: what is not there is zero.
        int length = Fpdu.length(Fpdu.ulpduLength(MemorySegment.ofArray(rest), 0));
        byte[] fpdu = Arrays.copyOf(rest, length);
        MemorySegment segment = MemorySegment.ofArray(fpdu);
        RdmapOpcode opcode = FpduText.opcode(segment);
        String text = FpduText.format(segment, FpduText.Places.NUMBERS);
        Contract.holds(!text.isEmpty(), "printed");
        Contract.equal(opcode == null, text.startsWith("FPDU of no known kind"), "a name when there is an opcode");
        markers(fpdu, position);
    }

    private static void markers(byte[] fpdu, long position) {
        MemorySegment with = MemorySegment.ofArray(new byte[2 * fpdu.length + 2 * Fpdu.MARKER_BYTES]);
        int raw = 0;
        int start = 0;
        boolean representable = true; // a marker has 16 bits for the way back
        for (byte b : fpdu) {
            if ((position + raw) % Fpdu.MARKER_INTERVAL == 0) {
                int back = raw == 0 ? 0 : raw - start;
                representable &= back <= 0xFFFF;
                Fpdu.writeMarker(with, raw, back);
                start = raw == 0 ? Fpdu.MARKER_BYTES : start;
                raw += Fpdu.MARKER_BYTES;
            }
            with.set(java.lang.foreign.ValueLayout.JAVA_BYTE, raw, b);
            raw++;
        }
        Contract.equal(raw, Fpdu.withMarkers(position, fpdu.length), "length with markers");
        byte[] plain = new byte[fpdu.length];
        boolean right = Fpdu.copyWithoutMarkers(with, 0, raw, position, MemorySegment.ofArray(plain));
        Contract.equal(fpdu, plain, "without markers");
        Contract.equal(representable, right, "every marker points at the FPDU's start");
    }
}
