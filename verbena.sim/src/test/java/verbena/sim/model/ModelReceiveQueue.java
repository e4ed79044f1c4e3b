package verbena.sim.model;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/// Posted receives, oldest first: of one queue pair, or shared by several (IBTA 10.2.9).
final class ModelReceiveQueue {
    private final int maxWr;
    private final int maxSge;
    private final Runnable onLimit;
    private final Queue<ModelReceive> receives = new ArrayDeque<>();
    private int limit;

    ModelReceiveQueue(int maxWr, int maxSge, Runnable onLimit) {
        this.maxWr = maxWr;
        this.maxSge = maxSge;
        this.onLimit = onLimit;
    }

    int maxWr() {
        return maxWr;
    }

    int maxSge() {
        return maxSge;
    }

    int size() {
        return receives.size();
    }

    void post(ModelReceive receive) {
        receives.add(receive);
    }

    /// The oldest; nothing when there is none. Fewer than the limit are left for the first time: that is told,
    /// once.
    @Nullable
    ModelReceive take() {
        ModelReceive taken = receives.poll();
        if (taken != null && receives.size() < limit) {
            limit = 0;
            onLimit.run();
        }
        return taken;
    }

    void forgetAll() {
        receives.clear();
    }

    int limit() {
        return limit;
    }

    void limit(int receivesLeft) {
        limit = receivesLeft;
    }
}
