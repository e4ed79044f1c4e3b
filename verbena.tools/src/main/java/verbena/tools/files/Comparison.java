package verbena.tools.files;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.tools.files.ComparisonReport.Row;
import verbena.tools.files.ComparisonReport.Spread;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Costs;

/// The same file between the same two processes by each way in turn, round by round, so that whatever else the
/// machine does hits all of them. The first round warms the virtual machines, checks every byte and does not
/// count.
final class Comparison {
    private static final double MIB = 1 << 20;

    /// The result of one run.
    private record Run(double seconds, Costs sender, Costs receiver, OptionalLong source, OptionalLong target) {}

    private final List<Way> ways;
    private final Path file;
    private final Path target;
    private final int rounds;
    private final boolean isWarm;
    private final Consumer<String> tell;

    /// @param file to copy
    /// @param scratch a folder for the copies, each deleted after its run
    /// @param isWarm whether the file is in the page cache before each run; else it is dropped from there
    Comparison(List<Way> ways, Path file, Path scratch, int rounds, boolean isWarm, Consumer<String> tell) {
        this.ways = ways;
        this.file = file;
        this.rounds = rounds;
        this.isWarm = isWarm;
        this.tell = tell;
        target = scratch.resolve("copy");
    }

    /// Fills a file with bytes by chance.
    static void make(Path file, long bytes) throws IOException {
        var random = new Random(bytes);
        var block = new byte[1 << 20];
        try (FileChannel to = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            for (long at = 0; at < bytes; at += block.length) {
                random.nextBytes(block);
                ByteBuffer part = ByteBuffer.wrap(block, 0, (int) Math.min(block.length, bytes - at));
                while (part.hasRemaining()) {
                    to.write(part);
                }
            }
            to.force(true);
        }
    }

    ComparisonReport run() throws IOException, InterruptedException {
        Map<Way, List<Run>> runs = new LinkedHashMap<>();
        Map<Way, Long> systemCalls = new LinkedHashMap<>();
        try (var sender = new ComparePeer();
                var receiver = new ComparePeer()) {
            for (int round = 0; round <= rounds; round++) {
                for (Way way : ways) {
                    tell.accept((round == 0 ? "warming up" : "round " + round + " of " + rounds) + ": " + way.name());
                    Run run = once(way, sender, receiver, round == 0, null);
                    if (round > 0) {
                        runs.computeIfAbsent(way, _ -> new ArrayList<>()).add(run);
                    }
                }
            }
            try {
                for (Way way : ways) {
                    tell.accept("counting system calls: " + way.name());
                    var trace = new Strace(sender.pid(), receiver.pid());
                    once(way, sender, receiver, false, trace);
                    systemCalls.put(way, trace.calls());
                }
            } catch (IOException e) {
                tell.accept("system calls are not counted: " + e.getMessage());
            }
        }
        return report(runs, systemCalls);
    }

    private Run once(Way way, ComparePeer sender, ComparePeer receiver, boolean isChecked, @Nullable Strace trace)
            throws IOException, InterruptedException {
        Files.deleteIfExists(target);
        prepareSource();
        String device = way.device() == null ? "" : way.device();
        receiver.order("listen", way.kind(), device, target);
        String[] at = receiver.answer().split("\t", -1);
        receiver.order("accept");
        sender.order("connect", way.kind(), device, at[0], at[1], file);
        sender.answer();
        receiver.answer();
        if (trace != null) {
            trace.start();
        }
        Costs senderBefore = Costs.of(sender.pid());
        Costs receiverBefore = Costs.of(receiver.pid());
        receiver.order("go");
        sender.order("go");
        double seconds = Long.parseLong(sender.answer()) / 1e9;
        receiver.answer();
        Costs senderAfter = Costs.of(sender.pid());
        Costs receiverAfter = Costs.of(receiver.pid());
        if (trace != null) {
            trace.stop();
        }
        OptionalLong source = cached(file);
        OptionalLong copied = cached(target);
        sender.order("close");
        receiver.order("close");
        sender.answer();
        receiver.answer();
        if (isChecked && Files.mismatch(file, target) != -1) {
            throw new CommandFailed(way.name() + ": the copy is not what the file is");
        }
        Files.delete(target);
        return new Run(seconds, senderAfter.minus(senderBefore), receiverAfter.minus(receiverBefore), source, copied);
    }

    private void prepareSource() throws IOException, InterruptedException {
        if (isWarm) {
            try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
                ByteBuffer block = ByteBuffer.allocateDirect(1 << 20);
                while (in.read(block.clear()) >= 0) {
                    // into the page cache, no further
                }
            }
        } else {
            output("dd", "of=" + file, "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none");
        }
    }

    /// Returns the number of bytes of a file in the page cache; empty when the system does not give it.
    static OptionalLong cached(Path file) throws InterruptedException {
        return output("fincore", "--bytes", "--noheadings", "--output", "RES", file.toString())
                .filter(text -> text.matches("\\d+"))
                .map(text -> OptionalLong.of(Long.parseLong(text)))
                .orElse(OptionalLong.empty());
    }

    /// Returns the output of a program; empty when there is no such program, or it has failed.
    private static Optional<String> output(String... command) throws InterruptedException {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return process.waitFor() == 0 ? Optional.of(text.strip()) : Optional.empty();
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /// A count of the system calls of both processes, which slows them down.
    private static final class Strace {
        private final long sender;
        private final long receiver;
        private @Nullable Process process;
        private long calls;

        private Strace(long sender, long receiver) {
            this.sender = sender;
            this.receiver = receiver;
        }

        void start() throws IOException {
            Process started = new ProcessBuilder("strace", "-f", "-c", "-p", "" + sender, "-p", "" + receiver)
                    .redirectErrorStream(true)
                    .start();
            process = started;
            BufferedReader said = started.inputReader(StandardCharsets.UTF_8);
            int attached = 0;
            while (attached < 2) {
                String line = said.readLine();
                if (line == null) {
                    throw new IOException("strace cannot attach to other processes here");
                }
                if (line.contains("Process " + sender + " attached")
                        || line.contains("Process " + receiver + " attached")) {
                    attached++;
                }
            }
        }

        void stop() throws IOException, InterruptedException {
            Process started = process;
            if (started == null) {
                return;
            }
            started.toHandle().destroy(); // Process#destroy would close what it is about to say
            BufferedReader said = started.inputReader(StandardCharsets.UTF_8);
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                if (line.endsWith(" total")) {
                    calls = Long.parseLong(line.strip().split("\\s+", -1)[3]);
                }
            }
            started.waitFor();
        }

        long calls() throws IOException {
            if (calls == 0) {
                throw new IOException("strace did not tell");
            }
            return calls;
        }
    }

    // ---- what it comes to

    private ComparisonReport report(Map<Way, List<Run>> runs, Map<Way, Long> systemCalls) throws IOException {
        long size = Files.size(file);
        List<Row> rows = new ArrayList<>();
        runs.forEach((way, all) -> rows.add(new Row(
                way.name(),
                way.isRdma(),
                Spread.of(all, Run::seconds),
                Spread.of(all, run -> size / MIB / run.seconds()),
                Spread.of(all, run -> run.sender().user()),
                Spread.of(all, run -> run.sender().system()),
                Spread.of(all, run -> run.receiver().user()),
                Spread.of(all, run -> run.receiver().system()),
                Spread.of(all, run -> both(run).voluntary()),
                Spread.of(all, run -> both(run).involuntary()),
                Spread.of(all, run -> both(run).readsAndWrites()),
                systemCalls.get(way),
                mib(all.getLast().source()),
                mib(all.getLast().target()),
                way.copies(),
                way.path(),
                way.switches())));
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("file", Sizes.bytes(size) + " on " + Files.getFileStore(file).type());
        facts.put(
                "source", isWarm ? "in the page cache before each run" : "dropped from the page cache before each run");
        facts.put("copy", "a new file; the copy does not wait for the disk, except with O_DIRECT");
        facts.put("rounds", rounds + " after one that does not count; the methods take turns");
        facts.put(
                "machine",
                Runtime.getRuntime().availableProcessors() + " processors, " + System.getProperty("os.name") + " "
                        + System.getProperty("os.version") + ", Java " + System.getProperty("java.version"));
        facts.put("network", "loopback, two processes");
        return new ComparisonReport("A file between two processes, by each method", facts, size, rows);
    }

    private static Costs both(Run run) {
        return run.sender().plus(run.receiver());
    }

    private static @Nullable Double mib(OptionalLong bytes) {
        return bytes.isPresent() ? bytes.getAsLong() / MIB : null;
    }
}
