package verbena.nic.link.tcp;

import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamOutput;
import verbena.transport.iwarp.StreamTarget;

/// The calls that a [TcpSocket] makes to the system, directly or through a [TapStream] that shows the bytes to a
/// tap.
abstract class ByteStream {
    /// Called when the stream can be used.
    abstract void onOpened();

    /// Reads once; returns the number of bytes, 0 at the end of the stream, -1 when there are none now.
    abstract long read(StreamBuffer buffer, int from, int to);

    /// Reads once, into a target first and then into a buffer. Returns the number of bytes, 0 at the end of the
    /// stream, -1 when there are none now.
    abstract long read(StreamTarget first, StreamBuffer then, int from, int to);

    /// Writes once; returns the number of bytes taken, -1 when the stream is broken.
    abstract long send(StreamBuffer bytes, int from, int to);

    /// Writes the gathered bytes once; returns the number of bytes taken, -1 when the stream is broken.
    ///
    /// @throws verbena.nic.link.LinkException when the memory cannot be read
    /// @throws IllegalStateException when the arena of the memory is closed
    abstract long send(StreamOutput output);

    /// Ends the output: nothing more is sent.
    abstract void endOutput();

    /// Closes the stream's system resources.
    ///
    /// @param reset whether the peer is to see that the connection was broken off
    abstract void release(boolean reset);
}
