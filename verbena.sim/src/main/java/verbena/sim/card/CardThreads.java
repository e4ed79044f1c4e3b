package verbena.sim.card;

import java.util.Arrays;

/// The threads of all machines: what each posts next, and which completions it has seen.
final class CardThreads {
    /// A time long before a run begins.
    private static final long NEVER = Long.MIN_VALUE / 2;

    private final Post[] posts;
    private final boolean[] hasPost;
    private final boolean[] waits;
    private final long[] free;
    private final long[] interrupted;
    private final long[] taken;
    private final int[] ready;
    /// The first request that is built and for which the doorbell has not rung; -1 for none.
    private final int[] built;

    private final boolean[] stored;

    CardThreads(int count) {
        posts = new Post[count];
        for (int i = 0; i < count; i++) {
            posts[i] = new Post();
        }
        hasPost = new boolean[count];
        waits = new boolean[count];
        free = new long[count];
        interrupted = new long[count];
        Arrays.fill(interrupted, NEVER);
        taken = new long[count];
        ready = new int[count];
        built = new int[count];
        stored = new boolean[count];
        Arrays.fill(built, -1);
    }

    int count() {
        return posts.length;
    }

    Post post(int thread) {
        return posts[thread];
    }

    boolean hasPost(int thread) {
        return hasPost[thread];
    }

    /// Notes whether there is a post.
    boolean fetched(int thread, boolean is) {
        hasPost[thread] = is;
        return is;
    }

    /// Notes that a post is built.
    ///
    /// @param first    its first request
    /// @param isStored whether the core stores it to the card itself
    void posted(int thread, int first, boolean isStored) {
        hasPost[thread] = false;
        built[thread] = first;
        stored[thread] = isStored;
    }

    /// Takes what is built; -1 for nothing.
    int takeBuilt(int thread) {
        int first = built[thread];
        built[thread] = -1;
        return first;
    }

    boolean isStored(int thread) {
        return stored[thread];
    }

    /// Takes the completions that are there.
    ///
    /// @return how many
    int takeCompletions(int thread) {
        int found = ready[thread];
        ready[thread] = 0;
        taken[thread] += found;
        return found;
    }

    /// Returns how many completions a thread has taken.
    long completions(int thread) {
        return taken[thread];
    }

    /// Lets a thread wait for a completion from a time on.
    void wait(int thread, long from) {
        waits[thread] = true;
        free[thread] = from;
    }

    /// Returns when a thread began to wait.
    long free(int thread) {
        return free[thread];
    }

    /// Interrupts a thread, no sooner than so long after the last time.
    ///
    /// @return when
    long interrupt(int thread, long now, long moderation) {
        interrupted[thread] = Math.max(now, interrupted[thread] + moderation);
        return interrupted[thread];
    }

    /// Notes a completion.
    ///
    /// @return whether the thread waited for it
    boolean complete(int thread) {
        ready[thread]++;
        boolean waited = waits[thread];
        waits[thread] = false;
        return waited;
    }
}
