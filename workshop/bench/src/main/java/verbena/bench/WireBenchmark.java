package verbena.bench;

import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Reth;
import verbena.wire.roce.RoceV2;

/// The cost of a packet's headers and its ICRC. Run with `-prof gc` to see that nothing is allocated.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class WireBenchmark {
    /// The size of the payload.
    @Param({"64", "256", "1024", "4096"})
    public int bytes;

    @Param({"4", "6"})
    public int ipVersion;

    private final RoceV2 roce = new RoceV2();
    private final Frame frame = Frame.allocate(Arena.global().allocate(Frame.SLOT_BYTES))[0];
    private final Frame foreign = Frame.allocate(Arena.global().allocate(Frame.SLOT_BYTES))[0];

    @Setup
    public void fill() {
        write();
        frame.length = Packet.length(Opcode.RC_WRITE_ONLY, bytes);
        frame.sourceLow = 0xFFFF_7F00_0001L;
        frame.destinationLow = 0xFFFF_7F00_0002L;
        if (ipVersion == 6) {
            frame.sourceHigh = frame.destinationHigh = 0xFD77L << 48;
        }
        frame.sourcePort = 0xC123;
        roce.seal(frame, 0);
        foreign.copyFrom(frame);
        roce.seal(foreign, 0xBEEF);
    }

    @Benchmark
    public long headersRead() {
        Malformed verdict = Packet.check(frame);
        Opcode opcode = Packet.opcode(frame);
        long at = (long) Frame.HEADROOM + opcode.rethOffset();
        return verdict.ordinal()
                + Bth.psn(frame.slot, frame.start)
                + Bth.destinationQp(frame.slot, frame.start)
                + Reth.virtualAddress(frame.slot, at)
                + Reth.rkey(frame.slot, at)
                + Reth.dmaLength(frame.slot, at)
                + Packet.payloadBytes(frame, opcode);
    }

    @Benchmark
    public void headersWritten() {
        write();
    }

    @Benchmark
    public void icrcSealed() {
        roce.seal(frame, 0);
    }

    /// Verifies a packet of a sender that uses identification 0, as Verbena does.
    @Benchmark
    public boolean icrcVerified() {
        return roce.verify(frame);
    }

    /// Verifies a packet of a sender whose identification the socket hides.
    @Benchmark
    public boolean icrcVerifiedBlind() {
        return roce.verify(foreign);
    }

    private void write() {
        Bth.write(frame.slot, frame.start, Opcode.RC_WRITE_ONLY, false, 0, 0xFFFF, 0x11, true, 100);
        Reth.write(frame.slot, (long) Frame.HEADROOM + Opcode.RC_WRITE_ONLY.rethOffset(), 0x7F00_0000_1000L, 7, bytes);
    }
}
