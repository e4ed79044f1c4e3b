package verbena.tools.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.Failures;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;

/// A slot of the sender's window. A thread for the disk reads a chunk or whole files into it and tells the receiver.
/// The thread that it was given to has it alone.
final class OutgoingSlot implements Runnable {
    /// The number of attempts to send a chunk that arrives damaged.
    private static final int TRIES_MAX = 4;

    private static final String DAMAGED = "arrived damaged " + TRIES_MAX + " times";

    /// A listener for slots that have nothing under way any more.
    interface Owner {
        /// Handles a slot that has nothing under way any more.
        ///
        /// @param trouble why its file cannot go on; null when it can
        void freed(OutgoingSlot slot, @Nullable String trouble);
    }

    private final int index;
    private final Owner owner;
    private final MessageChannel channel;
    private final Terms terms;
    private final Window window;
    private final RemoteMemory theirs;
    private final boolean isDirect;
    private final Finder finder;
    private final ByteBuffer bytes;
    private final Checksum.Computer computer;
    private final byte[] sum = new byte[Checksum.MAX];
    private @Nullable Outgoing file;
    private long chunk;
    /// The files that are whole in it, and why the bytes of some are not.
    private List<Outgoing> pack = List.of();
    private final String[] missing = new String[Terms.PACK_MAX];
    private int tries;
    /// The receiver has been told of it, and has not answered.
    private volatile boolean isSent;

    OutgoingSlot(
            int index,
            Owner owner,
            MessageChannel channel,
            Terms terms,
            Window window,
            RemoteMemory theirs,
            boolean isDirect,
            Finder finder) {
        this.index = index;
        this.owner = owner;
        this.channel = channel;
        this.terms = terms;
        this.window = window;
        this.theirs = theirs;
        this.isDirect = isDirect;
        this.finder = finder;
        bytes = window.slot(index);
        computer = terms.checksum().computer();
    }

    /// Returns the file whose chunk is in it, if there is one.
    @Nullable
    Outgoing file() {
        return file;
    }

    /// Returns the number of bytes of its chunk.
    int chunkLength() {
        return file == null ? 0 : terms.length(file.size(), chunk);
    }

    List<Outgoing> pack() {
        return pack;
    }

    /// Returns the reason why a file of [#pack] could not be read; empty when it could.
    String missing(int i) {
        return missing[i];
    }

    boolean isSent() {
        return isSent;
    }

    /// Takes a chunk to fill the slot with.
    void take(Outgoing file, long chunk) {
        this.file = file;
        this.chunk = chunk;
        tries = 1;
        isSent = false;
    }

    /// Takes whole files to fill the slot with.
    void take(List<Outgoing> pack) {
        this.pack = pack;
        tries = 1;
        isSent = false;
    }

    /// Notes that the content has to be sent once more, because it arrived damaged.
    ///
    /// @return why its file cannot go on; null when it is tried again
    @Nullable
    String again() {
        tries++;
        if (file != null && tries > TRIES_MAX) {
            return file.name + ": " + DAMAGED;
        }
        isSent = false;
        return null;
    }

    /// Empties the slot, and returns the file whose chunk was in it, if it was a chunk.
    @Nullable
    Outgoing clear() {
        Outgoing was = file;
        file = null;
        pack = List.of();
        isSent = false;
        return was;
    }

    @Override
    public void run() {
        try {
            channel.awaitTransfer(window.offset(index)); // of the content before this
            if (pack.isEmpty()) {
                sendChunk();
            } else {
                sendPack();
            }
        } catch (VerbsException | InterruptedException _) {
            // The connection has ended, which the receiving thread hears too.
        }
    }

    private void sendChunk() throws InterruptedException {
        Outgoing of = file;
        DataFile from = of == null ? null : of.file;
        if (of == null || from == null) {
            return;
        }
        int length = terms.length(of.size(), chunk);
        try {
            from.read(bytes, length, chunk * terms.chunkBytes());
        } catch (IOException e) {
            owner.freed(this, Failures.text(of.name, e));
            return;
        }
        computer.compute(bytes, sum);
        of.keep(chunk - of.first, sum, terms.checksum().bytes());
        Message message = channel.write(Kind.CHUNK).int32(index).int32(of.id).int64(chunk);
        message.int32(length).bytes().put(sum, 0, terms.checksum().bytes());
        send(message, length);
    }

    private void sendPack() throws InterruptedException {
        int length = 0;
        for (int i = 0; i < pack.size(); i++) {
            Outgoing of = pack.get(i);
            missing[i] = tries > TRIES_MAX ? DAMAGED : read(of, length);
            length += missing[i].isEmpty() ? (int) of.size() : 0;
        }
        bytes.position(0).limit(length);
        computer.compute(bytes, sum);
        Message message = channel.write(Kind.PACK).int32(index).int32(length);
        message.bytes().put(sum, 0, terms.checksum().bytes());
        for (int i = 0; i < pack.size(); i++) {
            message.int32(pack.get(i).id).text(missing[i], pack.size() - i - 1, Integer.BYTES + Short.BYTES);
        }
        send(message, length);
    }

    /// Reads a whole file; why that is not possible, or nothing.
    private String read(Outgoing of, int at) {
        try (Spot spot = of.item().find(finder);
                DataFile from = DataFile.open(spot, spot.name(), isDirect, StandardOpenOption.READ)) {
            from.read(bytes.clear().slice(at, bytes.capacity() - at), (int) of.size(), 0);
            of.requireUnchanged(spot);
            return "";
        } catch (IOException e) {
            return Failures.why(e);
        }
    }

    private void send(Message message, int length) {
        isSent = true;
        if (terms.mode() == Mode.WRITE && length > 0) {
            channel.send(message, window.region(), window.offset(index), length, theirs);
        } else {
            channel.send(message);
        }
    }
}
