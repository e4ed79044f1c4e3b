package verbena.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;

/// A listener of the JDK's own on a system that has one port left: whatever it binds to, it gets this address.
final class OnePort extends ServerSocketChannel {
    private final ServerSocketChannel channel;
    private final InetSocketAddress only;

    OnePort(InetSocketAddress only) throws IOException {
        super(Jdk.provider());
        this.channel = Jdk.provider().openServerSocketChannel();
        this.only = only;
    }

    @Override
    public ServerSocketChannel bind(SocketAddress local, int backlog) throws IOException {
        channel.bind(only, backlog);
        return this;
    }

    @Override
    public SocketChannel accept() throws IOException {
        return channel.accept();
    }

    @Override
    public SocketAddress getLocalAddress() throws IOException {
        return channel.getLocalAddress();
    }

    @Override
    public ServerSocket socket() {
        return channel.socket();
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return channel.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return channel.supportedOptions();
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        channel.close();
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        channel.configureBlocking(block);
    }
}
