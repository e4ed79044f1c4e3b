package verbena.tools.explain;

import java.util.List;
import verbena.tools.explain.Event.Contents;
import verbena.tools.explain.Event.Kind;
import verbena.tools.explain.Event.Part;

/// A recording that is always the same, for the tests of diagrams.
final class FixedRecording {
    static final Recording RECORDING = new Recording(
            Cast.ENDS,
            "fixed",
            "one of each, & <odd> \"signs\"; #1",
            List.of("Two ends."),
            List.of(
                    Event.phase(1_000_000, "Begin", "A part."),
                    new Event(
                            1_001_000,
                            2_500,
                            Kind.CALL,
                            Place.APPLICATION_A,
                            Place.DEVICE_A,
                            "doorbell",
                            "Rings.",
                            null),
                    packet(1_002_000, 8_100, Kind.PACKET, Place.DEVICE_A, "WRITE_FIRST psn 1 b+0 len 9 | 4"),
                    packet(1_002_000, -1, Kind.LOST, Place.DEVICE_A, "WRITE_LAST psn 2; #x <y> | 5"),
                    Event.of(
                            1_011_000,
                            Kind.STEP,
                            Place.DEVICE_B,
                            Place.DEVICE_B,
                            "4 bytes placed at b+0",
                            "Looked at."),
                    packet(1_012_000, 3_000, Kind.PACKET, Place.DEVICE_B, "NAK sequence psn 2 msn 0"),
                    Event.of(
                            2_500_000,
                            Kind.TOLD,
                            Place.DEVICE_B,
                            Place.APPLICATION_B,
                            "completion 7: RECV, SUCCESS",
                            "Done.")),
            List.of("Packets: 2 (1 lost) from A, 1 from B."));

    private FixedRecording() {}

    private static Event packet(long nanos, long took, Kind kind, Place from, String label) {
        byte[] bytes = {6, 0, (byte) 0xFF, (byte) 0xFF, 1, 2, 3, 4};
        var contents = new Contents(
                "1.2.3.4 -> 5.6.7.8",
                bytes,
                List.of(
                        new Part("BTH", "opcode", "<" + label + ">", "what it is", 0, 4),
                        new Part("payload", "data", "4 bytes", "", 4, 4)));
        return new Event(nanos, took, kind, from, from.opposite(), label, "A packet.", contents);
    }
}
