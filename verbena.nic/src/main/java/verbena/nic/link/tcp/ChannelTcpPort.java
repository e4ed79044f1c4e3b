package verbena.nic.link.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import verbena.nic.link.Channels;
import verbena.verbs.Gid;

/// A port of a [ChannelTcpLink]. The JDK binds and listens in one call, so connections wait until [#begin()].
final class ChannelTcpPort extends TcpPort {
    private final ChannelTcpLink link;
    private final ServerSocketChannel channel;

    ChannelTcpPort(ChannelTcpLink link, ServerSocketChannel channel, Gid local, int number) {
        super(local, number);
        this.link = link;
        this.channel = channel;
    }

    @Override
    void begin() {
        link.add(this, channel);
    }

    /// Accepts the waiting streams; returns how many.
    int accept(long now) {
        int done = 0;
        try {
            for (SocketChannel one = channel.accept(); one != null; one = channel.accept()) {
                done++;
                InetSocketAddress from = (InetSocketAddress) one.getRemoteAddress();
                one.configureBlocking(false);
                one.setOption(StandardSocketOptions.TCP_NODELAY, true);
                var socket = new ChannelTcpSocket(link, one, Gid.of(from.getAddress()), from.getPort(), true);
                link.add(socket, one, SelectionKey.OP_READ);
                link.onAccepted(socket);
                accepted(socket, now);
            }
        } catch (IOException _) {
            // The next attempt shows whether only one connection had failed.
        }
        return done;
    }

    @Override
    public void close() {
        Channels.close(channel);
        link.remove(this);
    }
}
