package verbena.nic.link.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.Channels;
import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamOutput;
import verbena.transport.iwarp.StreamTarget;
import verbena.verbs.Gid;

/// A stream of a [ChannelTcpLink].
final class ChannelTcpSocket extends TcpSocket {
    /// The size of TCP and IPv6 headers, with the timestamps that most systems send.
    private static final int HEADER_BYTES = 40 + 20 + 12;
    /// The MTU to assume when the interface is unknown: that of Ethernet.
    private static final int MTU_DEFAULT = 1_500;

    private final ChannelTcpLink link;
    private final SocketChannel channel;
    private @Nullable IOException failure;

    ChannelTcpSocket(ChannelTcpLink link, SocketChannel channel, Gid remote, int remotePort, boolean isConnected) {
        super(link.host(), remote, remotePort, isConnected);
        this.link = link;
        this.channel = channel;
    }

    /// Breaks the stream for this reason.
    void failed(IOException why) {
        failure = why;
    }

    /// Does the work that there is at this socket; returns how much.
    int move(long now) {
        try {
            return isConnected() ? moveBytes(now) : finishConnecting(now);
        } catch (RuntimeException | Error e) {
            contain(e, now);
            return 1;
        }
    }

    private int moveBytes(long now) {
        if (isFull()) {
            onRoom(now);
        }
        int got = isClosed() ? 0 : onReadable(now);
        if (failure != null && !isClosed()) {
            breakUp(now);
        }
        return isClosed() ? got + 1 : got;
    }

    private int finishConnecting(long now) {
        try {
            if (!channel.finishConnect()) {
                return 0;
            }
            link.register(channel, SelectionKey.OP_READ);
            onConnected(now);
        } catch (IOException e) {
            failure = e;
            breakUp(now);
        }
        return 1;
    }

    @Override
    void breakUp(long now) {
        IOException why = failure;
        String words = why == null ? "" : String.valueOf(why.getMessage());
        boolean isRefused = !isConnected() && why instanceof ConnectException && words.contains("refused");
        breakUp(isRefused, isConnected() ? null : ": " + words, now);
    }

    private static ByteBuffer view(MemorySegment segment, long from, long bytes) {
        return segment.asSlice(from, bytes).asByteBuffer();
    }

    @Override
    long read(StreamBuffer buffer, int from, int to) {
        try {
            return answer(channel.read(view(buffer.segment, from, to - from)));
        } catch (IOException e) {
            failure = e;
            return -1;
        }
    }

    @Override
    long read(StreamTarget first, StreamBuffer then, int from, int to) {
        try {
            return answer(channel.read(new ByteBuffer[] {
                view(first.segment, first.offset, first.bytes), view(then.segment, from, to - from)
            }));
        } catch (IOException e) {
            failure = e;
            return -1;
        }
    }

    /// Translates the JDK's result, which is -1 at the end and 0 when there are no bytes.
    private static long answer(long read) {
        return read > 0 ? read : -1 - read;
    }

    @Override
    long send(StreamBuffer bytes, int from, int to) {
        try {
            return channel.write(view(bytes.segment, from, to - from));
        } catch (IOException e) {
            failure = e;
            return -1;
        }
    }

    @Override
    long send(StreamOutput output) {
        var pieces = new ByteBuffer[output.count()];
        for (int i = 0; i < pieces.length; i++) {
            pieces[i] = view(output.segment(i), output.offset(i), output.length(i));
        }
        try {
            long sent = 0;
            for (long n = channel.write(pieces); n > 0; n = channel.write(pieces)) {
                sent += n; // the JDK passes at most 16 pieces to the system at once
            }
            return sent;
        } catch (IOException e) {
            failure = e;
            return -1;
        }
    }

    @Override
    void watch(boolean arrivals, boolean room) {
        if (channel.isOpen()) {
            link.register(channel, (arrivals ? SelectionKey.OP_READ : 0) | (room ? SelectionKey.OP_WRITE : 0));
        }
    }

    @Override
    void endOutput() {
        try {
            channel.shutdownOutput();
        } catch (IOException e) {
            failure = e;
        }
    }

    @Override
    public InetSocketAddress localAddress() {
        try {
            return (InetSocketAddress) channel.getLocalAddress();
        } catch (IOException e) {
            throw ChannelTcpLink.failed("local address", e);
        }
    }

    @Override
    public int segmentBytes() {
        try {
            if (channel.getLocalAddress() instanceof InetSocketAddress own) {
                NetworkInterface at = NetworkInterface.getByIndex(link.interfaceOf(Gid.of(own.getAddress())));
                return (at == null ? MTU_DEFAULT : at.getMTU()) - HEADER_BYTES;
            }
        } catch (IOException | IllegalArgumentException _) {
            // The MTU is unknown.
        }
        return MTU_DEFAULT - HEADER_BYTES;
    }

    @Override
    public void keepAlive(int seconds) {
        try {
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, seconds > 0);
            if (seconds > 0 && channel.supportedOptions().contains(ExtendedSocketOptions.TCP_KEEPIDLE)) {
                channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, seconds);
                channel.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 1);
                channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, TcpLink.KEEP_ALIVE_PROBES);
            }
        } catch (IOException e) {
            failure = e;
        }
    }

    @Override
    void release(boolean reset) {
        try {
            if (reset) {
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            }
        } catch (IOException _) {
            // Then the stream ends in order.
        }
        link.countClosed(reset); // before the peer sees the end
        Channels.close(channel);
        link.remove(this);
    }
}
