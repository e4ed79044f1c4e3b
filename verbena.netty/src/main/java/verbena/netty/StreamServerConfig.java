package verbena.netty;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.ServerSocketChannelConfig;
import java.util.Map;

/// The options of a [VerbenaServerSocketChannel]. The sizes of rings, the device and the keep-alive hold for the
/// connections that it accepts.
final class StreamServerConfig extends StreamConfig implements ServerSocketChannelConfig {
    private static final int BACKLOG = 128;

    StreamServerConfig(VerbenaServerSocketChannel owner) {
        super(
                owner,
                new ServerChannelRecvByteBufAllocator(),
                Map.of(ChannelOption.SO_BACKLOG, BACKLOG),
                owner::clearReadPending);
    }

    @Override
    public int getBacklog() {
        return choices.number(ChannelOption.SO_BACKLOG);
    }

    @Override
    public StreamServerConfig setBacklog(int backlog) {
        choices.set(ChannelOption.SO_BACKLOG, backlog);
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return choices.number(ChannelOption.SO_RCVBUF);
    }

    @Override
    public StreamServerConfig setReceiveBufferSize(int receiveBufferSize) {
        choices.set(ChannelOption.SO_RCVBUF, receiveBufferSize);
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return choices.is(ChannelOption.SO_REUSEADDR);
    }

    @Override
    public StreamServerConfig setReuseAddress(boolean reuseAddress) {
        choices.set(ChannelOption.SO_REUSEADDR, reuseAddress);
        return this;
    }

    @Override
    public StreamServerConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this; // nothing to choose
    }

    @Override
    @Deprecated
    public StreamServerConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
        super.setMaxMessagesPerRead(maxMessagesPerRead);
        return this;
    }

    @Override
    public StreamServerConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
        super.setConnectTimeoutMillis(connectTimeoutMillis);
        return this;
    }

    @Override
    public StreamServerConfig setWriteSpinCount(int writeSpinCount) {
        super.setWriteSpinCount(writeSpinCount);
        return this;
    }

    @Override
    public StreamServerConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        return this;
    }

    @Override
    public StreamServerConfig setRecvByteBufAllocator(RecvByteBufAllocator recvByteBufAllocator) {
        super.setRecvByteBufAllocator(recvByteBufAllocator);
        return this;
    }

    @Override
    public StreamServerConfig setAutoRead(boolean autoRead) {
        super.setAutoRead(autoRead);
        return this;
    }

    @Override
    public StreamServerConfig setAutoClose(boolean autoClose) {
        super.setAutoClose(autoClose);
        return this;
    }

    @Override
    public StreamServerConfig setMessageSizeEstimator(MessageSizeEstimator messageSizeEstimator) {
        super.setMessageSizeEstimator(messageSizeEstimator);
        return this;
    }

    @Override
    public StreamServerConfig setWriteBufferWaterMark(WriteBufferWaterMark writeBufferWaterMark) {
        super.setWriteBufferWaterMark(writeBufferWaterMark);
        return this;
    }

    @Override
    @Deprecated
    public StreamServerConfig setWriteBufferHighWaterMark(int writeBufferHighWaterMark) {
        super.setWriteBufferHighWaterMark(writeBufferHighWaterMark);
        return this;
    }

    @Override
    @Deprecated
    public StreamServerConfig setWriteBufferLowWaterMark(int writeBufferLowWaterMark) {
        super.setWriteBufferLowWaterMark(writeBufferLowWaterMark);
        return this;
    }
}
