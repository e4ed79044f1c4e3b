package verbena.nio.programs;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/// Connects to itself until there are so many connections, says something over each, and closes all. With a second
/// argument it says so much that each moves to RDMA. Then it waits until all have gone back to TCP and take less of the
/// heap than that: a closed stream keeps some of it for seconds. Prints how many descriptors it
/// had before, with all, and after, and what a connection takes of the heap at each end.
public final class Crowd {
    /// Other processes of the host that open a device meanwhile are known by descriptors, too.
    public static final int OF_NEIGHBOURS = 20;

    private static final int BYTES = 100;
    private static final long PATIENCE_NANOS = 60_000_000_000L;

    private Crowd() {}

    public static void main(String[] args) throws IOException {
        int count = Integer.parseInt(args[0]);
        var loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (ServerSocketChannel listener = ServerSocketChannel.open().bind(loopback)) {
            try (SocketChannel client = SocketChannel.open(listener.getLocalAddress());
                    SocketChannel server = listener.accept()) {
                speak(client, server); // what the first connection makes for all
                int before = descriptors();
                long heapBefore = heap();
                int limit = args.length > 1 ? Integer.parseInt(args[1]) : 0;
                List<SocketChannel> ends = connect(listener, count, limit > 0);
                long each = limit > 0 ? awaitHeap(heapBefore, ends, limit) : (heap() - heapBefore) / ends.size();
                int with = descriptors();
                for (SocketChannel end : ends) {
                    end.close();
                }
                System.out.println(before + " " + with + " " + awaitDescriptors(before + OF_NEIGHBOURS) + " " + each);
            }
        }
    }

    private static List<SocketChannel> connect(ServerSocketChannel listener, int count, boolean moves)
            throws IOException {
        var ends = new ArrayList<SocketChannel>();
        for (int i = 0; i < count; i++) {
            SocketChannel client = SocketChannel.open(listener.getLocalAddress());
            SocketChannel server = listener.accept();
            ends.add(client);
            ends.add(server);
            speak(client, server);
            while (moves && !(isByRdma(client) && isByRdma(server))) {
                speak(client, server);
            }
        }
        return ends;
    }

    private static void speak(SocketChannel from, SocketChannel to) throws IOException {
        int _ = from.write(ByteBuffer.allocate(BYTES));
        ByteBuffer into = ByteBuffer.allocate(BYTES);
        while (into.hasRemaining()) {
            if (to.read(into) < 0) {
                throw new IOException("the end came too early");
            }
        }
    }

    private static boolean isByRdma(SocketChannel end) {
        return end.toString().contains("begun by TCP");
    }

    private static long awaitHeap(long before, List<SocketChannel> ends, int limit) {
        for (SocketChannel end : ends) {
            while (isByRdma(end)) {
                Thread.onSpinWait();
            }
        }
        long start = System.nanoTime();
        long each;
        do {
            each = (heap() - before) / ends.size();
        } while (each >= limit && System.nanoTime() - start < PATIENCE_NANOS);
        return each;
    }

    private static int descriptors() {
        String[] all = new File("/proc/self/fd").list();
        return all == null ? 0 : all.length;
    }

    /// As many as there are when no more than a few are left, or when that takes too long.
    private static int awaitDescriptors(int few) {
        long start = System.nanoTime();
        int now = descriptors();
        while (now > few && System.nanoTime() - start < PATIENCE_NANOS) {
            Thread.onSpinWait();
            now = descriptors();
        }
        return now;
    }

    private static long heap() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
