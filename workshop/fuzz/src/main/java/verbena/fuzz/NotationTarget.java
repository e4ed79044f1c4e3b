package verbena.fuzz;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import verbena.wire.Frame;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.Dreq;
import verbena.wire.cm.PrivateData;
import verbena.wire.notation.CmText;
import verbena.wire.notation.Names;
import verbena.wire.notation.NotationException;
import verbena.wire.notation.PacketPattern;
import verbena.wire.notation.PacketText;

/// The notations of packets and of the communication manager's messages, as text of any content.
final class NotationTarget {
    private static final Frame FRAME = Frame.allocate(Arena.global().allocate(Frame.SLOT_BYTES, 64))[0];
    private static final MemorySegment PAYLOAD = MemorySegment.ofArray(new byte[] {1, 2, 3});
    private static final CmMessage MESSAGE = new Dreq(7, 0x11, 0x22, 0x33, PrivateData.of((byte) 4));

    /// One region and one queue pair have names.
    private static final Names NAMES = new Names() {
        private static final Region R1 = new Region("r1", 0x1234_5678, 0x10_0000);

        @Override
        public @Nullable Region region(int rkey) {
            return rkey == R1.rkey() ? R1 : null;
        }

        @Override
        public @Nullable Region region(String name) {
            return name.equals(R1.name()) ? R1 : null;
        }

        @Override
        public OptionalInt queuePair(String name) {
            return name.equals("a") ? OptionalInt.of(0x17) : OptionalInt.empty();
        }
    };

    private NotationTarget() {}

    static void run(byte[] data) {
        String text = new String(data, StandardCharsets.UTF_8);
        var parsed = new ArrayList<PacketPattern>();
        Contract.worksOrFailsBy(NotationException.class, () -> parsed.add(PacketPattern.parse(text, NAMES)));
        parsed.forEach(NotationTarget::printAgain);
        Contract.worksOrFailsBy(NotationException.class, () -> CmText.differences(text, MESSAGE));
    }

    private static void printAgain(PacketPattern pattern) {
        // A packet that is larger than a frame is refused where it is built.
        if (!Contract.worksOrFailsBy(IllegalArgumentException.class, () -> pattern.build(FRAME, PAYLOAD))) {
            return;
        }
        String printed = PacketText.format(FRAME, NAMES);
        PacketPattern again = PacketPattern.parse(printed, NAMES);
        Contract.equal(List.of(), again.differences(FRAME), printed);
        again.build(FRAME, PAYLOAD);
        Contract.equal(printed, PacketText.format(FRAME, NAMES), "built and printed again");
    }
}
