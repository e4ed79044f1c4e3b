package verbena.nic.capture;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JZ_Result;
import org.openjdk.jcstress.infra.results.J_Result;

/// The notes of a capture: an engine writes them, and a thread of the capture reads them.
public final class Notes {
    private Notes() {}

    /// A ring with room for so many notes without bytes.
    static class Ring {
        final NoteRing ring;

        Ring(int notes) {
            this.ring = new NoteRing(notes * NoteRing.HEAD_BYTES);
        }

        final boolean write(long value) {
            synchronized (ring) {
                if (!ring.begin(1, 0)) {
                    return false;
                }
                ring.putLong(NoteRing.NANOS, value);
                ring.publish();
                return true;
            }
        }
    }

    /// A note that the reader sees is whole.
    @JCStressTest
    @Outcome(
            id = {"-1", "7"},
            expect = Expect.ACCEPTABLE,
            desc = "No note yet, or all of it.")
    @State
    public static class ReadBesideWrite extends Ring {
        public ReadBesideWrite() {
            super(2);
        }

        @Actor
        public void engine() {
            boolean _ = write(7);
        }

        @Actor
        public void reader(J_Result r) {
            int note = ring.peek();
            r.r1 = note < 0 ? -1 : ring.getLong(note, NoteRing.NANOS);
        }
    }

    /// The room of a note is free when the reader has read it, and not before.
    @JCStressTest
    @Outcome(
            id = {"7, true", "7, false"},
            expect = Expect.ACCEPTABLE,
            desc = "The reader has its note, and the writer has its room or has none.")
    @State
    public static class WriteWhereWasRead extends Ring {
        public WriteWhereWasRead() {
            super(1);
            boolean _ = write(7);
        }

        @Actor
        public void engine(JZ_Result r) {
            r.r2 = write(8);
        }

        @Actor
        public void reader(JZ_Result r) {
            int note = ring.peek();
            r.r1 = ring.getLong(note, NoteRing.NANOS);
            ring.remove(note);
        }
    }
}
