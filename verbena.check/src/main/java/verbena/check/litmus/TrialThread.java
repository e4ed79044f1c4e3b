package verbena.check.litmus;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import org.jspecify.annotations.Nullable;
import verbena.check.litmus.Program.Strand;
import verbena.check.litmus.Step.Post;
import verbena.check.litmus.Step.Verb;

/// A thread of a program that runs. It carries out its steps in a thread of its own, from one meeting to the next, or
/// the caller carries out one after the other.
final class TrialThread {
    /// The words of memory that a request has for itself.
    static final int SPARE_WORDS = 4;

    /// The longest pause before a step is 2 to the power of this less 1, in nanoseconds.
    private static final int PAUSE_BITS = 18;

    private final Strand strand;
    private final int spare;
    private final TrialNode node;
    private final Map<String, TrialEnd> ends;
    private final SplittableRandom random;
    private final CyclicBarrier barrier;
    private final Thread thread;
    private final Map<String, Integer> registers = new HashMap<>();
    /// The indexes of the steps in the order of this run.
    private final List<Integer> order = new ArrayList<>();
    private int next;
    /// The time of the clock at which the next step may be carried out.
    private long notBefore;
    private boolean counts;
    private volatile boolean isStopped;
    private volatile @Nullable Exception failure;

    /// @param spare the word from which on its requests have memory of their own
    /// @param ends all ends of queue pairs, by `QUEUE@NODE`
    /// @param barrier where a run by itself begins and ends
    TrialThread(
            Strand strand,
            int spare,
            TrialNode node,
            Map<String, TrialEnd> ends,
            SplittableRandom random,
            CyclicBarrier barrier) {
        this.strand = strand;
        this.spare = spare;
        this.node = node;
        this.ends = ends;
        this.random = random;
        this.barrier = barrier;
        thread = Thread.ofPlatform().daemon().name("litmus-" + strand.name()).unstarted(this::live);
    }

    void start() {
        thread.start();
    }

    void stop() {
        isStopped = true;
        thread.interrupt();
    }

    void join() throws InterruptedException {
        thread.join();
    }

    @Nullable
    Exception failure() {
        return failure;
    }

    /// Returns what its registers hold.
    Map<String, Integer> registers() {
        return registers;
    }

    /// Returns whether all that the run needed was so.
    boolean counts() {
        return counts;
    }

    /// Begins a run. Plain accesses side by side may be exchanged, as a compiler may do.
    void prepare() {
        registers.clear();
        order.clear();
        next = 0;
        counts = true;
        pause();
        for (int i = 0; i < strand.steps().size(); i++) {
            order.add(i);
            if (i > 0
                    && Step.areExchangeable(
                            strand.steps().get(i - 1), strand.steps().get(i))
                    && random.nextBoolean()) {
                Collections.swap(order, i - 1, i);
            }
        }
    }

    boolean isOver() {
        return next == order.size();
    }

    /// Carries out the next step; false when it has to wait.
    boolean advance() {
        if (System.nanoTime() - notBefore < 0) {
            return false;
        }
        int index = order.get(next);
        if (!carryOut(strand.steps().get(index), spare + SPARE_WORDS * index)) {
            return false;
        }
        next++;
        pause();
        return true;
    }

    private void live() {
        try {
            while (true) {
                barrier.await();
                var waits = new Waiting("a run");
                while (!isOver()) {
                    if (!advance()) {
                        waits.again();
                    }
                }
                barrier.await();
            }
        } catch (InterruptedException | BrokenBarrierException | RuntimeException e) {
            if (!isStopped) {
                failure = e;
                barrier.reset();
            }
        }
    }

    // Mostly a short time, sometimes one in which a device can do much.
    private void pause() {
        notBefore = System.nanoTime() + (random.nextBoolean() ? 0 : random.nextLong(1L << random.nextInt(PAUSE_BITS)));
    }

    private boolean carryOut(Step step, int at) {
        switch (step) {
            case Step.Load load -> registers.put(load.register(), node.load(load.word(), load.plain()));
            case Step.Store store -> node.store(store.word(), value(store.value()), store.plain());
            case Step.Add add -> registers.put(add.register(), node.add(add.word(), add.number()));
            case Step.Fence _ -> VarHandle.fullFence();
            case Step.Await await -> {
                return node.load(await.word(), false) == await.number();
            }
            case Step.Need need -> {
                boolean holds = need.comparison().holds(registers::get);
                if (!holds && need.again()) {
                    goBack();
                    return false;
                }
                counts &= holds;
            }
            case Step.Poll poll -> {
                return end(poll.queue()).poll();
            }
            case Step.Take take -> {
                return end(take.queue()).take();
            }
            case Step.Done done ->
                registers.put(done.register(), end(done.queue()).isDone() ? 1 : 0);
            case Post post -> end(post.queue()).post(post, at, registers::get);
        }
        return true;
    }

    // Goes back to the READ before this step, whose completion has been polled since.
    private void goBack() {
        do {
            next--;
        } while (!(strand.steps().get(order.get(next)) instanceof Post post && post.verb() == Verb.READ));
    }

    private int value(Value value) {
        return value.number() + (value.isNumber() ? 0 : Program.known(registers, value.name()));
    }

    private TrialEnd end(String queue) {
        return Program.known(ends, queue + "@" + strand.node());
    }
}
