package verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// A handler that keeps what happens to a channel, for the thread of a test to wait for.
final class Collected extends ChannelInboundHandlerAdapter {
    final CompletableFuture<Throwable> failure = new CompletableFuture<>();
    final CompletableFuture<Boolean> begin = new CompletableFuture<>();
    final CompletableFuture<Boolean> end = new CompletableFuture<>();
    final BlockingQueue<Object> userEvents = new LinkedBlockingQueue<>();
    final BlockingQueue<Boolean> writability = new LinkedBlockingQueue<>();

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        var buffer = (ByteBuf) message;
        var taken = new byte[buffer.readableBytes()];
        buffer.readBytes(taken);
        buffer.release();
        synchronized (this) {
            bytes.writeBytes(taken);
            notifyAll();
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        begin.complete(true);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        end.complete(true);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        failure.complete(cause);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        userEvents.add(event);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        writability.add(context.channel().isWritable());
    }

    /// Waits for so many bytes, and takes them out.
    synchronized byte[] take(int count) throws InterruptedException {
        long start = System.nanoTime();
        while (bytes.size() < count) {
            long left = NettyEnds.PATIENCE_SECONDS * 1_000 - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            if (left <= 0) {
                throw new AssertionError(bytes.size() + " of " + count + " bytes have come");
            }
            wait(left);
        }
        byte[] all = bytes.toByteArray();
        bytes.reset();
        bytes.write(all, count, all.length - count);
        return Arrays.copyOf(all, count);
    }

    synchronized int size() {
        return bytes.size();
    }
}
