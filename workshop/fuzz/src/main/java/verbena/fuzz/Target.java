package verbena.fuzz;

import java.util.Arrays;
import java.util.Locale;
import java.util.function.Consumer;
import verbena.nic.link.RingTarget;
import verbena.nic.link.ethernet.EthernetTarget;
import verbena.nic.roce.OptionsTarget;
import verbena.nic.shm.GrantsTarget;
import verbena.tools.files.FilesTarget;
import verbena.tools.perf.PerfExchangeTarget;
import verbena.tools.pingpong.PingpongTarget;

/// All targets. The folder of a target's corpus has the target's name.
public enum Target {
    PACKET("packets of the InfiniBand transport: check, headers, notation", PacketTarget::run),
    ICRC("the ICRC: sealed, verified, one bit turned over", IcrcTarget::run),
    QUEUE_PAIR("an RC, UC or UD queue pair and what its peer sends", QueuePairTarget::run),
    CM("management datagrams and a communication manager", CmTarget::run),
    MPA("requests and replies that start an MPA connection", MpaTarget::run),
    IWARP("an iWARP connection and the stream of its peer", IwarpTarget::run),
    FPDU_TEXT("FPDUs as text, and the markers in them", FpduTextTarget::run),
    CAPTURE("pcap and pcapng files, and what decode makes of them", CaptureTarget::run),
    TCP_STREAMS("segments of TCP, put together by decode", TcpStreamsTarget::run),
    NOTATION("the notation of packets and of messages, as text", NotationTarget::run),
    PINGPONG("what the peer of a ping-pong says over TCP", PingpongTarget::run),
    PERF("what the peer of a measurement says", PerfExchangeTarget::run),
    FILES("messages of cp and serve", FilesTarget::run),
    OPTIONS("options of devices, faults, addresses, endpoints, memory, as text", OptionsTarget::run),
    RING("a ring of frames in shared memory, and what the other end writes into it", RingTarget::run),
    ETHERNET("frames of RoCE v1 and RoCE v2, with headers, tags and padding of any kind", EthernetTarget::run),
    GRANTS("what a neighbour over shared memory tells of grants, and writes into its page", GrantsTarget::run);

    private final String purpose;

    @SuppressWarnings("ImmutableEnumChecker") // a static method
    private final Consumer<byte[]> run;

    Target(String purpose, Consumer<byte[]> run) {
        this.purpose = purpose;
        this.run = run;
    }

    /// Returns the name on the command line and in the corpus.
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public String purpose() {
        return purpose;
    }

    /// Gives an input to the target, and throws when a promise is broken.
    public void run(byte[] data) {
        run.accept(data);
    }

    /// @throws IllegalArgumentException when there is no such target
    static Target of(String label) {
        return Arrays.stream(values())
                .filter(target -> target.label().equals(label))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no target " + label));
    }
}
