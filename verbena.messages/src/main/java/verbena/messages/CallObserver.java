package verbena.messages;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Preview;

/// An observer of the calls of a worker, in both directions. It sends a header with each call, such as the context of
/// a trace. The program implements it, or takes `CallTracing` of `verbena.opentelemetry`;
/// [Worker#observeCalls] sets it.
///
/// A header reaches a peer whose worker has an observer, too. Other peers get the same bytes as without an observer.
/// With a header the request is copied once more, because the header stands in front of it. Any thread may call an
/// observer, several at once.
///
/// @since 0.1
@Preview
public interface CallObserver {
    /// The length of the longest header, in bytes.
    int MAX_HEADER_BYTES = 4096;

    /// A call of this worker that is being observed, from [CallObserver#begin] to its end.
    ///
    /// @since 0.1
    @Preview
    interface ObservedCall {
        /// Returns the header of the call, at most [#MAX_HEADER_BYTES] bytes; empty for none.
        byte[] header();

        /// Observes the end of the call. Called once, on a virtual thread.
        ///
        /// @param failure the exception that the caller gets; null when the call has its answer
        void end(@Nullable Throwable failure);
    }

    /// Observes a call of this worker, which begins. Called on the thread that calls. An exception reaches the
    /// caller, and the call does not begin.
    ObservedCall begin(RemoteWorker to);

    /// Handles a call of a peer by its handler, on the thread of the handler.
    ///
    /// @param header of the peer's observer; empty when it has none
    /// @param handler of the program
    /// @return what the handler returns
    /// @throws Exception what the handler throws
    MemorySegment handle(Call call, byte[] header, CallHandler handler) throws Exception;
}
