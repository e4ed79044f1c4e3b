package verbena.tools.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/// A file channel at which something happens when it is read or written for the n-th time, counted over all files
/// that are opened through it.
final class Faulty extends FileChannel {
    /// What happens.
    interface Fault {
        void happen() throws IOException;
    }

    /// What happens to bytes that are about to be written.
    interface Damage {
        void to(ByteBuffer bytes, long position);
    }

    private final FileChannel file;
    private final Fault beforeRead;
    private final Fault beforeWrite;
    private final Damage damage;

    private Faulty(FileChannel file, Fault beforeRead, Fault beforeWrite, Damage damage) {
        this.file = file;
        this.beforeRead = beforeRead;
        this.beforeWrite = beforeWrite;
        this.damage = damage;
    }

    static UnaryOperator<FileChannel> atRead(int n, Fault fault) {
        Fault counted = counted(n, fault);
        return file -> new Faulty(file, counted, () -> {}, (bytes, position) -> {});
    }

    static UnaryOperator<FileChannel> atWrite(int n, Fault fault) {
        Fault counted = counted(n, fault);
        return file -> new Faulty(file, () -> {}, counted, (bytes, position) -> {});
    }

    static UnaryOperator<FileChannel> damaging(Damage damage) {
        return file -> new Faulty(file, () -> {}, () -> {}, damage);
    }

    private static Fault counted(int n, Fault fault) {
        var count = new AtomicInteger();
        return () -> {
            if (count.incrementAndGet() == n) {
                fault.happen();
            }
        };
    }

    @Override
    public int read(ByteBuffer to, long position) throws IOException {
        beforeRead.happen();
        return file.read(to, position);
    }

    @Override
    public int write(ByteBuffer from, long position) throws IOException {
        beforeWrite.happen();
        ByteBuffer copy =
                ByteBuffer.allocate(from.remaining()).put(from.duplicate()).flip();
        damage.to(copy, position);
        from.position(from.limit());
        return file.write(copy, position);
    }

    @Override
    public long size() throws IOException {
        return file.size();
    }

    @Override
    public FileChannel truncate(long size) throws IOException {
        file.truncate(size);
        return this;
    }

    @Override
    public void force(boolean metaData) throws IOException {
        file.force(metaData);
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) throws IOException {
        return file.tryLock(position, size, shared);
    }

    @Override
    protected void implCloseChannel() throws IOException {
        file.close();
    }

    @Override
    public int read(ByteBuffer to) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long read(ByteBuffer[] to, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int write(ByteBuffer from) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long position() {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileChannel position(long to) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel target) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long transferFrom(ReadableByteChannel source, long position, long count) {
        throw new UnsupportedOperationException();
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileLock lock(long position, long size, boolean shared) {
        throw new UnsupportedOperationException();
    }
}
