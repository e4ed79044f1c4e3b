package verbena.messages;

import java.lang.foreign.MemorySegment;

/// A handler of the calls of peers. The program implements it. By [Worker#answerCalls], each call runs on its own
/// virtual thread, which is interrupted when the caller gives up. So several calls run at once. By
/// [Worker#answerCallsAtOnce], calls run one at a time on the thread that reads the arrivals.
///
/// @since 0.1
@FunctionalInterface
public interface CallHandler {
    /// Handles a call and returns the answer.
    ///
    /// @return the answer, of zero bytes for none (`MemorySegment.ofArray(new byte[0])`), and never null. Its
    ///     memory belongs to the worker until the caller has received it
    /// @throws Exception to fail the call; the caller gets its message in a [CallException]
    MemorySegment handle(Call call) throws Exception;
}
