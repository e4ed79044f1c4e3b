package verbena.bench;

/// What a [Worker] does: one end of a contender, which carries out orders.
interface WorkerEnd {
    /// @return something that [verbena.tools.report.Json] can write
    Object order(String[] words) throws Throwable;
}
