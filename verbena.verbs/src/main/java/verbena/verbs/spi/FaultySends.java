package verbena.verbs.spi;

import verbena.verbs.Preview;
import verbena.verbs.WcStatus;

/// A [verbena.verbs.SendBatch] that also posts requests that cannot be carried out, so that their completion
/// says so.
///
/// A Java program is told of such a request when it posts it. In C the standard draws a line: some mistakes
/// are immediate errors, others show when the request is processed (IBTA 11.6.2), and a program may look at
/// completions only. `verbena.abi` keeps to that line by this interface.
@Preview
public interface FaultySends {
    /// Fails the request that was begun last with `status` when all before it are done. It takes no further data.
    ///
    /// @param cause what is wrong with it, in words
    void fail(WcStatus status, String cause);
}
