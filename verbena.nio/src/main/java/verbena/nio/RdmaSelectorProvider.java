package verbena.nio;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import org.jspecify.annotations.Nullable;

/// A provider of socket channels that carry their bytes by RDMA where the peer can, and by TCP otherwise, and of
/// selectors for them. Datagrams, pipes and UNIX-domain sockets are the JDK's own, and the same selectors take them.
///
/// The system property `java.nio.channels.spi.SelectorProvider` names this class; [NioAgent] sets it. A provider has
/// no state: several are the same. Any thread may use it, and it lives as long as the process. The rules of
/// `java.nio.channels` hold for its channels: their threads, closing and exceptions.
///
/// @since 0.1
public final class RdmaSelectorProvider extends SelectorProvider {
    private final @Nullable Pace pace;

    /// Makes a provider for the JDK, which finds the class by its name.
    public RdmaSelectorProvider() {
        this(Pace.chosen());
    }

    /// @param pace of connections, which begin by TCP; null when they begin by RDMA
    RdmaSelectorProvider(@Nullable Pace pace) {
        this.pace = pace;
    }

    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        return Jdk.datagramChannel(this);
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return Jdk.datagramChannel(this, family);
    }

    @Override
    public Pipe openPipe() throws IOException {
        return Jdk.pipe(this);
    }

    @Override
    public AbstractSelector openSelector() throws IOException {
        return RdmaSelector.open(this);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel() throws IOException {
        return RdmaServerSocketChannel.open(this, new Jdk.Listeners(null), pace);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
        if (isOurs(family)) {
            return RdmaServerSocketChannel.open(this, new Jdk.Listeners(family), pace);
        }
        return Jdk.serverSocketChannel(this, family);
    }

    @Override
    public SocketChannel openSocketChannel() throws IOException {
        return new RdmaSocketChannel(this, new Jdk.Sockets(null), pace);
    }

    @Override
    public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        if (isOurs(family)) {
            return new RdmaSocketChannel(this, new Jdk.Sockets(family), pace);
        }
        return Jdk.socketChannel(this, family);
    }

    private static boolean isOurs(ProtocolFamily family) {
        return family == StandardProtocolFamily.INET || family == StandardProtocolFamily.INET6;
    }

    @Override
    public @Nullable Channel inheritedChannel() throws IOException {
        return Jdk.provider().inheritedChannel();
    }
}
