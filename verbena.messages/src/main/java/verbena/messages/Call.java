package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Optional;

/// A call of a peer, which a [CallHandler] answers. Immutable.
///
/// @param from the caller
/// @param request its data; the handler may keep it
/// @param timeLimit time that the caller had left to wait when it sent the call, in whole ms; empty for no
///     limit
/// @since 0.1
public record Call(RemoteWorker from, MemorySegment request, Optional<Duration> timeLimit) {
    /// Returns a copy of the request.
    public byte[] bytes() {
        return request.toArray(ValueLayout.JAVA_BYTE);
    }
}
