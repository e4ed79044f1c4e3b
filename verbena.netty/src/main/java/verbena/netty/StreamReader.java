package verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// The reading side of a channel, which reads the bytes that have come and finds the end. By the thread of the event
/// loop.
final class StreamReader {
    private final VerbenaSocketChannel channel;

    StreamReader(VerbenaSocketChannel channel) {
        this.channel = channel;
    }

    /// Reads in a round as many bytes as its handle allows.
    void read(RecvByteBufAllocator.ExtendedHandle round) {
        round.reset(channel.config());
        boolean hasEnded = false;
        Throwable failure = null;
        try {
            do {
                ByteBuf next = fill(round);
                if (next == null) {
                    hasEnded = round.lastBytesRead() < 0;
                    break;
                }
                round.incMessagesRead(1);
                channel.hasRead();
                channel.pipeline().fireChannelRead(next);
            } while (round.continueReading());
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            failure = e;
        }
        round.readComplete();
        ChannelPipeline pipeline = channel.pipeline();
        pipeline.fireChannelReadComplete();
        if (failure != null) {
            pipeline.fireExceptionCaught(failure);
        }
        if (failure != null && !(failure instanceof RuntimeException)) {
            channel.closeNow();
        } else if (hasEnded) {
            end(pipeline);
        }
        channel.endReading();
    }

    /// Returns a buffer with the bytes that have come; null when there are none, or at the end.
    private @Nullable ByteBuf fill(RecvByteBufAllocator.ExtendedHandle round) throws IOException {
        ByteBuf made = round.allocate(channel.config().getAllocator());
        boolean isUsed = false;
        try {
            round.attemptedBytesRead(made.writableBytes());
            int count = channel.isOpen() ? channel.read(made) : 0;
            round.lastBytesRead(count);
            isUsed = count > 0;
            return isUsed ? made : null;
        } finally {
            if (!isUsed) {
                made.release();
            }
        }
    }

    /// Ends the input: the peer writes nothing more.
    private void end(ChannelPipeline pipeline) {
        channel.hasRead();
        if (!channel.isOpen()) {
            return;
        }
        if (channel.config().isAllowHalfClosure()) {
            channel.inputHasEnded();
            pipeline.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            pipeline.fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
        } else {
            channel.closeNow();
        }
    }
}
