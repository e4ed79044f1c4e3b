package verbena.tools.observe;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.lang.reflect.UndeclaredThrowableException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.nic.capture.Capture;
import verbena.nic.capture.CaptureFile;
import verbena.nic.management.CaptureChunk;
import verbena.nic.management.DeviceMXBean;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Size;
import verbena.tools.kit.ToolCommand;
import verbena.wire.pcap.PcapngBlocks;

/// `verbena capture`: what a device of a running process sends and receives, into a file.
@Command(
        name = "capture",
        header = "Capture what a running Verbena process sends and receives.",
        description = {
            "",
            "Attaches to a process of this user that uses Verbena, and writes the packets of its devices into a pcapng"
                    + " file, until Ctrl-C. Each packet that was not simply accepted has a comment that tells its fate:"
                    + " dropped and why, damaged, repeated. Wireshark shows the file without settings, and 'verbena"
                    + " decode' prints it. The process does not wait: packets that come faster than they can be"
                    + " fetched are left out, and counted.",
            "",
            "A program can also write its own capture: open its device as 'rocev2,capture=FILE'."
        })
public final class CaptureCommand extends ToolCommand {
    private static final int ENOUGH_BYTES = 4 << 20;
    private static final long IDLE_NANOS = 30_000_000;

    @Parameters(
            index = "0",
            paramLabel = "FILE",
            description = "The pcapng file, which is replaced; - writes to standard output.")
    private String file;

    @Option(
            names = {"-p", "--pid"},
            paramLabel = "PID",
            description = "The process; not needed when there is only one.")
    private @Nullable Long pid;

    @Option(
            names = {"-d", "--device"},
            paramLabel = "NAME",
            description = "Only this device, as 'verbena top' calls it, with or without its options. Default: all.")
    private @Nullable String device;

    @Option(
            names = {"-n", "--packets"},
            paramLabel = "N",
            description = "Stop after N packets.")
    private @Nullable Long packets;

    @Option(names = "--seconds", paramLabel = "S", description = "Stop after S seconds.")
    private @Nullable Double seconds;

    @Option(
            names = "--max-size",
            paramLabel = "SIZE",
            defaultValue = "1G",
            description = "Stop when the file has this size, for example 100M. Default: ${DEFAULT-VALUE}.")
    private String maxSize;

    @Option(
            names = "--buffer",
            paramLabel = "SIZE",
            defaultValue = "16M",
            description = "Size of the buffer in the process, for each device. Default: ${DEFAULT-VALUE}.")
    private String buffer;

    @Option(
            names = {"-s", "--packet-bytes"},
            paramLabel = "BYTES",
            converter = Size.class,
            description =
                    "Keep only so many bytes of each RoCE packet, from its BTH on, at least 64. That is enough to see"
                            + " what happened, and keeps up with far more packets. Default: all.")
    private int packetBytes = CaptureFile.WHOLE_PACKETS;

    private long written;
    private long bytes;

    /// One device that is captured.
    private static final class Source {
        final String name;
        final DeviceMXBean bean;
        final long id;
        long captured;
        long lost;
        boolean ended;

        Source(String name, DeviceMXBean bean, int bufferBytes, int packetBytes) {
            this.name = name;
            this.bean = bean;
            this.id = bean.startCapture(bufferBytes, packetBytes);
        }

        /// Stops the capture; idempotent.
        void stop() {
            try {
                bean.stopCapture(id);
            } catch (UndeclaredThrowableException _) {
                // it has ended by itself
            }
        }
    }

    /// A packet's block in a chunk.
    @SuppressWarnings("ArrayRecordComponent") // blocks are never compared
    private record Block(long nanos, byte[] chunk, int from, int length) {}

    @Override
    public Integer call() throws IOException, InterruptedException {
        PrintWriter err = err();
        checkPositive("--packets", packets);
        checkPositive("--seconds", seconds);
        if (packetBytes < CaptureFile.PACKET_BYTES_MIN) {
            throw wrong("--packet-bytes: at least " + CaptureFile.PACKET_BYTES_MIN + ", got " + packetBytes);
        }
        long bytesMax = size("--max-size", maxSize);
        int bufferBytes = (int) Math.min(1 << 30, size("--buffer", buffer));
        try (Observed process = observe()) {
            List<Observed.ObservedDevice> wanted = wanted(process);
            try (OutputStream out = open()) {
                var sources = new ArrayList<Source>();
                try {
                    for (Observed.ObservedDevice each : wanted) {
                        sources.add(new Source(each.bean().getName(), each.bean(), bufferBytes, packetBytes));
                    }
                    err.println("capturing "
                            + String.join(
                                    ", ", sources.stream().map(s -> s.name).toList()) + " of process " + process.pid()
                            + " (" + process.program() + "); Ctrl-C ends");
                    err.flush();
                    begin(sources, out);
                    copy(sources, out, bytesMax);
                    complete(sources, out);
                } finally {
                    sources.forEach(Source::stop);
                }
                summary(sources, err);
            } catch (IOException e) {
                throw CommandFailed.io("cannot write " + file, e);
            }
        }
        return 0;
    }

    private void checkPositive(String option, @Nullable Number value) {
        if (value != null && !(value.doubleValue() > 0)) {
            throw wrong(option + ": more than 0, got " + value);
        }
    }

    private long size(String option, String text) {
        try {
            return CaptureFile.bytes(text);
        } catch (IllegalArgumentException e) {
            throw wrong(option + ": " + e.getMessage());
        }
    }

    private Observed observe() {
        long wanted = pid == null ? only() : pid;
        try {
            return Observed.attach(wanted);
        } catch (IOException e) {
            throw new CommandFailed("cannot attach to process " + wanted + ": " + e.getMessage(), e);
        }
    }

    private static long only() {
        List<Long> all;
        try {
            all = Processes.find();
        } catch (UnsupportedOperationException e) {
            throw new CommandFailed(String.valueOf(e.getMessage()), e);
        }
        if (all.isEmpty()) {
            throw new CommandFailed("no process of this user has a device of Verbena open");
        }
        if (all.size() > 1) {
            throw new CommandFailed("several processes use Verbena: choose one with --pid: "
                    + String.join(", ", all.stream().map(String::valueOf).toList())
                    + " ('verbena top' shows which is which)");
        }
        return all.getFirst();
    }

    private List<Observed.ObservedDevice> wanted(Observed process) throws IOException, InterruptedException {
        var names = new ArrayList<String>();
        var wanted = new ArrayList<Observed.ObservedDevice>();
        for (Observed.ObservedDevice each : process.awaitDevices()) {
            String name = each.bean().getName();
            names.add(name);
            if (device == null
                    || name.equals(device)
                    || name.replaceFirst(",.*", "").equals(device)) {
                wanted.add(each);
            }
        }
        if (wanted.isEmpty()) {
            throw new CommandFailed(
                    names.isEmpty()
                            ? "process " + process.pid() + " has no device of Verbena open"
                            : "process " + process.pid() + " has no device " + device + "; it has "
                                    + String.join(", ", names));
        }
        return wanted;
    }

    private OutputStream open() {
        try {
            return new BufferedOutputStream(
                    file.equals("-")
                            ? new FileOutputStream(FileDescriptor.out) // System.out would keep its errors to itself
                            : Files.newOutputStream(Path.of(file)),
                    ENOUGH_BYTES);
        } catch (IOException e) {
            throw CommandFailed.io("cannot write " + file, e);
        }
    }

    private void begin(List<Source> sources, OutputStream out) throws IOException {
        write(out, PcapngBlocks.section("Verbena"));
        for (Source source : sources) {
            write(out, Capture.description(source.name.replaceFirst(",.*", "")));
        }
        out.flush();
    }

    private void copy(List<Source> sources, OutputStream out, long bytesMax) throws IOException {
        long until = seconds == null ? Long.MAX_VALUE : System.nanoTime() + (long) (seconds * 1e9);
        while (!Thread.currentThread().isInterrupted() && System.nanoTime() - until < 0) {
            if (!copyOnce(sources, out, bytesMax)) {
                return;
            }
        }
    }

    /// Fetches the new packets of each device, and writes them in the order of time. Returns false when there are
    /// enough.
    private boolean copyOnce(List<Source> sources, OutputStream out, long bytesMax) throws IOException {
        var blocks = new ArrayList<Block>();
        for (int i = 0; i < sources.size(); i++) {
            byte[] chunk = fetch(sources.get(i));
            for (int at = 0; at < chunk.length; at += PcapngBlocks.length(chunk, at)) {
                PcapngBlocks.interfaceNumber(chunk, at, i);
                blocks.add(new Block(PcapngBlocks.nanos(chunk, at), chunk, at, PcapngBlocks.length(chunk, at)));
            }
        }
        if (sources.size() > 1) {
            blocks.sort(Comparator.comparingLong(Block::nanos));
        }
        for (Block block : blocks) {
            if ((packets != null && written == packets) || bytes + block.length > bytesMax) {
                return false;
            }
            out.write(block.chunk, block.from, block.length);
            bytes += block.length;
            written++;
        }
        if (blocks.isEmpty()) {
            out.flush();
            if (sources.stream().allMatch(source -> source.ended) || (packets != null && written == packets)) {
                return false;
            }
            LockSupport.parkNanos(IDLE_NANOS);
        }
        return packets == null || written < packets;
    }

    private static byte[] fetch(Source source) {
        if (source.ended) {
            return new byte[0];
        }
        try {
            CaptureChunk chunk = source.bean.readCapture(source.id, ENOUGH_BYTES);
            source.captured = chunk.captured();
            source.lost = chunk.lost();
            source.ended = chunk.ended();
            return chunk.blocks();
        } catch (UndeclaredThrowableException | IllegalArgumentException _) {
            source.ended = true; // the device was closed, or its process has ended, or we were too slow
            return new byte[0];
        }
    }

    /// Writes the number of packets of each device behind the packets.
    private void complete(List<Source> sources, OutputStream out) throws IOException {
        boolean interrupted = Thread.interrupted(); // or nothing could be said any more
        Instant now = Instant.now();
        long nanos = now.getEpochSecond() * 1_000_000_000L + now.getNano();
        for (int i = 0; i < sources.size(); i++) {
            Source source = sources.get(i);
            source.stop();
            write(out, PcapngBlocks.statistics(i, nanos, source.captured + source.lost, source.lost));
        }
        out.flush();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void write(OutputStream out, byte[] block) throws IOException {
        out.write(block);
        bytes += block.length;
    }

    private void summary(List<Source> sources, PrintWriter err) {
        long lost = sources.stream().mapToLong(source -> source.lost).sum();
        err.println(
                String.format(
                        Locale.ROOT,
                        "%d packets, %d bytes%s",
                        written,
                        bytes,
                        lost == 0
                                ? ""
                                : "; " + lost
                                        + " more came too fast and are missing (-s 64 keeps up with more, a larger --buffer with bursts)"));
        err.flush();
    }
}
