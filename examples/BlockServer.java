import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import verbena.verbs.Access;
import verbena.verbs.Pending;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

/// A server of a file's blocks: it maps the file, registers the mapping for reading, and has nothing more to do. Its
/// client reads any block when it likes, several at once. Nothing is copied between the page cache and the device.
///
/// Prints: 256 blocks read in any order, all as in the file, and a write was refused
public class BlockServer {
    private static final int BLOCK = 4096;
    private static final int BLOCKS = 256;
    private static final int AT_ONCE = 8;

    public static void main(String[] args) throws Exception {
        Path file = Files.createTempFile("blocks", ".bin");
        var content = new byte[BLOCK * BLOCKS];
        new Random(7).nextBytes(content);
        Files.write(file, content);
        var done = new CountDownLatch(1);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = ConnectionListener.bind("127.0.0.1", 0)) {
            var server = threads.submit(() -> serve(file, listener, done));
            int right = 0;
            boolean isRefused = false;
            try (var connection = Connection.connect("127.0.0.1", listener.localAddress().getPort())) {
                var blocks = RemoteMemory.parse(connection.receiveText(100));
                right = readAll(connection, blocks, content);
                try {
                    connection.write(new byte[8], blocks);
                } catch (VerbsException _) {
                    isRefused = true; // the registration allows reading only
                }
            } finally {
                done.countDown();
            }
            server.get();
            System.out.println(right + " blocks read in any order, all as in the file, and a write was "
                    + (isRefused ? "refused" : "carried out"));
        } finally {
            Files.delete(file);
        }
    }

    private static Void serve(Path file, ConnectionListener listener, CountDownLatch done) throws Exception {
        try (var channel = FileChannel.open(file);
                var arena = Arena.ofShared();
                var connection = listener.accept()) {
            MemorySegment mapped = channel.map(MapMode.READ_ONLY, 0, channel.size(), arena);
            try (var region = connection.queuePair().protectionDomain().register(mapped, Set.of(Access.REMOTE_READ))) {
                connection.send(region.remote().format());
                done.await();
            }
            return null;
        }
    }

    private static int readAll(Connection connection, RemoteMemory blocks, byte[] content)
            throws InterruptedException {
        int right = 0;
        var copies = connection.allocate((long) AT_ONCE * BLOCK);
        for (int first = 0; first < BLOCKS; first += AT_ONCE) {
            var reads = new Pending<?>[AT_ONCE];
            for (int i = 0; i < AT_ONCE; i++) {
                reads[i] = connection.postRead(
                        blocks.slice(at(first + i), BLOCK), copies.slice((long) i * BLOCK, BLOCK));
            }
            for (int i = 0; i < AT_ONCE; i++) {
                reads[i].await();
                byte[] block =
                        copies.segment().asSlice((long) i * BLOCK, BLOCK).toArray(JAVA_BYTE);
                int at = (int) at(first + i);
                right += Arrays.equals(block, Arrays.copyOfRange(content, at, at + BLOCK)) ? 1 : 0;
            }
        }
        return right;
    }

    // Each block once, in an order of no use to a cache.
    private static long at(int number) {
        return (long) (number * 97 % BLOCKS) * BLOCK;
    }
}
