package verbena.nio.programs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/// Makes one short connection to itself: with threads that wait, or with a selector.
public final class FirstConnection {
    private static final int BYTES = 8;

    private FirstConnection() {}

    public static void main(String[] args) throws IOException {
        var loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (ServerSocketChannel listener = ServerSocketChannel.open().bind(loopback);
                SocketChannel client = SocketChannel.open()) {
            if (args[0].equals("waiting")) {
                boolean _ = client.connect(listener.getLocalAddress());
                exchange(client, listener.accept());
            } else {
                select(client, listener);
            }
        }
    }

    private static void select(SocketChannel client, ServerSocketChannel listener) throws IOException {
        try (Selector selector = Selector.open()) {
            client.configureBlocking(false);
            SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
            boolean isConnected = client.connect(listener.getLocalAddress());
            while (!isConnected) {
                int _ = selector.select();
                selector.selectedKeys().clear();
                isConnected = client.finishConnect();
            }
            try (SocketChannel server = listener.accept()) {
                int _ = server.write(ByteBuffer.allocate(BYTES));
                SelectionKey _ = key.interestOps(SelectionKey.OP_READ);
                ByteBuffer into = ByteBuffer.allocate(BYTES);
                while (into.hasRemaining()) {
                    int _ = selector.select();
                    selector.selectedKeys().clear();
                    int _ = client.read(into);
                }
            }
        }
    }

    private static void exchange(SocketChannel client, SocketChannel server) throws IOException {
        try (server) {
            int _ = client.write(ByteBuffer.allocate(BYTES));
            ByteBuffer into = ByteBuffer.allocate(BYTES);
            while (into.hasRemaining()) {
                int _ = server.read(into);
            }
        }
    }
}
