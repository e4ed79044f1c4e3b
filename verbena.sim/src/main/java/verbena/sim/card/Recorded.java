package verbena.sim.card;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;

/// The posts of a program that ran, as the layer of checks records them (`verbena.check=record=FOLDER`). Immutable.
public final class Recorded {
    /// A request.
    ///
    /// @param pair    its queue pair, from 0
    /// @param region  the region at the peer, from 0
    /// @param address in that region
    record Ask(
            Operation operation, int bytes, boolean isInline, boolean isSignaled, int pair, int region, long address) {}

    /// The requests of one doorbell.
    ///
    /// @param gapNanos the program's own work before
    /// @param taken    completions of the thread's requests that had been taken before, in all
    record Doorbell(int thread, long gapNanos, long taken, List<Ask> asks) {}

    private final List<Doorbell> doorbells;
    private final long memory;
    private final boolean sleeps;
    private final long leftOut;

    Recorded(List<Doorbell> doorbells, long memory, boolean sleeps, long leftOut) {
        this.doorbells = List.copyOf(doorbells);
        this.memory = memory;
        this.sleeps = sleeps;
        this.leftOut = leftOut;
    }

    /// Reads a recording.
    ///
    /// @throws IllegalArgumentException when it is none; the message names the line
    public static Recorded parse(List<String> lines) {
        if (lines.isEmpty() || !lines.getFirst().equals("recording 1")) {
            throw new IllegalArgumentException("line 1: not a recording: it begins with recording 1");
        }
        var reader = new Reader();
        for (int i = 1; i < lines.size(); i++) {
            try {
                reader.read(lines.get(i).split(" ", -1));
            } catch (IllegalArgumentException | IndexOutOfBoundsException | NoSuchElementException e) {
                throw new IllegalArgumentException("line " + (i + 1) + ": '" + lines.get(i) + "'", e);
            }
        }
        return new Recorded(
                reader.doorbells, reader.memory, reader.sleeps * 2 > reader.doorbells.size(), reader.leftOut);
    }

    /// The state of a reading.
    private static final class Reader {
        final List<Doorbell> doorbells = new ArrayList<>();
        private final Map<String, Integer> pairs = new HashMap<>();
        private final Map<String, Integer> regions = new HashMap<>();
        long memory;
        long sleeps;
        long leftOut;

        void read(String[] words) {
            switch (words[0]) {
                case "region" -> memory += Long.parseLong(words[1]);
                case "post" ->
                    doorbells.add(new Doorbell(
                            Integer.parseInt(words[1]),
                            Math.max(0, Long.parseLong(words[2])),
                            Long.parseLong(words[3]),
                            new ArrayList<>(Integer.parseInt(words[4]))));
                case "request" ->
                    doorbells
                            .getLast()
                            .asks()
                            .add(new Ask(
                                    Operation.valueOf(words[1].toUpperCase(Locale.ROOT)),
                                    Math.max(1, (int) Math.min(1 << 30, Long.parseLong(words[2]))),
                                    Boolean.parseBoolean(words[3]),
                                    Boolean.parseBoolean(words[4]),
                                    pairs.computeIfAbsent(words[5], _ -> pairs.size()),
                                    regions.computeIfAbsent(words[6], _ -> regions.size()),
                                    Long.parseLong(words[7])));
                case "sleeps" -> sleeps = Long.parseLong(words[1]);
                case "left-out" -> leftOut = Long.parseLong(words[1]);
                default -> throw new IllegalArgumentException(words[0]);
            }
        }
    }

    List<Doorbell> doorbells() {
        return doorbells;
    }

    /// Returns how many requests there are.
    public long requests() {
        return doorbells.stream().mapToLong(each -> each.asks().size()).sum();
    }

    /// Returns how many requests the recorder had no room for.
    public long leftOut() {
        return leftOut;
    }

    boolean sleeps() {
        return sleeps;
    }

    /// Returns the median of the times between the calls of a thread, in nanoseconds.
    public long medianGapNanos() {
        long[] gaps = doorbells.stream().mapToLong(Doorbell::gapNanos).sorted().toArray();
        return gaps.length == 0 ? 0 : gaps[gaps.length / 2];
    }

    /// Returns how many threads posted.
    public int threads() {
        return 1 + doorbells.stream().mapToInt(Doorbell::thread).max().orElse(0);
    }

    /// Returns how many queue pairs were used.
    public int queuePairs() {
        return 1
                + doorbells.stream()
                        .flatMap(each -> each.asks().stream())
                        .mapToInt(Ask::pair)
                        .max()
                        .orElse(0);
    }

    Recorded with(List<Doorbell> others) {
        return new Recorded(others, memory, sleeps, leftOut);
    }

    Recorded awake() {
        return new Recorded(doorbells, memory, false, leftOut);
    }

    /// Returns it as a program of a run.
    CardProgram program(long pageBytes) {
        return new Replay(pageBytes);
    }

    /// The recording, played again.
    private final class Replay implements CardProgram {
        private final List<List<Doorbell>> ofThread = new ArrayList<>();
        private final int[] next;
        /// The completions that each thread's posts have asked for so far: it cannot have taken more.
        private final long[] asked;

        private final long pageBytes;
        private final int pairs = Recorded.this.queuePairs();

        Replay(long pageBytes) {
            this.pageBytes = pageBytes;
            int count = Recorded.this.threads();
            for (int i = 0; i < count; i++) {
                ofThread.add(new ArrayList<>());
            }
            doorbells.forEach(each -> ofThread.get(each.thread()).add(each));
            next = new int[count];
            asked = new long[count];
        }

        @Override
        public int threads() {
            return ofThread.size();
        }

        @Override
        public int queuePairs() {
            return pairs;
        }

        @Override
        public boolean next(int thread, Post post) {
            if (thread >= ofThread.size()
                    || next[thread] == ofThread.get(thread).size()) {
                return false;
            }
            Doorbell doorbell = ofThread.get(thread).get(next[thread]++);
            post.thinkPicos = doorbell.gapNanos() * 1000;
            post.completions = Math.min(doorbell.taken(), asked[thread]);
            for (Ask ask : doorbell.asks()) {
                int index = post.add(ask.operation(), ask.bytes(), ask.isInline(), ask.isSignaled());
                post.queuePairs[index] = ask.pair();
                post.regions[index] = ask.region();
                post.pages[index] = Math.floorDiv(ask.address(), pageBytes) & 0xFFFF_FFFFFFL;
                asked[thread] += ask.isSignaled() ? 1 : 0;
            }
            return true;
        }

        @Override
        public int target(int machine, int queuePair) {
            return 1;
        }

        @Override
        public boolean isAcknowledged() {
            return true;
        }

        @Override
        public boolean sleeps() {
            return sleeps;
        }

        @Override
        public long memory() {
            return memory;
        }

        @Override
        public boolean isPinned() {
            return true;
        }
    }
}
