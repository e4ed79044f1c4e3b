package verbena.check.races;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.Findings;
import verbena.check.races.RaceStep.Kind;

/// The races in the logs of several processes ([RaceLog]). Logs are read side by side, in the order of their times. A
/// message is not received before it was posted, whatever the clocks of its hosts say.
public final class RaceMerge {
    private record Region(RaceStep.Memory memory, int space, int rkey, long address, long length, List<String> gids) {}

    /// A queue pair of a log.
    private static final class Pair {
        private final Log log;
        private final int qpn;
        private final List<String> gids;
        private final Chain chain;
        private int destination = -1;
        private String destinationGid = "";

        @Nullable
        private Pair peer;

        Pair(Log log, int qpn, List<String> gids, Chain chain) {
            this.log = log;
            this.qpn = qpn;
            this.gids = gids;
            this.chain = chain;
        }

        boolean leadsTo(Pair other) {
            return destination == other.qpn && other.gids.contains(destinationGid);
        }
    }

    /// A log that is being read.
    private static final class Log implements AutoCloseable {
        private final Path file;
        private final int space;
        private final Actor actor;
        private final BufferedReader in;
        private final Map<Integer, Pair> pairs = new HashMap<>();
        private final Map<Integer, Region> regions = new HashMap<>();
        private final Map<Integer, CallPlace> places = new HashMap<>();
        private final boolean isCut;
        private String process = "?";
        private @Nullable String ahead;
        private int number;
        private String @Nullable [] line;

        Log(Path file, int space, Actor actor) throws IOException {
            this.file = file;
            this.space = space;
            this.actor = actor;
            this.in = Files.newBufferedReader(file);
            this.isCut = isCut(file);
            ahead = in.readLine();
            next();
            if (line == null || !field(0).equals("V") || !field(2).equals(RaceLog.VERSION)) {
                throw new IllegalArgumentException(file + " is no log of requests of this version");
            }
        }

        /// Returns whether the last line is not whole: the process was killed.
        private static boolean isCut(Path file) throws IOException {
            try (var channel = FileChannel.open(file)) {
                ByteBuffer last = ByteBuffer.allocate(1);
                return channel.size() > 0 && channel.read(last, channel.size() - 1) == 1 && last.get(0) != '\n';
            }
        }

        void next() throws IOException {
            String text = ahead;
            ahead = in.readLine();
            number++;
            line = text == null || (ahead == null && isCut) ? null : text.split("\t", -1);
        }

        boolean isOver() {
            return line == null;
        }

        String field(int index) {
            String[] of = line;
            if (of == null || index >= of.length) {
                throw wrong("has no field " + index);
            }
            return of[index];
        }

        long longAt(int index) {
            try {
                return Long.parseLong(field(index));
            } catch (NumberFormatException e) {
                throw wrong("has no number in field " + index, e);
            }
        }

        int intAt(int index) {
            return Math.toIntExact(longAt(index));
        }

        IllegalArgumentException wrong(String what, Exception... cause) {
            return new IllegalArgumentException(
                    file + ": line " + number + " " + what, cause.length == 0 ? null : cause[0]);
        }

        Pair pair(int index) {
            Pair known = pairs.get(intAt(index));
            if (known == null) {
                throw wrong("names a queue pair that is not open");
            }
            return known;
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }

    private final Findings findings;
    private final RaceModel model;
    private final List<Log> logs = new ArrayList<>();

    private RaceMerge(Findings findings) {
        this.findings = findings;
        model = new RaceModel(false, new RaceModel.Listener() {
            @Override
            public void found(Race race) {
                race.tell(RaceMerge.this.findings);
            }

            @Override
            public void retracted(Race race) {
                race.retract(RaceMerge.this.findings);
            }
        });
    }

    /// Tells the races in logs.
    ///
    /// @throws IOException when one cannot be read
    /// @throws IllegalArgumentException when one has a mistake in it; the message names the file and the line
    public static void tell(List<Path> files, Findings findings) throws IOException {
        var merge = new RaceMerge(findings);
        try {
            for (Path each : files) {
                merge.logs.add(new Log(each, merge.logs.size(), merge.model.actor()));
            }
            merge.run();
        } finally {
            for (Log each : merge.logs) {
                each.close();
            }
        }
    }

    private void run() throws IOException {
        for (Log log = earliest(); log != null; log = earliest()) {
            read(log);
            log.next();
        }
    }

    /// Returns the log whose line is next; null when all are over.
    private @Nullable Log earliest() {
        Log first = null;
        Log waiting = null;
        for (Log each : logs) {
            if (each.isOver()) {
                continue;
            }
            if (isWaiting(each)) {
                waiting = waiting == null || each.longAt(1) < waiting.longAt(1) ? each : waiting;
            } else if (first == null || each.longAt(1) < first.longAt(1)) {
                first = each;
            }
        }
        return first == null ? waiting : first;
    }

    /// Returns whether the next line of a log is a message that no other log has posted yet.
    private boolean isWaiting(Log log) {
        if (!log.field(0).equals("G")) {
            return false;
        }
        Pair peer = log.pair(2).peer;
        if (peer == null) {
            return logs.stream().anyMatch(each -> each != log && !each.isOver());
        }
        return peer.log != log && !peer.log.isOver() && !model.hasMessage(peer.chain);
    }

    private void read(Log log) {
        switch (log.field(0)) {
            case "V" -> log.process = log.field(3);
            case "P" -> log.places.put(log.intAt(2), place(log, log.field(3)));
            case "R" -> log.regions.put(log.intAt(2), region(log));
            case "U" -> log.regions.remove(log.intAt(2));
            case "Q" -> {
                var pair = new Pair(log, log.intAt(3), gids(log.field(4)), model.open());
                log.pairs.put(log.intAt(2), pair);
                model.release(log.actor, pair);
            }
            case "C" -> connect(log, log.pair(2));
            case "X" -> close(log);
            case "S" -> post(log, log.pair(2));
            case "E" ->
                model.end(
                        log.actor,
                        log.pair(2).chain,
                        log.longAt(3),
                        log.field(4).equals("true"));
            case "D" -> model.drop(log.pair(2).chain, log.longAt(3));
            case "G" -> {
                Pair peer = log.pair(2).peer;
                if (peer != null) {
                    model.receive(log.actor, peer.chain);
                }
            }
            case "A" -> {
                RaceStep step = model.processor(log.actor, at(log, 6));
                step.add(kind(log, log.field(2)), memory(log, log.intAt(3)), log.longAt(4), log.longAt(5));
                model.access(step);
            }
            case "L" -> model.release(log.actor, log.field(2));
            case "K" -> model.acquire(log.actor, log.field(2));
            default -> throw log.wrong("begins with an unknown letter");
        }
    }

    private static List<String> gids(String text) {
        return Arrays.asList(text.split(",", -1));
    }

    private static CallPlace place(Log log, String text) {
        List<CallPlace.Frame> frames = new ArrayList<>();
        if (!text.isEmpty()) {
            for (String each : text.split("\\|", -1)) {
                String[] part = each.split(";", -1);
                if (part.length != 4) {
                    throw log.wrong("has a frame without its four parts");
                }
                frames.add(new CallPlace.Frame(part[0], part[1], part[2], Integer.parseInt(part[3])));
            }
        }
        return new CallPlace(frames);
    }

    private static CallPlace at(Log log, int index) {
        return log.places.getOrDefault(log.intAt(index), CallPlace.NONE);
    }

    private static Kind kind(Log log, String text) {
        try {
            return Kind.valueOf(text);
        } catch (IllegalArgumentException e) {
            throw log.wrong("has an unknown access", e);
        }
    }

    private static Region region(Log log) {
        String label = log.field(7) + " of process " + log.process;
        var memory = new RaceStep.Memory(log.space, label, log.longAt(5), log.field(8));
        return new Region(memory, log.space, log.intAt(3), log.longAt(4), log.longAt(6), gids(log.field(8)));
    }

    private static RaceStep.Memory memory(Log log, int number) {
        Region known = log.regions.get(number);
        if (known == null) {
            throw log.wrong("names a region that is not open");
        }
        return known.memory;
    }

    /// Notes where a queue pair leads. Its program knows the peer, so the peer has told of itself.
    private void connect(Log log, Pair pair) {
        pair.destination = log.intAt(3);
        pair.destinationGid = log.field(4);
        pair.peer = null;
        for (Log each : logs) {
            for (Pair other : each.pairs.values()) {
                if (pair.leadsTo(other)) {
                    model.acquire(log.actor, other);
                    if (other.leadsTo(pair)) {
                        pair.peer = other;
                        other.peer = pair;
                    }
                }
            }
        }
        model.release(log.actor, pair);
    }

    private void close(Log log) {
        Pair pair = log.pairs.remove(log.intAt(2));
        if (pair != null) {
            model.close(pair.chain);
        }
    }

    private void post(Log log, Pair pair) {
        RaceStep step = model.request(
                log.actor,
                pair.chain,
                log.longAt(3),
                log.field(4),
                at(log, 8),
                log.field(6).equals("true"));
        Pair peer = pair.peer;
        if (peer != null && !log.field(5).equals("-")) {
            addRemote(log, step, peer);
        }
        for (String each : log.field(12).split(";", -1)) {
            String[] part = each.split(" ", -1);
            if (part.length == 4) {
                RaceStep.Memory memory = memory(log, Integer.parseInt(part[1]));
                step.add(kind(log, part[0]), memory, Long.parseLong(part[2]), Long.parseLong(part[3]));
            }
        }
        model.post(pair.chain, step, log.field(7).equals("true"));
    }

    private static void addRemote(Log log, RaceStep step, Pair peer) {
        long address = log.longAt(9);
        int rkey = log.intAt(10);
        long bytes = log.longAt(11);
        Region found = null;
        for (Region each : peer.log.regions.values()) {
            long offset = address - each.address;
            boolean isIn = each.gids.equals(peer.gids) && offset >= 0 && offset <= each.length - bytes;
            if (isIn && (each.rkey == rkey || found == null)) {
                found = each; // the key may be a window's
                if (each.rkey == rkey) {
                    break;
                }
            }
        }
        if (found != null) {
            long from = found.memory.base() + address - found.address;
            step.add(kind(log, log.field(5)), found.memory, from, bytes);
        }
    }
}
