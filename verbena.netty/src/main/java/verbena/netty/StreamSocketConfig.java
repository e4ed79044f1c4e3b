package verbena.netty;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannelConfig;
import java.util.Map;

/// The options of a [VerbenaSocketChannel]. Options that a stream does not have are kept, and change nothing.
final class StreamSocketConfig extends StreamConfig implements SocketChannelConfig {
    StreamSocketConfig(VerbenaSocketChannel owner) {
        super(
                owner,
                new AdaptiveRecvByteBufAllocator(),
                Map.of(
                        ChannelOption.SO_LINGER, -1,
                        ChannelOption.SO_KEEPALIVE, false,
                        ChannelOption.TCP_NODELAY, true,
                        ChannelOption.IP_TOS, 0,
                        ChannelOption.ALLOW_HALF_CLOSURE, false),
                owner::clearReadPending);
    }

    @Override
    public boolean isTcpNoDelay() {
        return choices.is(ChannelOption.TCP_NODELAY);
    }

    @Override
    public StreamSocketConfig setTcpNoDelay(boolean tcpNoDelay) {
        choices.set(ChannelOption.TCP_NODELAY, tcpNoDelay);
        return this;
    }

    @Override
    public int getSoLinger() {
        return choices.number(ChannelOption.SO_LINGER);
    }

    @Override
    public StreamSocketConfig setSoLinger(int soLinger) {
        choices.set(ChannelOption.SO_LINGER, soLinger);
        return this;
    }

    @Override
    public int getSendBufferSize() {
        return choices.number(ChannelOption.SO_SNDBUF);
    }

    @Override
    public StreamSocketConfig setSendBufferSize(int sendBufferSize) {
        choices.set(ChannelOption.SO_SNDBUF, sendBufferSize);
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return choices.number(ChannelOption.SO_RCVBUF);
    }

    @Override
    public StreamSocketConfig setReceiveBufferSize(int receiveBufferSize) {
        choices.set(ChannelOption.SO_RCVBUF, receiveBufferSize);
        return this;
    }

    @Override
    public boolean isKeepAlive() {
        return choices.is(ChannelOption.SO_KEEPALIVE);
    }

    @Override
    public StreamSocketConfig setKeepAlive(boolean keepAlive) {
        choices.set(ChannelOption.SO_KEEPALIVE, keepAlive);
        return this;
    }

    @Override
    public int getTrafficClass() {
        return choices.number(ChannelOption.IP_TOS);
    }

    @Override
    public StreamSocketConfig setTrafficClass(int trafficClass) {
        choices.set(ChannelOption.IP_TOS, trafficClass);
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return choices.is(ChannelOption.SO_REUSEADDR);
    }

    @Override
    public StreamSocketConfig setReuseAddress(boolean reuseAddress) {
        choices.set(ChannelOption.SO_REUSEADDR, reuseAddress);
        return this;
    }

    @Override
    public boolean isAllowHalfClosure() {
        return choices.is(ChannelOption.ALLOW_HALF_CLOSURE);
    }

    @Override
    public StreamSocketConfig setAllowHalfClosure(boolean allowHalfClosure) {
        choices.set(ChannelOption.ALLOW_HALF_CLOSURE, allowHalfClosure);
        return this;
    }

    @Override
    public StreamSocketConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this; // nothing to choose
    }

    @Override
    @Deprecated
    public StreamSocketConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
        super.setMaxMessagesPerRead(maxMessagesPerRead);
        return this;
    }

    @Override
    public StreamSocketConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
        super.setConnectTimeoutMillis(connectTimeoutMillis);
        return this;
    }

    @Override
    public StreamSocketConfig setWriteSpinCount(int writeSpinCount) {
        super.setWriteSpinCount(writeSpinCount);
        return this;
    }

    @Override
    public StreamSocketConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        return this;
    }

    @Override
    public StreamSocketConfig setRecvByteBufAllocator(RecvByteBufAllocator recvByteBufAllocator) {
        super.setRecvByteBufAllocator(recvByteBufAllocator);
        return this;
    }

    @Override
    public StreamSocketConfig setAutoRead(boolean autoRead) {
        super.setAutoRead(autoRead);
        return this;
    }

    @Override
    public StreamSocketConfig setAutoClose(boolean autoClose) {
        super.setAutoClose(autoClose);
        return this;
    }

    @Override
    public StreamSocketConfig setMessageSizeEstimator(MessageSizeEstimator messageSizeEstimator) {
        super.setMessageSizeEstimator(messageSizeEstimator);
        return this;
    }

    @Override
    public StreamSocketConfig setWriteBufferWaterMark(WriteBufferWaterMark writeBufferWaterMark) {
        super.setWriteBufferWaterMark(writeBufferWaterMark);
        return this;
    }
}
