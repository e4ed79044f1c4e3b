package verbena.check.litmus;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.function.Predicate;
import verbena.check.litmus.Litmus.Variant;
import verbena.check.litmus.Program.Queue;
import verbena.check.litmus.Program.Strand;
import verbena.check.litmus.Step.Post;
import verbena.check.litmus.Step.Verb;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.Device;
import verbena.verbs.EndpointOptions;

/// A program that runs on a device, again and again. Each node is the device opened once more. Most runs interleave
/// the steps of all threads in one, by chance; some have real threads. After each, everything that was written is
/// made visible.
public final class Trial implements AutoCloseable {
    /// One run of so many has a thread for each of the program's.
    private static final int RUNS_PER_PARALLEL = 16;

    private final Program program;
    private final List<String> names;
    private final Map<String, TrialNode> nodes = new LinkedHashMap<>();
    private final Map<String, TrialEnd> ends = new LinkedHashMap<>();
    private final List<TrialConnection> connections = new ArrayList<>();
    private final List<TrialThread> runners = new ArrayList<>();
    private final CyclicBarrier barrier;
    private final SplittableRandom random;

    /// The outcomes that were seen.
    ///
    /// @param counts how often each outcome
    /// @param runs how many runs counted
    /// @param without how many did not, because a condition that they needed was false
    public record Seen(SortedMap<Ending, Integer> counts, int runs, int without) {
        public Seen {
            counts = Collections.unmodifiableSortedMap(new TreeMap<>(counts));
        }
    }

    private Trial(Device device, Program program, long seed) throws InterruptedException {
        this.program = program;
        names = List.copyOf(program.condition().names());
        random = new SplittableRandom(seed);
        barrier = new CyclicBarrier(program.threads().size() + 1);
        try {
            open(device);
        } catch (RuntimeException e) {
            throw TrialNode.after(e, this::close);
        } catch (InterruptedException e) {
            close();
            throw e;
        }
    }

    /// Opens a device for a program.
    ///
    /// @param seed of the delays before steps
    /// @throws verbena.verbs.VerbsException when the device has not what the program needs
    public static Trial of(Device device, Variant variant, long seed) throws InterruptedException {
        return new Trial(device, variant.program(), seed);
    }

    private void open(Device device) throws InterruptedException {
        Set<String> names = new LinkedHashSet<>();
        program.threads().forEach(thread -> names.add(thread.node()));
        program.words().values().forEach(word -> names.add(word.node()));
        int steps = program.threads().stream()
                .mapToInt(thread -> thread.steps().size())
                .sum();
        Set<Verb> verbs = EnumSet.noneOf(Verb.class);
        for (Strand thread : program.threads()) {
            for (Step step : thread.steps()) {
                if (step instanceof Post post) {
                    verbs.add(post.verb());
                }
            }
        }
        boolean flushes = verbs.contains(Verb.FLUSH);
        for (String name : names) {
            nodes.put(name, new TrialNode(device, program, name, TrialThread.SPARE_WORDS * (steps + 1), verbs));
        }
        EndpointOptions options = EndpointOptions.defaults();
        if (flushes) {
            Set<Access> access = EnumSet.copyOf(options.access());
            access.add(Access.FLUSH_GLOBAL);
            options = options.withAccess(access);
        }
        for (Queue queue : program.queues().values()) {
            var one = new TrialEnd(Program.known(nodes, queue.one()), Program.known(nodes, queue.other()), flushes);
            ends.put(queue.name() + "@" + queue.one(), one);
            var other = new TrialEnd(Program.known(nodes, queue.other()), Program.known(nodes, queue.one()), flushes);
            ends.put(queue.name() + "@" + queue.other(), other);
            if (one.queuePair.protectionDomain().context().attributes().has(Capability.ENDPOINTS)) {
                one.queuePair.connect(other.queuePair.endpoint(), options);
                other.queuePair.connect(one.queuePair.endpoint(), options);
            } else {
                connections.add(new TrialConnection(one.queuePair, other.queuePair));
            }
        }
        int spare = TrialThread.SPARE_WORDS;
        for (Strand thread : program.threads()) {
            Map<String, Integer> messages = new HashMap<>();
            for (Step step : thread.steps()) {
                if (step instanceof Post post && post.verb().isMessage()) {
                    Queue queue = Program.known(program.queues(), post.queue());
                    String peer = queue.peer(thread.node());
                    int index = messages.merge(post.queue(), 1, Integer::sum) - 1;
                    Program.known(ends, post.queue() + "@" + peer)
                            .uses(Program.known(queue.receives(), peer).get(index));
                }
            }
            runners.add(
                    new TrialThread(thread, spare, Program.known(nodes, thread.node()), ends, random.split(), barrier));
            spare += TrialThread.SPARE_WORDS * thread.steps().size();
        }
        runners.forEach(TrialThread::start);
    }

    /// Runs the program.
    ///
    /// @param runs at most so often
    /// @param isEnough asked after each run whether what has been seen is enough
    public Seen run(int runs, Predicate<Set<Ending>> isEnough) throws InterruptedException {
        var counts = new TreeMap<Ending, Integer>();
        int done = 0;
        int without = 0;
        for (int i = 0; i < runs && !isEnough.test(counts.keySet()); i++) {
            for (TrialNode node : nodes.values()) {
                node.reset();
            }
            ends.values().forEach(TrialEnd::prepare);
            runners.forEach(TrialThread::prepare);
            if (i % RUNS_PER_PARALLEL == 0) {
                meet();
                meet();
            } else {
                interleave();
            }
            drain();
            ends.values().forEach(TrialEnd::show);
            drain();
            if (runners.stream().allMatch(TrialThread::counts)) {
                counts.merge(ending(), 1, Integer::sum);
                done++;
            } else {
                without++;
            }
        }
        return new Seen(counts, done, without);
    }

    // Carries out the steps of all threads by this one, in an order drawn by chance. It meets more orders than threads
    // that wait for processors.
    private void interleave() throws InterruptedException {
        var waits = new Waiting("a run");
        var open = new ArrayList<>(runners);
        while (!open.isEmpty()) {
            TrialThread next = open.get(random.nextInt(open.size()));
            if (next.isOver()) {
                open.remove(next);
            } else if (!next.advance()) {
                ends.values().forEach(TrialEnd::look);
                waits.again();
            }
        }
    }

    private void drain() throws InterruptedException {
        var waits = new Waiting("a completion");
        for (TrialEnd end : ends.values()) {
            while (!end.isDrained()) {
                ends.values().forEach(TrialEnd::look);
                waits.again();
            }
        }
    }

    private Ending ending() {
        Map<String, Integer> values = new HashMap<>();
        runners.forEach(runner -> values.putAll(runner.registers()));
        program.words()
                .values()
                .forEach(word -> values.put(
                        word.name(), Program.known(nodes, word.node()).load(word.name(), false)));
        return new Ending(names.stream().map(values::get).toList());
    }

    // All threads and the caller: the first meeting begins a run, the second ends it.
    private void meet() throws InterruptedException {
        try {
            barrier.await();
        } catch (BrokenBarrierException e) {
            throw new IllegalStateException("a thread of the program has failed: " + failure(), e);
        }
    }

    private String failure() {
        return runners.stream()
                .map(TrialThread::failure)
                .filter(Objects::nonNull)
                .map(Throwable::toString)
                .findFirst()
                .orElse("none of them says why");
    }

    @Override
    public void close() {
        runners.forEach(TrialThread::stop);
        for (TrialThread runner : runners) {
            try {
                runner.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        connections.forEach(TrialConnection::close);
        ends.values().forEach(TrialEnd::close);
        nodes.values().forEach(TrialNode::close);
    }
}
