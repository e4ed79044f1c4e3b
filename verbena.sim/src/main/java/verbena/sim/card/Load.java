package verbena.sim.card;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// A workload in words: an operation, its length, and options, `write 32 threads=14 window=16 inline`. The threads of
/// all machines that send keep a window of requests under way, to random pages over random queue pairs.
public final class Load {
    /// The directions in which requests go.
    enum Layout {
        /// The first machine sends to the others.
        OUTBOUND,
        /// The others send to the first machine.
        INBOUND,
        /// Two machines send to each other.
        SYMMETRIC
    }

    /// The options that are numbers, with their defaults and limits.
    private enum Option {
        THREADS(1, 1, 256, Quantity.Kind.COUNT),
        QPS(0, 1, 1_000_000, Quantity.Kind.COUNT),
        WINDOW(16, 1, 4096, Quantity.Kind.COUNT),
        BATCH(1, 1, 1024, Quantity.Kind.COUNT),
        SIGNAL(1, 1, 1024, Quantity.Kind.COUNT),
        PEERS(1, 1, 64, Quantity.Kind.COUNT),
        MEMORY(1 << 20, 64, 1L << 42, Quantity.Kind.BYTES),
        PAGE(2 << 20, 64, 1L << 42, Quantity.Kind.BYTES),
        REGIONS(1, 1, 10_000_000, Quantity.Kind.COUNT),
        WORDS(1, 1, 10_000_000, Quantity.Kind.COUNT),
        THINK(0, 0, 1e9, Quantity.Kind.NANOS);

        private final double otherwise;
        private final double least;
        private final double most;
        private final Quantity.Kind kind;

        Option(double otherwise, double least, double most, Quantity.Kind kind) {
            this.otherwise = otherwise;
            this.least = least;
            this.most = most;
            this.kind = kind;
        }

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        static Optional<Option> of(String word) {
            return Arrays.stream(values())
                    .filter(each -> each.word().equals(word))
                    .findFirst();
        }
    }

    private final Operation operation;
    private final int bytes;
    private final Layout layout;
    private final Map<String, Boolean> flags;
    private final Map<Option, Double> numbers;

    private Load(
            Operation operation, int bytes, Layout layout, Map<String, Boolean> flags, Map<Option, Double> numbers) {
        this.operation = operation;
        this.bytes = bytes;
        this.layout = layout;
        this.flags = flags;
        this.numbers = numbers;
    }

    /// Reads a workload.
    ///
    /// @throws IllegalArgumentException when there is a mistake in it; the message names the word
    public static Load of(String line) {
        String[] words = line.strip().split("\\s+", -1);
        Operation operation = Arrays.stream(Operation.values())
                .filter(each -> each.word().equals(words[0]))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException("'" + words[0] + "' is none of write, read, send, atomic"));
        if (words.length < 2) {
            throw new IllegalArgumentException("after '" + words[0] + "' stands its length, such as 32 or 4K");
        }
        double bytes = Quantity.Kind.BYTES.parse(words[1]);
        if (bytes < 1 || bytes > 1 << 30) {
            throw new IllegalArgumentException("'" + words[1] + "': 1 byte to 1G");
        }
        Layout layout = Layout.OUTBOUND;
        Map<String, Boolean> flags = new TreeMap<>();
        Map<Option, Double> numbers = new TreeMap<>();
        for (int i = 2; i < words.length; i++) {
            String word = words[i];
            switch (word) {
                case "inline", "unacknowledged", "interrupts", "on-demand" -> flags.put(word, true);
                case "inbound" -> layout = Layout.INBOUND;
                case "outbound" -> layout = Layout.OUTBOUND;
                case "symmetric" -> layout = Layout.SYMMETRIC;
                default -> option(word, numbers);
            }
        }
        return new Load(operation, (int) bytes, layout, flags, numbers).checked();
    }

    private static void option(String word, Map<Option, Double> numbers) {
        String[] pair = word.split("=", 2);
        Option option = Option.of(pair[0])
                .filter(_ -> pair.length == 2)
                .orElseThrow(() -> new IllegalArgumentException("'" + word
                        + "' is none of threads=, qps=, window=, batch=, signal=, peers=, memory=, page=, regions=,"
                        + " words=, think=, inline, unacknowledged, interrupts, on-demand, outbound, inbound and"
                        + " symmetric"));
        double value;
        try {
            value = option.kind.parse(pair[1]);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(pair[0] + ": " + e.getMessage(), e);
        }
        if (value < option.least || value > option.most) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT, "'%s': %,.0f to %,.0f", word, option.least, option.most));
        }
        numbers.put(option, value);
    }

    private Load checked() {
        if (number(Option.BATCH) > number(Option.WINDOW)) {
            throw new IllegalArgumentException("batch= may not exceed window=");
        }
        if (number(Option.SIGNAL) > number(Option.WINDOW)) {
            throw new IllegalArgumentException("signal= may not exceed window=, or no completion would ever come");
        }
        if (layout == Layout.SYMMETRIC && number(Option.PEERS) != 1) {
            throw new IllegalArgumentException("symmetric has one peer, got peers=" + number(Option.PEERS));
        }
        if (number(Option.QPS) != 0 && number(Option.QPS) < number(Option.THREADS)) {
            throw new IllegalArgumentException("qps= is at least threads=: each thread has a queue pair of its own");
        }
        return this;
    }

    private long number(Option option) {
        return Math.round(numbers.getOrDefault(option, option.otherwise));
    }

    /// Returns how many machines there are.
    int machines() {
        return (int) number(Option.PEERS) + 1;
    }

    Layout layout() {
        return layout;
    }

    /// Returns a program that posts it until it is stopped.
    CardProgram program(long seed) {
        return new Random(seed);
    }

    /// The workload as a program.
    private final class Random implements CardProgram {
        private final Chance chance;
        private final int threads = (int) number(Option.THREADS);
        private final int window = (int) number(Option.WINDOW);
        private final int batch = (int) number(Option.BATCH);
        private final int signal = (int) number(Option.SIGNAL);
        private final int perThread;
        private final long pages;
        private final int regions;
        private final boolean isInline = flags.containsKey("inline");
        /// The number of requests that each thread has posted.
        private final long[] posted;

        Random(long seed) {
            chance = new Chance(seed);
            int wanted = (int) number(Option.QPS);
            perThread = Math.max(1, wanted / threads);
            pages = operation == Operation.ATOMIC && numbers.containsKey(Option.WORDS)
                    ? number(Option.WORDS)
                    : Math.max(1, number(Option.MEMORY) / number(Option.PAGE));
            regions = (int) number(Option.REGIONS);
            posted = new long[threads * machines()];
        }

        @Override
        public int threads() {
            return threads;
        }

        @Override
        public int queuePairs() {
            return threads * perThread;
        }

        @Override
        public boolean next(int thread, Post post) {
            int machine = thread / threads;
            boolean sends = layout == Layout.SYMMETRIC || (machine == 0) == (layout == Layout.OUTBOUND);
            if (!sends) {
                return false;
            }
            post.thinkPicos = number(Option.THINK) * 1000;
            long mayBeUnderWay = window - (long) batch;
            post.completions = Math.max(0, (posted[thread] - mayBeUnderWay + signal - 1) / signal);
            for (int i = 0; i < batch; i++) {
                posted[thread]++;
                int index = post.add(operation, bytes, isInline, posted[thread] % signal == 0);
                post.queuePairs[index] = thread % threads * perThread + chance.below(perThread);
                post.pages[index] = chance.below(pages);
                post.regions[index] = chance.below(regions);
            }
            return true;
        }

        @Override
        public int target(int machine, int queuePair) {
            return switch (layout) {
                case INBOUND -> 0;
                case SYMMETRIC -> 1 - machine;
                case OUTBOUND -> 1 + queuePair % (machines() - 1);
            };
        }

        @Override
        public boolean isAcknowledged() {
            return !flags.containsKey("unacknowledged");
        }

        @Override
        public boolean sleeps() {
            return flags.containsKey("interrupts");
        }

        @Override
        public long memory() {
            return number(Option.MEMORY);
        }

        @Override
        public boolean isPinned() {
            return !flags.containsKey("on-demand");
        }
    }
}
