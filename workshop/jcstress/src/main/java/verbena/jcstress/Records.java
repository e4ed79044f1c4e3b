package verbena.jcstress;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import verbena.nic.link.FrameRing;
import verbena.nic.link.WakeSignal;
import verbena.wire.Frame;

/// Records go through the ring of shared memory, and their reader falls asleep beside it.
public final class Records {
    private static final int RECORDS_BYTES = 1 << 14;
    private static final int PACKET_BYTES = 32;

    private Records() {}

    /// A ring, with a frame at each end.
    static class Ring {
        final Arena arena = Arena.ofAuto();
        final MemorySegment memory = arena.allocate(FrameRing.bytes(RECORDS_BYTES), FrameRing.HEAD_BYTES);
        final FrameRing writer = new FrameRing(memory);
        final FrameRing reader = new FrameRing(memory);
        final Frame sent = frame();
        final Frame[] come = {frame(), frame()};

        Frame frame() {
            return Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64))[0];
        }

        void put(int number) {
            sent.viewOwn();
            sent.length = PACKET_BYTES;
            sent.sourceHigh = number;
            sent.destinationLow = number;
            for (int i = 0; i < PACKET_BYTES; i++) {
                sent.slot.set(ValueLayout.JAVA_BYTE, sent.start + i, (byte) number);
            }
            if (!writer.put(sent)) {
                throw new AssertionError("no room");
            }
        }

        /// Returns the number of a frame that has come; -1 when its parts belong to different ones.
        static int number(Frame frame) {
            int number = (int) frame.sourceHigh;
            boolean isWhole = frame.length == PACKET_BYTES && frame.destinationLow == number;
            for (int i = 0; i < PACKET_BYTES; i++) {
                isWhole &= frame.slot.get(ValueLayout.JAVA_BYTE, frame.start + i) == number;
            }
            return isWhole ? number : -1;
        }
    }

    /// A frame is taken whole, or not yet.
    @JCStressTest
    @Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "Not there yet.")
    @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "Whole.")
    @State
    public static class PublishBesideTake extends Ring {
        @Actor
        public void writes() {
            put(1);
            writer.publish();
        }

        @Actor
        public void reads(I_Result r) {
            r.r1 = reader.take(come, 0, 1) == 0 ? 0 : number(come[0]);
        }
    }

    /// Frames that are published together come together: the first word of the first of them shows all.
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "Not there yet.")
    @Outcome(id = "1, 2", expect = Expect.ACCEPTABLE, desc = "Both, and whole.")
    @State
    public static class BatchBesideTake extends Ring {
        @Actor
        public void writes() {
            put(1);
            put(2);
            writer.publish();
        }

        @Actor
        public void reads(II_Result r) {
            int taken = reader.take(come, 0, 2);
            r.r1 = taken > 0 ? number(come[0]) : 0;
            r.r2 = taken > 1 ? number(come[1]) : 0;
        }
    }

    /// A reader that notes that it sleeps, and then looks, either finds the record or is woken.
    @JCStressTest
    @Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "The writer wakes it.")
    @Outcome(id = "false, true", expect = Expect.ACCEPTABLE, desc = "It finds the record.")
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "Both.")
    @State
    public static class SleepBesidePublish extends Ring {
        @Actor
        public void writes(ZZ_Result r) {
            put(1);
            r.r1 = writer.publish();
        }

        @Actor
        public void falls(ZZ_Result r) {
            reader.sleep();
            VarHandle.fullFence(); // as the sleeping thread of the device has it, after it has asked all writers
            r.r2 = reader.hasRecords();
        }
    }

    /// A thread that is notified while it falls asleep does not sleep, or is woken.
    @JCStressTest
    @Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "Notified before: it does not sleep.")
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "It sleeps, and is woken.")
    @State
    public static class RaiseBesideSleep {
        private final WakeSignal signal = new WakeSignal();

        @Actor
        public void wakes(ZZ_Result r) {
            r.r2 = signal.raise();
        }

        @Actor
        public void falls(ZZ_Result r) {
            r.r1 = signal.sleep();
        }
    }
}
