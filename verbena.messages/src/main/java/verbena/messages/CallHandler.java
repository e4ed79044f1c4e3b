package verbena.messages;

import java.lang.foreign.MemorySegment;

/// A handler of the calls of peers. Each call has a virtual thread of its own, which is interrupted when the caller
/// gives up.
@FunctionalInterface
public interface CallHandler {
    /// Handles a call and returns the answer.
    ///
    /// @return the answer; its memory belongs to the worker until the caller has it
    /// @throws Exception to fail the call; the caller is told its text
    MemorySegment handle(Call call) throws Exception;
}
