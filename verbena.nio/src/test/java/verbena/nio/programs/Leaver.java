package verbena.nio.programs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/// Connects to a port, writes, and ends in some way without closing: `Leaver PORT BYTES HOW`. What it writes repeats
/// the numbers of bytes, modulo 251.
@SuppressWarnings({"ThreadPriorityCheck", "CatchAndPrintStackTrace"}) // only a hint; a test reads the trace
public final class Leaver {
    private static final int PERIOD = 251;
    private static final InetAddress HOST = InetAddress.getLoopbackAddress();

    private Leaver() {}

    public static void main(String[] args) throws Exception {
        SocketChannel channel = SocketChannel.open(new InetSocketAddress(HOST, Integer.parseInt(args[0])));
        ByteBuffer data = bytes(Integer.parseInt(args[1]));
        switch (args[2]) {
            case "return" -> write(channel, data);
            case "exit" -> {
                write(channel, data);
                System.exit(0);
            }
            case "shutdownOutput" -> {
                write(channel, data);
                channel.shutdownOutput();
                System.exit(0);
            }
            case "interrupted" -> {
                write(channel, data);
                Thread.currentThread().interrupt();
                System.exit(0);
            }
            case "virtual" -> {
                write(channel, data);
                Thread.ofVirtual().start(() -> System.exit(0)).join();
            }
            case "hook" -> {
                write(channel, data.limit(data.capacity() / 2));
                Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                    Thread.yield(); // other hooks run meanwhile
                    write(channel, data.limit(data.capacity()));
                }));
            }
            case "selecting" -> {
                write(channel, data);
                channel.configureBlocking(false);
                Selector selector = Selector.open();
                channel.register(selector, SelectionKey.OP_READ);
                start(() -> select(selector));
            }
            case "reading" -> {
                write(channel, data);
                start(() -> {
                    if (channel.read(ByteBuffer.allocate(1)) < 0) {
                        System.out.println("a thread of the program has seen the end");
                    }
                });
            }
            case "writing" -> {
                start(() -> {
                    while (true) {
                        write(channel, bytes(PERIOD));
                    }
                });
                Thread.sleep(100); // it ends in the middle, wherever that is
            }
            case "halt" -> {
                write(channel, data);
                Runtime.getRuntime().halt(0);
            }
            case "answered" -> {
                write(channel, data);
                int _ = channel.read(ByteBuffer.allocate(1));
                Runtime.getRuntime().halt(0);
            }
            default -> throw new IllegalArgumentException(args[2]);
        }
    }

    /// As many bytes.
    public static ByteBuffer bytes(int count) {
        ByteBuffer made = ByteBuffer.allocate(count);
        for (int i = 0; i < count; i++) {
            made.put(i, (byte) (i % PERIOD));
        }
        return made;
    }

    private interface Task {
        void run() throws IOException;
    }

    private static void start(Task task) {
        Thread.ofPlatform().daemon().start(() -> {
            try {
                task.run();
            } catch (IOException e) {
                e.printStackTrace();
            }
        });
    }

    private static void select(Selector selector) throws IOException {
        while (true) {
            int _ = selector.select(key -> {
                if ((key.readyOps() & SelectionKey.OP_READ) != 0) {
                    System.out.println("a thread of the program has seen something");
                    key.cancel();
                }
            });
        }
    }

    private static void write(SocketChannel to, ByteBuffer data) {
        try {
            while (data.hasRemaining()) {
                int _ = to.write(data);
            }
        } catch (IOException e) {
            e.printStackTrace();
        }
    }
}
