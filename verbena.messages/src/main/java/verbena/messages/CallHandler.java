package verbena.messages;

import java.lang.foreign.MemorySegment;

/// A handler of the calls of peers ([Worker#answerCalls]). The program implements it. Each call runs on its own
/// virtual thread, which is interrupted when the caller gives up. So several calls run at once.
///
/// @since 0.1
@FunctionalInterface
public interface CallHandler {
    /// Handles a call and returns the answer.
    ///
    /// @return the answer; its memory belongs to the worker until the caller has received it
    /// @throws Exception to fail the call; the caller gets its message in a [CallException]
    MemorySegment handle(Call call) throws Exception;
}
