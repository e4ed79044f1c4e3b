package verbena.tools.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.CommandFailed;

/// A file on its way, or anything else that was offered. Guarded by the sender, but for the checksums of its chunks.
final class Outgoing {
    /// The stage of an entry, which limits the answers that the receiver may send.
    enum Stage {
        /// An entry that the receiver has not answered.
        OFFERED,
        /// A file that goes whole, now or later.
        WHOLE,
        /// Its chunks are on their way.
        MOVING,
        /// The receiver knows that it is complete.
        ENDED,
        /// An entry of which no more comes, as the receiver knows.
        OVER
    }

    final int id;
    final Walk.Step step;
    final Announcement announcement;
    final String name;
    final long chunks;
    /// Whether it counts as a file that goes in chunks.
    boolean isCounted;

    @Nullable
    DataFile file;
    /// The first chunk that the receiver wants, the next one to be sent, and those that are not answered.
    long first;
    long next;
    int underWay;
    Stage stage = Stage.OFFERED;
    /// The checksums of the chunks that were sent, from the first on. Guarded by this.
    private byte[] sums = new byte[0];

    Outgoing(int id, Walk.Step step, Announcement announcement, long chunks) {
        this.id = id;
        this.step = step;
        this.announcement = announcement;
        this.chunks = chunks;
        name = Names.shown(step.name());
    }

    Walk.Item item() {
        if (step instanceof Walk.Item item) {
            return item;
        }
        throw new CommandFailed("the peer wants what cannot be sent");
    }

    long size() {
        return item().attributes().size();
    }

    /// Checks the stage: the receiver may send this answer in one stage only.
    ///
    /// @throws CommandFailed when it is in another
    void require(Stage stage) {
        if (this.stage != stage) {
            throw new CommandFailed("the peer says of " + name + " what it cannot know");
        }
    }

    /// @param spot where the file is
    /// @throws IOException when it is not what it was when it was offered
    void requireUnchanged(Spot spot) throws IOException {
        if (spot.look().filter(now -> now.isUnchanged(item().attributes())).isEmpty()) {
            throw new IOException("it has changed while it was copied");
        }
    }

    /// Keeps the checksum of a chunk.
    ///
    /// @param index from the first chunk that is sent
    synchronized void keep(long index, byte[] sum, int length) {
        int at = Math.toIntExact(index * length);
        if (sums.length < at + length) {
            sums = Arrays.copyOf(sums, Math.max(at + length, 2 * sums.length));
        }
        System.arraycopy(sum, 0, sums, at, length);
    }

    /// Returns the digest of the whole file. Chunks that the receiver had already are read for it too.
    byte[] digest(Terms terms) throws IOException {
        long size = size();
        MessageDigest digest = Checksum.fileDigest(size);
        DataFile from = file;
        if (first > 0 && from != null) {
            ByteBuffer data = terms.alignedChunk();
            Checksum.Computer computer = terms.checksum().computer();
            var sum = new byte[Checksum.MAX];
            for (long chunk = 0; chunk < first; chunk++) {
                from.read(data, terms.length(size, chunk), chunk * terms.chunkBytes());
                computer.compute(data, sum);
                digest.update(sum, 0, terms.checksum().bytes());
            }
        }
        synchronized (this) {
            digest.update(
                    sums, 0, Math.toIntExact((chunks - first) * terms.checksum().bytes()));
        }
        return digest.digest();
    }

    void close() {
        try {
            if (file != null) {
                file.close();
            }
        } catch (IOException _) {
            // It was only read.
        }
    }
}
