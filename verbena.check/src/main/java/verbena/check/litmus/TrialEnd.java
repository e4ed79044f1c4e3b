package verbena.check.litmus;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;
import verbena.check.litmus.Step.Post;
import verbena.check.litmus.Step.Verb;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.FlushTarget;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SendBatch;
import verbena.verbs.WorkCompletion;

/// An end of a queue pair of a program that runs, with a completion queue for requests and one for receives. One
/// thread uses it, and the thread that prepares and ends runs between them.
final class TrialEnd implements AutoCloseable {
    private static final int DEPTH = 32;

    final QueuePair queuePair;
    private final TrialNode node;
    private final TrialNode peer;
    private final CompletionQueue sends;
    private final CompletionQueue receives;
    private final WorkCompletion wc = new WorkCompletion();
    /// The receives that one run uses up, each with its words.
    private final List<List<String>> used = new ArrayList<>();
    private int posted;
    private int completed;
    private int polled;
    private int received;
    private int taken;

    TrialEnd(TrialNode node, TrialNode peer, boolean flushes) {
        this.node = node;
        this.peer = peer;
        sends = node.context.createCompletionQueue(DEPTH);
        receives = node.context.createCompletionQueue(DEPTH);
        QueuePairOptions options = QueuePairOptions.rc(sends)
                .withReceiveCq(receives)
                .withDepth(DEPTH / 2, DEPTH / 2)
                .withSge(1, 1)
                .withInline(0);
        try {
            queuePair =
                    node.domain.createQueuePair(flushes ? options.withExtensions(Set.of(Capability.FLUSH)) : options);
        } catch (RuntimeException e) {
            throw TrialNode.after(e, sends::close, receives::close);
        }
    }

    /// Notes a receive that each run uses up.
    void uses(List<String> receive) {
        used.add(List.copyOf(receive));
    }

    /// Posts the receives of a run.
    void prepare() {
        posted = 0;
        completed = 0;
        polled = 0;
        received = 0;
        taken = 0;
        for (int i = 0; i < used.size(); i++) {
            List<String> words = used.get(i);
            long at = words.isEmpty() ? node.spareOffset(0) : node.offset(words.getFirst());
            queuePair.postReceive(i, node.region.slice(at, (long) Long.BYTES * words.size()));
        }
    }

    /// Posts a request.
    ///
    /// @param spare the word from which on the request has memory of its own
    void post(Post post, int spare, ToIntFunction<String> registers) {
        posted++;
        long remote = post.remote().isEmpty() || post.verb() == Verb.SEND
                ? 0
                : peer.region.address() + peer.offset(post.remote().getFirst());
        int rkey = peer.region.rkey();
        try (SendBatch batch = queuePair.sendBatch()) {
            switch (post.verb()) {
                case WRITE -> batch.write(posted, remote, rkey);
                case WRITE_IMM -> batch.writeWithImmediate(posted, remote, rkey, 0);
                case SEND -> batch.send(posted);
                case READ -> batch.read(posted, remote, rkey);
                case FETCH_ADD -> batch.fetchAdd(posted, remote, rkey, value(post, 0, registers));
                case CMP_SWAP ->
                    batch.compareSwap(posted, remote, rkey, value(post, 0, registers), value(post, 1, registers));
                case FLUSH ->
                    batch.flush(posted, remote, rkey, Long.BYTES * post.remote().size(), Set.of(FlushTarget.GLOBAL));
            }
            if (post.verb() != Verb.FLUSH) {
                if (post.local().isEmpty()) {
                    MemorySegment memory = node.region.segment();
                    for (int i = 0; i < post.values().size(); i++) {
                        memory.set(ValueLayout.JAVA_LONG, node.spareOffset(spare + i), value(post, i, registers));
                    }
                    batch.sge(
                            node.region,
                            node.spareOffset(spare),
                            (long) Long.BYTES * post.values().size());
                } else {
                    batch.sge(
                            node.region,
                            node.offset(post.local().getFirst()),
                            (long) Long.BYTES * post.local().size());
                }
            }
            if (post.fenced()) {
                batch.fenced();
            }
            batch.signaled().submit();
        }
    }

    private static long value(Post post, int index, ToIntFunction<String> registers) {
        Value value = post.values().get(index);
        return TrialNode.encoded(value.number() + (value.isNumber() ? 0 : registers.applyAsInt(value.name())));
    }

    /// Takes the next completion of a request; false when there is none yet.
    boolean poll() {
        look();
        if (completed == polled) {
            return false;
        }
        polled++;
        return true;
    }

    /// Takes the next completion of a receive; false when there is none yet.
    boolean take() {
        look();
        if (received == taken) {
            return false;
        }
        taken++;
        return true;
    }

    /// Returns whether the next request is complete.
    boolean isDone() {
        look();
        return completed > polled;
    }

    /// Looks once at each completion queue, which lets the device work, too.
    void look() {
        if (sends.poll(wc)) {
            check();
            completed++;
        }
        if (receives.poll(wc)) {
            check();
            received++;
        }
    }

    /// Returns whether all requests and receives of a run are complete.
    boolean isDrained() {
        look();
        return completed == posted && received == used.size();
    }

    /// Makes visible what this end has written, by a READ behind it.
    void show() {
        if (posted > 0) {
            posted++;
            queuePair.postRead(
                    0, peer.region.remote().slice(peer.spareOffset(0), 1), node.region.slice(node.spareOffset(0), 1));
        }
    }

    private void check() {
        if (!wc.ok()) {
            throw new IllegalStateException("a request failed: " + wc);
        }
    }

    @Override
    public void close() {
        queuePair.close();
        sends.close();
        receives.close();
    }
}
