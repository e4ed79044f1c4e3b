package verbena.bench;

/// The task of a [Worker]: one end of a contender, which carries out orders.
interface WorkerEnd {
    /// @return something that [verbena.tools.report.Json] can write
    Object order(String[] words) throws Throwable;
}
