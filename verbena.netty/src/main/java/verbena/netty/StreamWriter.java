package verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;
import verbena.verbs.MemoryRegion;

/// The writing side of a channel, which writes the flushed buffers and holds those that its device still reads. By
/// the thread of the event loop; of a closed channel, by the thread that has closed its stream.
final class StreamWriter {
    private static final int BUFFERS_MAX = 1_024;
    /// The least length of a piece that is written without a copy. A shorter piece of registered memory is copied,
    /// because it leaves in one message with its neighbours.
    private static final int DIRECT_BYTES_MIN = 4_096;

    private final HeldBuffers held = new HeldBuffers();
    private final MessageAt messageAt = new MessageAt();

    /// Writes the flushed buffers, as far as there is room. Returns false when there is none.
    ///
    /// @param memory that is written without a copy; null for none
    boolean write(ChannelOutboundBuffer in, StreamChannel to, @Nullable RegisteredMemory memory) throws IOException {
        ByteBuffer[] buffers = in.nioBuffers(BUFFERS_MAX, Integer.MAX_VALUE);
        int count = in.nioBufferCount();
        if (count == 0) {
            return writeOther(in, to);
        }
        long written = memory == null
                ? (count == 1 ? to.write(buffers[0]) : to.write(buffers, 0, count))
                : writePieces(in, buffers, count, to, memory);
        NettyCounters.OUT.add(written);
        in.removeBytes(written);
        return written > 0;
    }

    /// Writes buffers in turn, as far as there is room: buffers in registered memory from there, and runs of others
    /// by a copy.
    private long writePieces(
            ChannelOutboundBuffer in, ByteBuffer[] buffers, int count, StreamChannel to, RegisteredMemory memory)
            throws IOException {
        release(to);
        long written = 0;
        for (int i = 0; i < count; ) {
            MemoryRegion region = directly(buffers[i], memory);
            long wanted = buffers[i].remaining();
            long done;
            if (region != null) {
                done = to.write(
                        region,
                        RegisteredMemory.address(buffers[i]) - region.segment().address(),
                        wanted);
                buffers[i].position(buffers[i].position() + (int) done); // Netty goes on from there
                hold(in, written, done);
                i++;
            } else {
                int end = i + 1;
                for (; end < count && directly(buffers[end], memory) == null; end++) {
                    wanted += buffers[end].remaining();
                }
                done = to.write(buffers, i, end - i);
                i = end;
            }
            written += done;
            if (done < wanted) {
                break;
            }
        }
        return written;
    }

    /// Returns the region to write a buffer from; null when the buffer is to be copied.
    private static @Nullable MemoryRegion directly(ByteBuffer piece, RegisteredMemory memory) {
        return piece.remaining() < DIRECT_BYTES_MIN ? null : memory.region(piece);
    }

    /// Holds the message that has the byte after the first `before` of all flushed bytes.
    private void hold(ChannelOutboundBuffer in, long before, long bytes) {
        if (bytes > 0) {
            NettyCounters.DIRECT.add(bytes);
            held.hold(messageAt.find(in, before), bytes);
        }
    }

    /// Releases the buffers that the stream's device does not read any more.
    void release(StreamChannel of) {
        if (!held.isEmpty()) {
            held.release(of.unacknowledged());
        }
    }

    /// Finds the message that a byte belongs to.
    private static final class MessageAt implements ChannelOutboundBuffer.MessageProcessor {
        private long left;
        private @Nullable ByteBuf found;

        ByteBuf find(ChannelOutboundBuffer in, long before) {
            left = before;
            found = null;
            try {
                in.forEachFlushedMessage(this);
            } catch (Exception e) {
                throw new AssertionError("the processor throws nothing", e);
            }
            ByteBuf message = Objects.requireNonNull(found, "a byte that was written is of a message");
            found = null;
            return message;
        }

        @Override
        public boolean processMessage(Object message) {
            ByteBuf buffer = (ByteBuf) message; // the pieces are of messages before the first file
            if (left < buffer.readableBytes()) {
                found = buffer;
                return false;
            }
            left -= buffer.readableBytes();
            return true;
        }
    }

    /// Writes a file, or a buffer without bytes.
    private static boolean writeOther(ChannelOutboundBuffer in, StreamChannel to) throws IOException {
        if (!(in.current() instanceof FileRegion file)) {
            return in.remove();
        }
        long written = file.transferred() < file.count() ? file.transferTo(to, file.transferred()) : 0;
        NettyCounters.OUT.add(written);
        in.progress(written);
        if (file.transferred() >= file.count()) {
            return in.remove();
        }
        return written > 0;
    }
}
