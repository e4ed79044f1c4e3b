package verbena.sim.card;

/// The posts of the threads of all machines.
interface CardProgram {
    /// Returns how many threads each machine has. CardThreads are numbered through: those of the first machine first.
    int threads();

    /// Returns how many queue pairs each machine has.
    int queuePairs();

    /// Fills in the next post of a thread.
    ///
    /// @return false when it posts nothing more
    boolean next(int thread, Post post);

    /// Returns which machine the requests of a queue pair go to.
    int target(int machine, int queuePair);

    /// Returns whether the peer acknowledges, as on a reliable connection.
    boolean isAcknowledged();

    /// Returns whether a thread sleeps until a completion comes.
    boolean sleeps();

    /// Returns the memory that requests reach at their target, in bytes.
    long memory();

    /// Returns whether pages of that memory are there from the beginning.
    boolean isPinned();
}
