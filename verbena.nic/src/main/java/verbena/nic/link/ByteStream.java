package verbena.nic.link;

import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamOutput;
import verbena.transport.iwarp.StreamTarget;

/// What a [TcpSocket] asks of the system, directly or through a [TapStream] that looks at what passes.
abstract sealed class ByteStream permits TcpSocket, TapStream {
    /// The stream can be used from now on.
    abstract void onOpened();

    /// Reads once; the bytes read, 0 for the end of the stream, -1 when there is nothing now.
    abstract long read(StreamBuffer buffer, int from, int to);

    /// Reads once into a target, and what is more into a buffer; answers likewise.
    abstract long read(StreamTarget first, StreamBuffer then, int from, int to);

    /// Writes once; the bytes taken, -1 when the stream is broken.
    abstract long send(StreamBuffer bytes, int from, int to);

    /// Writes what was gathered, once; answers likewise.
    ///
    /// @throws LinkException when the memory cannot be read
    /// @throws IllegalStateException when the arena of the memory is closed
    abstract long send(StreamOutput output);

    /// No more is sent.
    abstract void endOutput();

    /// Gives back what the system has of it.
    ///
    /// @param reset whether the peer is to see that it broke off
    abstract void release(boolean reset);
}
