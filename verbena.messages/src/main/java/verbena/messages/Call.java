package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Optional;

/// A call of a peer.
///
/// @param from the caller
/// @param request what it sends; the handler may keep it
/// @param timeLimit how long the caller waits, counted from when it called; empty for no limit
public record Call(RemoteWorker from, MemorySegment request, Optional<Duration> timeLimit) {
    /// Returns a copy of the request.
    public byte[] bytes() {
        return request.toArray(ValueLayout.JAVA_BYTE);
    }
}
