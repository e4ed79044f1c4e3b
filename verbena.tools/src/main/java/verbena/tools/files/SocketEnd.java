package verbena.tools.files;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// A file over a TCP socket, in the classic ways. The length goes first, and a byte comes back when the file is
/// there.
final class SocketEnd implements Endpoint {
    private static final int BLOCK = 1 << 20;
    private static final int IN_FLIGHT = 8;

    private final SocketChannel socket;
    private final Way.Kind kind;
    private final Path file;
    private final boolean isSender;
    /// The threads for O_DIRECT. They live until this is closed, so that their costs can be seen.
    private final ExecutorService threads = Executors.newFixedThreadPool(IN_FLIGHT);

    SocketEnd(SocketChannel socket, Way.Kind kind, Path file, boolean isSender) {
        this.socket = socket;
        this.kind = kind;
        this.file = file;
        this.isSender = isSender;
    }

    @Override
    public void run() throws IOException, InterruptedException {
        if (isSender) {
            send();
        } else {
            receive();
        }
    }

    private void send() throws IOException, InterruptedException {
        try (FileChannel from = FileChannel.open(file, StandardOpenOption.READ)) {
            long size = from.size();
            writeAll(ByteBuffer.allocate(Long.BYTES).putLong(size).flip());
            switch (kind) {
                case READ_WRITE -> readAndWrite(from);
                case MMAP -> writeMapped(from, size);
                case SENDFILE -> {
                    for (long at = 0; at < size; ) {
                        at += from.transferTo(at, size - at, socket);
                    }
                }
                case DIRECT -> sendDirect(size);
                default -> throw new IllegalArgumentException("kind: no way of sockets: " + kind);
            }
            readFully(ByteBuffer.allocate(1));
        }
    }

    private void readAndWrite(FileChannel from) throws IOException {
        ByteBuffer block = ByteBuffer.allocateDirect(BLOCK);
        while (from.read(block.clear()) >= 0) {
            writeAll(block.flip());
        }
    }

    private void writeMapped(FileChannel from, long size) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment mapped = from.map(FileChannel.MapMode.READ_ONLY, 0, size, arena);
            for (long at = 0; at < size; at += BLOCK) {
                writeAll(mapped.asSlice(at, Math.min(BLOCK, size - at)).asByteBuffer());
            }
        }
    }

    /// Reads are under way for the next blocks while this one is written, by threads: Java has no other way.
    private void sendDirect(long size) throws IOException, InterruptedException {
        try (Spot spot = Folder.holding(file).find(file.getFileName(), false);
                DataFile from = DataFile.open(spot, spot.name(), true, StandardOpenOption.READ)) {
            ByteBuffer[] blocks = blocks();
            List<Future<?>> reads = new ArrayList<>();
            long count = (size + BLOCK - 1) / BLOCK;
            for (long n = 0; n < count + IN_FLIGHT; n++) {
                int slot = (int) (n % IN_FLIGHT);
                if (n >= IN_FLIGHT) {
                    await(reads.get(slot));
                    writeAll(blocks[slot]);
                }
                if (n < count) {
                    long at = n * BLOCK;
                    int length = (int) Math.min(BLOCK, size - at);
                    Future<?> read = threads.submit(() -> {
                        from.read(blocks[slot], length, at);
                        return length;
                    });
                    if (n < IN_FLIGHT) {
                        reads.add(read);
                    } else {
                        reads.set(slot, read);
                    }
                }
                if (n >= count && n - IN_FLIGHT + 1 >= count) {
                    break;
                }
            }
        }
    }

    private static ByteBuffer[] blocks() {
        var blocks = new ByteBuffer[IN_FLIGHT];
        for (int i = 0; i < IN_FLIGHT; i++) {
            blocks[i] = ByteBuffer.allocateDirect(BLOCK + Terms.PAGE)
                    .alignedSlice(Terms.PAGE)
                    .slice(0, BLOCK);
        }
        return blocks;
    }

    private static void await(Future<?> done) throws IOException, InterruptedException {
        try {
            done.get();
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        }
    }

    private void receive() throws IOException, InterruptedException {
        ByteBuffer header = ByteBuffer.allocate(Long.BYTES);
        readFully(header);
        long size = header.getLong(0);
        if (kind == Way.Kind.DIRECT) {
            receiveDirect(size);
        } else {
            try (FileChannel to = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                ByteBuffer block = ByteBuffer.allocateDirect(BLOCK);
                for (long at = 0; at < size; ) {
                    block.clear().limit((int) Math.min(BLOCK, size - at));
                    readFully(block);
                    block.flip();
                    while (block.hasRemaining()) {
                        at += to.write(block);
                    }
                }
            }
        }
        writeAll(ByteBuffer.allocate(1));
    }

    private void receiveDirect(long size) throws IOException, InterruptedException {
        try (Spot spot = Folder.holding(file).find(file.getFileName(), false);
                DataFile to =
                        DataFile.open(spot, spot.name(), true, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            ByteBuffer[] blocks = blocks();
            List<Future<?>> writes = new ArrayList<>();
            for (long at = 0, n = 0; at < size; at += BLOCK, n++) {
                int slot = (int) (n % IN_FLIGHT);
                if (n >= IN_FLIGHT) {
                    await(writes.get(slot));
                }
                ByteBuffer block = blocks[slot];
                block.clear().limit((int) Math.min(BLOCK, size - at));
                readFully(block);
                block.flip();
                long place = at;
                Future<?> write = threads.submit(() -> {
                    to.write(block, place);
                    return place;
                });
                if (n < IN_FLIGHT) {
                    writes.add(write);
                } else {
                    writes.set(slot, write);
                }
            }
            for (Future<?> write : writes) {
                await(write);
            }
        }
    }

    private void writeAll(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            socket.write(bytes);
        }
    }

    private void readFully(ByteBuffer into) throws IOException {
        while (into.hasRemaining()) {
            if (socket.read(into) < 0) {
                throw new EOFException("the other end has closed its socket");
            }
        }
    }

    @Override
    public void close() throws IOException {
        threads.close();
        socket.close();
    }
}
