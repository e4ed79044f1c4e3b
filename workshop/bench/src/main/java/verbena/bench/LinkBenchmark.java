package verbena.bench;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import verbena.nic.link.Interfaces;
import verbena.nic.link.LinkKind;
import verbena.nic.link.LoopbackAddress;
import verbena.nic.link.udp.UdpLink;
import verbena.nic.link.udp.UdpLinks;
import verbena.nic.link.udp.UdpOptions;
import verbena.verbs.Gid;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.roce.RoceV2;

/// A packet from one link to another over loopback, by one thread that serves both: ICRC sealed, sent, received,
/// ICRC verified. With `-prof gc` it shows that none of this allocates.
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class LinkBenchmark {
    private static final int BATCH = 64;
    private static final int HEADERS = Bth.BYTES + 4;

    /// The kind of link; `-shared` when the receiver is alone at an address that it would share, `-steered` when
    /// it has a neighbour there.
    @Param({"linux", "linux-shared", "linux-steered", "portable"})
    private String link;

    @Param({"64", "4096"})
    private int payloadBytes;

    private UdpLink sender;
    private UdpLink neighbour;
    private UdpLink receiver;
    private Frame[] sent;
    private Frame[] received;

    @Setup
    public void open() {
        sender = openAnywhere();
        receiver = !link.contains("-") ? openAnywhere() : openShared(LoopbackAddress.find(RoceV2.UDP_PORT));
        sent = frames();
        received = frames();
        Gid source = sender.gids().getFirst().gid();
        Gid destination = receiver.gids().getFirst().gid();
        for (Frame frame : sent) {
            frame.length = HEADERS + payloadBytes;
            frame.sourceHigh = source.high();
            frame.sourceLow = source.low();
            frame.destinationHigh = destination.high();
            frame.destinationLow = destination.low();
            BigEndian.put24(frame.slot, frame.start + 5, Math.max(0, receiver.slot()) << 16 | 0x1234);
        }
        if (link.endsWith("-steered")) {
            neighbour = openShared(destination.address());
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500);
            while (System.nanoTime() < end) { // until the links know each other
                receiver.receive(received, 0, BATCH);
                neighbour.receive(received, 0, BATCH);
            }
        }
    }

    private UdpOptions options() {
        return UdpOptions.DEFAULT.with(LinkKind.parse(link.replaceAll("-.*", "")));
    }

    private UdpLink openShared(InetAddress address) {
        var options = options().share();
        return UdpLinks.open(Interfaces.loopback().withOnly(address).gids(), RoceV2.UDP_PORT, options);
    }

    private UdpLink openAnywhere() {
        var options = options();
        return LoopbackAddress.claim(
                address -> UdpLinks.open(Interfaces.loopback().withOnly(address).gids(), RoceV2.UDP_PORT, options));
    }

    private static Frame[] frames() {
        return Frame.allocate(Arena.ofAuto().allocate((long) BATCH * Frame.SLOT_BYTES, 64));
    }

    @TearDown
    public void close() {
        sender.close();
        receiver.close();
        if (neighbour != null) {
            neighbour.close();
        }
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int packet() {
        int taken = sender.transmit(sent, 0, BATCH);
        int arrived = 0;
        int last;
        do { // packets of 4 KiB come 15 at a time
            last = receiver.receive(received, 0, BATCH);
            arrived += last;
        } while (arrived < taken && last > 0);
        if (arrived != BATCH || !received[last - 1].icrcValid) {
            throw new IllegalStateException("of " + BATCH + " packets " + taken + " taken, " + arrived + " arrived");
        }
        return arrived;
    }
}
