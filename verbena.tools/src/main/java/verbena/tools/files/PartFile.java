package verbena.tools.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// A file that is not complete. It is `.NAME.verbena-part` beside where it will be, and gets its name when all
/// of it is there. A file of several chunks also has `.NAME.verbena-journal`, with the identity of the source
/// and the checksum of each chunk that has been written. What an interrupted copy leaves is kept only as far as
/// its bytes still have these checksums. Several threads may write different chunks.
final class PartFile implements AutoCloseable {
    private static final byte[] MAGIC = "VRBPART1".getBytes(StandardCharsets.US_ASCII);
    private static final int HEADER = 64;
    private static final int NAME_MAX = 255;
    /// The part files that this process writes now: a lock of the system's holds between processes only.
    private static final Set<String> OPEN = ConcurrentHashMap.newKeySet();

    private final Spot spot;
    private final Attributes source;
    private final Terms terms;
    private final Path partName;
    private final Path journalName;
    private final String key;
    private final long chunks;
    /// The one record of a file without a journal.
    private byte @Nullable [] only;

    private @Nullable DataFile part;
    private @Nullable DataFile journal;
    private @Nullable FileLock lock;
    private long kept;

    private PartFile(Spot spot, Attributes source, Terms terms, String key) {
        this.spot = spot;
        this.source = source;
        this.terms = terms;
        this.key = key;
        chunks = terms.chunks(source.size());
        partName = name(spot.name(), ".verbena-part");
        journalName = name(spot.name(), ".verbena-journal");
    }

    /// Opens what an earlier attempt has left, or begins anew.
    ///
    /// @param spot of the file's own name; closed with this
    /// @throws IOException when another process or request is writing it, or the file system refuses
    static PartFile open(Spot spot, Attributes source, Terms terms, boolean isDirect) throws IOException {
        String key = spot.key();
        if (!OPEN.add(key)) {
            throw new FileSystemException(null, null, "another transfer is writing it");
        }
        var file = new PartFile(spot, source, terms, key);
        boolean done = false;
        try {
            file.open(isDirect);
            done = true;
            return file;
        } finally {
            if (!done) {
                file.closeFiles();
            }
        }
    }

    private void open(boolean isDirect) throws IOException {
        DataFile opened = DataFile.open(
                spot, partName, isDirect, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        part = opened;
        try {
            lock = opened.channel().tryLock();
        } catch (OverlappingFileLockException _) {
            // As if another process had it.
        }
        if (lock == null) {
            throw new FileSystemException(null, null, "another transfer is writing it");
        }
        if (chunks <= 1) {
            if (opened.channel().size() > 0) {
                opened.channel().truncate(0);
            }
            return;
        }
        DataFile records = DataFile.open(
                spot, journalName, false, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        journal = records;
        ByteBuffer header = header();
        ByteBuffer found = ByteBuffer.allocate(HEADER);
        if (records.channel().read(found, 0) == HEADER && found.flip().equals(header)) {
            kept = verified();
        } else {
            opened.channel().truncate(0);
            records.channel().truncate(0);
            records.write(header, 0);
        }
    }

    private ByteBuffer header() {
        Instant modified = source.modified();
        return ByteBuffer.allocate(HEADER)
                .put(MAGIC)
                .putInt(terms.checksum().ordinal())
                .putInt(terms.chunkBytes())
                .putLong(source.size())
                .putLong(modified.getEpochSecond())
                .putInt(modified.getNano())
                .putLong(source.identity())
                .position(0)
                .limit(HEADER);
    }

    /// Returns the number of chunks from the first on whose bytes are what the journal says.
    private long verified() throws IOException {
        ByteBuffer data = terms.alignedChunk();
        Checksum.Computer computer = terms.checksum().computer();
        var sum = new byte[Checksum.MAX];
        for (long chunk = 0; chunk < chunks; chunk++) {
            byte[] record = record(chunk);
            long at = chunk * terms.chunkBytes();
            int length = terms.length(source.size(), chunk);
            if (record == null || file().channel().size() < at + length) {
                return chunk;
            }
            file().read(data, length, at);
            computer.compute(data, sum);
            if (!Arrays.equals(sum, 0, record.length, record, 0, record.length)) {
                return chunk;
            }
        }
        return chunks;
    }

    /// Returns the checksum of a chunk; null when the chunk is not there.
    private byte @Nullable [] record(long chunk) throws IOException {
        DataFile records = journal;
        if (records == null) {
            return only;
        }
        int length = terms.checksum().bytes();
        ByteBuffer record = ByteBuffer.allocate(1 + length);
        long at = HEADER + chunk * (1 + length);
        while (record.hasRemaining() && records.channel().read(record, at + record.position()) > 0) {
            // until all of it is read, or there is no more
        }
        return record.hasRemaining() || record.get(0) != 1 ? null : Arrays.copyOfRange(record.array(), 1, 1 + length);
    }

    private DataFile file() throws ClosedChannelException {
        DataFile opened = part;
        if (opened == null) {
            throw new ClosedChannelException(); // given up meanwhile
        }
        return opened;
    }

    /// Returns the number of chunks from the first on that are there.
    long kept() {
        return kept;
    }

    /// Writes a chunk, which is between position 0 and limit, and then its record.
    ///
    /// @param record room for a record; its contents do not matter
    void write(long chunk, ByteBuffer data, byte[] sum, ByteBuffer record) throws IOException {
        file().write(data, chunk * terms.chunkBytes());
        int length = terms.checksum().bytes();
        DataFile records = journal;
        if (records == null) {
            only = Arrays.copyOf(sum, length);
        } else {
            record.clear().put((byte) 1).put(sum, 0, length).flip();
            records.write(record, HEADER + chunk * (1 + length));
        }
    }

    /// Returns the file's digest by the checksums of its chunks; null when one is missing.
    byte @Nullable [] digest() throws IOException {
        MessageDigest digest = Checksum.fileDigest(source.size());
        for (long chunk = 0; chunk < chunks; chunk++) {
            byte[] record = record(chunk);
            if (record == null) {
                return null;
            }
            digest.update(record);
        }
        return digest.digest();
    }

    /// Gives it permissions, time and name.
    ///
    /// @param isSynced whether the disk has to have it first
    /// @param isVerified whether it is to be read again first
    void finish(boolean isSynced, boolean isVerified) throws IOException {
        if (isVerified && chunks > 0 && verified() < chunks) {
            throw new IOException("the disk does not give back what was written");
        }
        if (isSynced) {
            file().channel().force(true);
        }
        spot.set(partName, source);
        spot.take(partName);
        if (journal != null) {
            spot.delete(journalName);
        }
    }

    /// Deletes it.
    void drop() throws IOException {
        spot.delete(partName);
        spot.delete(journalName);
    }

    /// Closes it; what is there stays for the next attempt.
    @Override
    public void close() throws IOException {
        try (spot) {
            closeFiles();
        }
    }

    private void closeFiles() throws IOException {
        try {
            if (journal != null) {
                journal.close();
                journal = null;
            }
            if (part != null) {
                part.close(); // and the lock
                part = null;
            }
        } finally {
            OPEN.remove(key);
        }
    }

    private static Path name(Path name, String suffix) {
        byte[] bytes = Names.bytes(name);
        if (1 + bytes.length + suffix.length() <= NAME_MAX) {
            return Names.path(joined(bytes, suffix));
        }
        String hash = HexFormat.of().formatHex(Checksum.sha256(bytes), 0, 16);
        return Path.of("." + hash + suffix);
    }

    private static byte[] joined(byte[] name, String suffix) {
        return ByteBuffer.allocate(1 + name.length + suffix.length())
                .put((byte) '.')
                .put(name)
                .put(suffix.getBytes(StandardCharsets.US_ASCII))
                .array();
    }

    /// Returns whether a receiver makes files of such a name for itself. Such files are not copied.
    static boolean isOne(Path name) {
        String text = name.toString();
        return text.startsWith(Spot.ASIDE)
                || (text.startsWith(".") && (text.endsWith(".verbena-part") || text.endsWith(".verbena-journal")));
    }
}
