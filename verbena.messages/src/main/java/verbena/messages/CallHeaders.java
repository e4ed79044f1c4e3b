package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Optional;

/// The observer of the calls to a peer and from it, and the header that stands in front of each request: two bytes
/// with its length, big-endian, the header, and zeros up to a multiple of eight bytes.
///
/// @param observer of this worker
/// @param areAgreed that both ends have an observer; without that no request has a header
record CallHeaders(Optional<CallObserver> observer, boolean areAgreed) {
    private static final ValueLayout.OfShort LENGTH = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final byte[] NONE = {};

    /// Returns the bytes that a header makes a request longer, at most.
    int bytesMax() {
        return areAgreed ? place(CallObserver.MAX_HEADER_BYTES) : 0;
    }

    /// Returns the bytes in front of a request.
    private static int place(int headerBytes) {
        return (Short.BYTES + headerBytes + Long.BYTES - 1) & -Long.BYTES;
    }

    /// Begins to observe a call that has this result, and returns its request with the header.
    MemorySegment observe(RemoteWorker to, PendingOperation<?> result, MemorySegment request) {
        if (observer.isEmpty()) {
            return request;
        }
        CallObserver.ObservedCall begun = observer.get().begin(to);
        result.whenDone(begun::end);
        return areAgreed ? behind(begun.header(), request) : request;
    }

    private static MemorySegment behind(byte[] header, MemorySegment request) {
        if (header.length > CallObserver.MAX_HEADER_BYTES) {
            throw new IllegalArgumentException(
                    "header: at most " + CallObserver.MAX_HEADER_BYTES + " bytes, got " + header.length);
        }
        int place = place(header.length);
        var both = MemorySegment.ofArray(new byte[Math.toIntExact(place + request.byteSize())]);
        both.set(LENGTH, 0, (short) header.length);
        MemorySegment.copy(header, 0, both, ValueLayout.JAVA_BYTE, Short.BYTES, header.length);
        both.asSlice(place).copyFrom(request);
        return both;
    }

    /// Handles a call of the peer.
    ///
    /// @param message its request, with the header
    MemorySegment handle(CallHandler handler, RemoteWorker from, MemorySegment message, Optional<Duration> limit)
            throws Exception {
        if (observer.isEmpty()) {
            return handler.handle(new Call(from, message, limit));
        }
        byte[] header = NONE;
        MemorySegment request = message;
        if (areAgreed) {
            int length = message.byteSize() < Long.BYTES ? -1 : message.get(LENGTH, 0);
            if (length < 0 || place(length) > message.byteSize()) {
                throw new IllegalArgumentException("a call without its header");
            }
            header = message.asSlice(Short.BYTES, length).toArray(ValueLayout.JAVA_BYTE);
            request = message.asSlice(place(length));
        }
        return observer.get().handle(new Call(from, request, limit), header, handler);
    }
}
