package verbena.verbs.internal;

import verbena.verbs.WcStatus;

/// A [verbena.verbs.SendBatch] that also posts requests that cannot be carried out. They fail with a completion. The
/// rules of the batch hold for threads and lifetime.
///
/// In Java, posting such a request throws. In C the standard distinguishes: some mistakes are immediate errors,
/// others show when the request is processed (IBTA 11.6.2). A C program may look at completions only. `verbena.abi`
/// keeps that distinction by this interface.
public interface FaultySends {
    /// Marks the request that was begun last to fail with `status` when all before it are done. It takes no further
    /// data.
    ///
    /// @param cause of the failure, in words
    void fail(WcStatus status, String cause);
}
