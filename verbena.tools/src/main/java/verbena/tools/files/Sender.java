package verbena.tools.files;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import verbena.tools.CommandFailed;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;

/// The end whose files are copied. It offers entries, many in a message. Of the files that are wanted it brings
/// chunks into free slots, or several small files into one, and tells the receiver of each slot. A slot is free again
/// when the receiver says so. One thread hears what the peer says; a few read files and send.
final class Sender {
    /// Entries that have no answer yet, and files that are on their way.
    static final int ENTRIES_MAX = 512;

    /// Messages with entries that have no answer yet.
    static final int ANNOUNCEMENTS_MAX = 32;

    /// Files that go in chunks at the same time: both ends have them open.
    static final int FILES_MAX = 32;

    /// Files in a slot.
    static final int PACK_MAX = 64;

    /// Chunks of a file, whose checksums are kept until its end: a file of 16 TiB in chunks of 1 MiB.
    static final long CHUNKS_MAX = 1L << 24;

    /// How often a chunk is sent that arrives damaged.
    private static final int TRIES_MAX = 4;

    private static final String DAMAGED = "arrived damaged " + TRIES_MAX + " times";

    private final Mailbox mailbox;
    private final Terms terms;
    private final Window window;
    private final RemoteMemory theirs;
    private final Executor disk;
    private final boolean isDirect;
    private final TransferListener listener;
    private final List<Walk.Source> sources;
    private final boolean recursive;
    private final Finder finder = new Finder();

    // Guarded by this.
    private final Map<Integer, Outgoing> offered = new HashMap<>();
    /// To be sent in chunks.
    private final Deque<Outgoing> wanted = new ArrayDeque<>();
    /// To be sent whole.
    private final Deque<Outgoing> small = new ArrayDeque<>();
    private final Deque<Slot> free = new ArrayDeque<>();
    private final Slot[] slots;
    private @Nullable Walk walk;
    private int entries;
    private int unanswered;
    private int inChunks;
    private boolean isFinished;

    /// What becomes of an entry; the receiver may say of it only what fits.
    private enum Stage {
        /// The receiver has not said what it wants of it.
        OFFERED,
        /// It goes whole, or will.
        WHOLE,
        /// Its chunks are on their way.
        MOVING,
        /// The receiver knows that it is complete.
        ENDED,
        /// No more of it comes, and the receiver knows.
        OVER
    }

    /// A message that offers entries. Guarded by the sender.
    private static final class Announcement {
        private int unanswered;
    }

    /// A file on its way, or anything else that was offered. Guarded by the sender, but for `sums`.
    private static final class Outgoing {
        private final int id;
        private final Walk.Step step;
        private final Announcement announcement;
        private final String name;
        private final long chunks;
        /// It counts as a file that goes in chunks.
        private boolean isCounted;
        private @Nullable DataFile file;
        private long first;
        private long next;
        private int underWay;
        private Stage stage = Stage.OFFERED;
        /// Of the chunks that were sent, from the first on. Guarded by itself.
        private byte[] sums = new byte[0];

        private Outgoing(int id, Walk.Step step, Announcement announcement, long chunks) {
            this.id = id;
            this.step = step;
            this.announcement = announcement;
            this.chunks = chunks;
            name = Names.shown(step.name());
        }

        private Walk.Item item() {
            if (step instanceof Walk.Item item) {
                return item;
            }
            throw new CommandFailed("the peer wants what cannot be sent");
        }

        private long size() {
            return item().attributes().size();
        }

        private synchronized void keep(long index, byte[] sum, int length) {
            int at = Math.toIntExact(index * length);
            if (sums.length < at + length) {
                sums = Arrays.copyOf(sums, Math.max(at + length, 2 * sums.length));
            }
            System.arraycopy(sum, 0, sums, at, length);
        }
    }

    /// A slot of the window, with what is in it; the thread that it was given to has it alone.
    private final class Slot implements Runnable {
        private final int index;
        private final ByteBuffer bytes;
        private final Checksum.Computer computer = terms.checksum().computer();
        private final byte[] sum = new byte[Checksum.MAX];
        private @Nullable Outgoing file;
        private long chunk;
        /// Or the files that are whole in it, and why the bytes of some are not.
        private List<Outgoing> pack = List.of();
        private final String[] missing = new String[PACK_MAX];
        private int tries;
        /// The receiver has been told of it, and has not answered.
        private volatile boolean isSent;

        private Slot(int index) {
            this.index = index;
            bytes = window.slot(index);
        }

        @Override
        public void run() {
            try {
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
                freed(this, Failures.text(of.name, e));
                return;
            }
            computer.compute(bytes, sum);
            of.keep(chunk - of.first, sum, terms.checksum().bytes());
            Letter letter = mailbox.write(Kind.CHUNK).int32(index).int32(of.id).int64(chunk);
            letter.int32(length).bytes().put(sum, 0, terms.checksum().bytes());
            send(letter, length);
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
            Letter letter = mailbox.write(Kind.PACK).int32(index).int32(length);
            letter.bytes().put(sum, 0, terms.checksum().bytes());
            for (int i = 0; i < pack.size(); i++) {
                letter.int32(pack.get(i).id).text(missing[i], pack.size() - i - 1, Integer.BYTES + Short.BYTES);
            }
            send(letter, length);
        }

        /// Reads a whole file; why that is not possible, or nothing.
        private String read(Outgoing of, int at) {
            try (Spot spot = of.item().find(finder);
                    DataFile from = DataFile.open(spot, spot.name(), isDirect, StandardOpenOption.READ)) {
                from.read(bytes.clear().slice(at, bytes.capacity() - at), (int) of.size(), 0);
                requireUnchanged(of, spot);
                return "";
            } catch (IOException e) {
                return Failures.why(e);
            }
        }

        private void send(Letter letter, int length) {
            isSent = true;
            if (terms.mode() == Mode.WRITE && length > 0) {
                mailbox.send(letter, window.region(), window.offset(index), length, theirs);
            } else {
                mailbox.send(letter);
            }
        }
    }

    /// @param window own
    /// @param theirs the peer's window, when it exposes it
    Sender(
            Mailbox mailbox,
            Terms terms,
            Window window,
            RemoteMemory theirs,
            Executor disk,
            boolean isDirect,
            List<Walk.Source> sources,
            boolean recursive,
            TransferListener listener) {
        this.mailbox = mailbox;
        this.terms = terms;
        this.window = window;
        this.theirs = theirs;
        this.disk = disk;
        this.isDirect = isDirect;
        this.sources = sources;
        this.recursive = recursive;
        this.listener = listener;
        slots = new Slot[terms.slots()];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = new Slot(i);
            free.add(slots[i]);
        }
    }

    /// Sends everything; returns when the receiver has it.
    ///
    /// @throws CommandFailed when the receiver gives up, or breaks the rules
    void run() throws InterruptedException {
        announce();
        synchronized (this) {
            walk = new Walk(sources, recursive, finder);
        }
        try {
            goOn();
            for (Letter letter = mailbox.receive(); letter.kind() != Kind.BYE; letter = mailbox.receive()) {
                hear(letter);
                goOn();
            }
            requireFinished();
        } catch (BufferUnderflowException e) {
            throw Mailbox.malformed(e);
        }
    }

    private synchronized void requireFinished() {
        if (!isFinished) {
            throw new CommandFailed("the peer ends what is not complete");
        }
    }

    /// Closes what is still open; nothing of it may run any more.
    synchronized void closeFiles() {
        offered.values().forEach(Sender::closeFile);
        finder.close();
    }

    private void announce() throws InterruptedException {
        long files = 0;
        long bytes = 0;
        var count = new Walk(sources, recursive, finder);
        mailbox.busy(1);
        try {
            for (Walk.Step step = count.next(); step != null; step = count.next()) {
                if (step instanceof Walk.Item item && item.attributes().type() == Attributes.Type.FILE) {
                    files++;
                    bytes += item.attributes().size();
                }
            }
        } finally {
            mailbox.busy(-1);
        }
        listener.total(files, bytes);
        mailbox.send(mailbox.write(Kind.TOTAL).int64(files).int64(bytes));
    }

    private synchronized void goOn() throws InterruptedException {
        mailbox.busy(1);
        try {
            offer();
            fill();
        } finally {
            mailbox.busy(-1);
        }
    }

    private void offer() throws InterruptedException {
        Letter letter = null;
        var announcement = new Announcement();
        while (walk != null && offered.size() < ENTRIES_MAX && unanswered < ANNOUNCEMENTS_MAX && inChunks < FILES_MAX) {
            switch (walk.next()) {
                case null -> walk = null;
                case Walk.Item item -> {
                    var entry = new Entry(entries, item.attributes(), item.name(), item.target());
                    if (letter != null && letter.room() < entry.length()) {
                        mailbox.send(letter);
                        letter = null;
                    }
                    if (letter == null) {
                        letter = mailbox.write(Kind.ENTRY);
                        announcement = new Announcement();
                    }
                    Outgoing file = offered(
                            item, announcement, terms.chunks(item.attributes().size()));
                    if (!terms.isSmall(item.attributes().size())) {
                        count(file);
                    }
                    entry.writeTo(letter);
                }
                case Walk.Trouble trouble -> {
                    if (letter != null) {
                        mailbox.send(letter); // names stay in order
                        letter = null;
                    }
                    Outgoing nothing = offered(trouble, new Announcement(), 0);
                    nothing.stage = Stage.OVER;
                    if (trouble.isFailure()) {
                        listener.failed(nothing.name, nothing.name + ": " + trouble.why());
                    } else {
                        listener.leftOut(nothing.name, trouble.why());
                    }
                    mailbox.send(mailbox.write(Kind.NOTE)
                            .int32(nothing.id)
                            .int8(trouble.isFailure() ? 1 : 0)
                            .text(nothing.name)
                            .text(trouble.why()));
                }
            }
        }
        if (letter != null) {
            mailbox.send(letter);
        }
        if (walk == null && offered.isEmpty() && !isFinished) {
            isFinished = true;
            mailbox.send(mailbox.write(Kind.FINISH));
        }
    }

    private Outgoing offered(Walk.Step step, Announcement announcement, long chunks) {
        var one = new Outgoing(entries++, step, announcement, chunks);
        unanswered += announcement.unanswered++ == 0 ? 1 : 0;
        offered.put(one.id, one);
        return one;
    }

    private void answered(Outgoing one) {
        unanswered -= --one.announcement.unanswered == 0 ? 1 : 0;
    }

    private void count(Outgoing file) {
        file.isCounted = true;
        inChunks++;
    }

    /// Gives free slots to files and chunks that are wanted. A small file that is alone goes as a chunk.
    private void fill() throws InterruptedException {
        while (!free.isEmpty() && !small.isEmpty()) {
            if (small.size() == 1 && inChunks < FILES_MAX) {
                count(small.getFirst());
                begin(small.pop(), 0);
            } else {
                pack(free.pop());
            }
        }
        while (!free.isEmpty() && !wanted.isEmpty()) {
            Outgoing file = wanted.peek();
            if (file.stage != Stage.MOVING || file.next == file.chunks) {
                wanted.pop();
                continue;
            }
            Slot slot = free.pop();
            slot.file = file;
            slot.chunk = file.next++;
            slot.tries = 1;
            slot.isSent = false;
            file.underWay++;
            disk.execute(slot);
        }
    }

    /// Past the page cache a file is read to the start of a page, so it has a slot of its own.
    private void pack(Slot slot) {
        List<Outgoing> pack = new ArrayList<>();
        long room = terms.chunkBytes();
        do {
            room -= small.getFirst().size();
            pack.add(small.pop());
        } while (!small.isEmpty()
                && !isDirect
                && pack.size() < PACK_MAX
                && small.getFirst().size() <= room);
        slot.pack = pack;
        slot.tries = 1;
        slot.isSent = false;
        disk.execute(slot);
    }

    private synchronized void hear(Letter letter) throws InterruptedException {
        ByteBuffer in = letter.bytes();
        switch (letter.kind()) {
            case WANT -> {
                do {
                    wanted(offered(in.getInt()), in.getLong(), in.get(), letter.takeText());
                } while (letter.hasMore());
            }
            case FREE -> {
                Slot slot = slot(in.getInt());
                if (slot.file == null) {
                    throw new CommandFailed("the peer does not say what has become of files in a slot");
                }
                listener.moved(terms.length(slot.file.size(), slot.chunk));
                freed(slot, null);
            }
            case STORED -> stored(slot(in.getInt()), letter);
            case AGAIN -> {
                Slot slot = slot(in.getInt());
                Outgoing file = slot.file;
                slot.tries++;
                if (file != null && slot.tries > TRIES_MAX) {
                    freed(slot, file.name + ": " + DAMAGED);
                } else {
                    slot.isSent = false;
                    disk.execute(slot);
                }
            }
            case FAULT -> {
                Outgoing file = offered(in.getInt());
                if (file.stage != Stage.OVER) { // it may have been given up here at the same moment
                    require(file, Stage.MOVING);
                    fail(file, letter.takeText(), "");
                }
            }
            case DONE -> {
                Outgoing file = offered(in.getInt());
                String why = letter.takeText();
                require(file, Stage.ENDED);
                forget(file);
                if (why.isEmpty()) {
                    listener.done(file.name, file.item().attributes().size());
                } else {
                    listener.failed(file.name, why);
                }
            }
            case DROPPED -> {
                Outgoing file = offered(in.getInt());
                require(file, Stage.OVER);
                if (file.step instanceof Walk.Trouble) {
                    answered(file);
                }
                forget(file);
            }
            default -> throw Mailbox.unexpected(letter);
        }
    }

    private Outgoing offered(int id) {
        Outgoing file = offered.get(id);
        if (file == null) {
            throw new CommandFailed("the peer speaks of a file that was not offered");
        }
        return file;
    }

    private static void require(Outgoing file, Stage stage) {
        if (file.stage != stage) {
            throw new CommandFailed("the peer says of " + file.name + " what it cannot know");
        }
    }

    private Slot slot(int index) {
        if (index < 0 || index >= slots.length || !slots[index].isSent) {
            throw new CommandFailed("the peer speaks of a slot that it does not have");
        }
        return slots[index];
    }

    /// What has become of the files in a slot.
    private void stored(Slot slot, Letter letter) {
        if (slot.pack.isEmpty()) {
            throw new CommandFailed("the peer speaks of files in a slot that has none");
        }
        for (int i = 0; i < slot.pack.size(); i++) {
            Outgoing file = slot.pack.get(i);
            String theirs = letter.takeText();
            String why = slot.missing[i].isEmpty() ? theirs : slot.missing[i];
            if (slot.missing[i].isEmpty()) {
                listener.moved(file.size());
            }
            if (why.isEmpty()) {
                listener.done(file.name, file.size());
            } else {
                listener.failed(file.name, file.name + ": " + why);
            }
            forget(file);
        }
        if (letter.hasMore()) {
            throw new CommandFailed("the peer speaks of more files than are in the slot");
        }
        slot.pack = List.of();
        slot.isSent = false;
        free.push(slot);
    }

    private void forget(Outgoing file) {
        file.stage = Stage.OVER;
        offered.remove(file.id);
        inChunks -= file.isCounted ? 1 : 0;
        closeFile(file);
    }

    private void wanted(Outgoing file, long from, int code, String text) throws InterruptedException {
        long size = file.item().attributes().size();
        require(file, Stage.OFFERED);
        answered(file);
        Verdict verdict = code < 0 || code >= Verdict.values().length ? Verdict.REFUSED : Verdict.values()[code];
        if (verdict != Verdict.SEND) {
            forget(file);
            switch (verdict) {
                case MADE -> listener.made(file.name);
                case SAME -> listener.same(file.name, size);
                case WOULD -> listener.would(file.name, size);
                default -> listener.failed(file.name, text);
            }
            return;
        }
        if (from < 0 || from > file.chunks || file.item().attributes().type() != Attributes.Type.FILE) {
            throw new CommandFailed("the peer wants a part of a file that it does not have");
        }
        if (!terms.isSmall(size)) {
            begin(file, from);
            return;
        }
        if (from > 0) {
            throw new CommandFailed("the peer wants a part of a file that goes whole");
        }
        file.stage = Stage.WHOLE;
        listener.begins(file.name, size, 0);
        small.add(file);
    }

    /// The first of its chunks can go.
    private void begin(Outgoing file, long from) throws InterruptedException {
        long size = file.size();
        file.stage = Stage.MOVING;
        file.first = from;
        file.next = from;
        if (file.chunks - from > CHUNKS_MAX) {
            String why = file.name + ": more than " + CHUNKS_MAX + " chunks: take larger ones (--chunk)";
            fail(file, why, why);
            return;
        }
        if (!terms.isSmall(size)) {
            listener.begins(file.name, size, Math.min(size, from * terms.chunkBytes()));
        }
        try (Spot spot = file.item().find(finder)) {
            file.file = DataFile.open(spot, spot.name(), isDirect, StandardOpenOption.READ);
            requireUnchanged(file, spot);
        } catch (IOException e) {
            String why = Failures.text(file.name, e);
            fail(file, why, why);
            return;
        }
        if (file.next == file.chunks) {
            disk.execute(() -> end(file));
        } else {
            wanted.add(file);
        }
    }

    private static void requireUnchanged(Outgoing file, Spot spot) throws IOException {
        if (spot.look().filter(now -> now.isUnchanged(file.item().attributes())).isEmpty()) {
            throw new IOException("it has changed while it was copied");
        }
    }

    /// A slot has nothing under way any more.
    ///
    /// @param trouble why its file cannot go on; null when it can
    private synchronized void freed(Slot slot, @Nullable String trouble) {
        Outgoing file = slot.file;
        slot.file = null;
        slot.isSent = false;
        free.push(slot);
        if (file == null) {
            return;
        }
        file.underWay--;
        try {
            if (trouble != null && file.stage == Stage.MOVING) {
                fail(file, trouble, trouble);
            } else if (file.stage == Stage.MOVING && file.next == file.chunks && file.underWay == 0) {
                disk.execute(() -> end(file));
            }
            fill();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /// @param why for the user
    /// @param told to the peer
    private void fail(Outgoing file, String why, String told) throws InterruptedException {
        file.stage = Stage.OVER;
        listener.failed(file.name, why);
        mailbox.send(mailbox.write(Kind.FAILED).int32(file.id).text(told));
    }

    /// All chunks have arrived: is it still the same file, and what is its digest?
    private void end(Outgoing file) {
        try {
            String trouble = null;
            byte[] digest = new byte[0];
            try (Spot spot = file.item().find(finder)) {
                digest = digest(file);
                requireUnchanged(file, spot);
            } catch (IOException e) {
                trouble = Failures.text(file.name, e);
            }
            synchronized (this) {
                if (file.stage != Stage.MOVING) {
                    return;
                }
                if (trouble != null) {
                    fail(file, trouble, trouble);
                    return;
                }
                file.stage = Stage.ENDED;
            }
            mailbox.send(mailbox.write(Kind.END).int32(file.id).put(digest));
        } catch (VerbsException | InterruptedException _) {
            // The connection has ended, which the receiving thread hears too.
        }
    }

    /// Chunks that the receiver had already are read for it too.
    private byte[] digest(Outgoing file) throws IOException {
        long size = file.item().attributes().size();
        MessageDigest digest = Checksum.fileDigest(size);
        DataFile from = file.file;
        if (file.first > 0 && from != null) {
            ByteBuffer data =
                    ByteBuffer.allocateDirect(terms.chunkBytes() + Terms.PAGE).alignedSlice(Terms.PAGE);
            Checksum.Computer computer = terms.checksum().computer();
            var sum = new byte[Checksum.MAX];
            for (long chunk = 0; chunk < file.first; chunk++) {
                from.read(data, terms.length(size, chunk), chunk * terms.chunkBytes());
                computer.compute(data, sum);
                digest.update(sum, 0, terms.checksum().bytes());
            }
        }
        synchronized (file) {
            digest.update(
                    file.sums,
                    0,
                    Math.toIntExact(
                            (file.chunks - file.first) * terms.checksum().bytes()));
        }
        return digest.digest();
    }

    private static void closeFile(Outgoing file) {
        try {
            if (file.file != null) {
                file.file.close();
            }
        } catch (IOException _) {
            // It was only read.
        }
    }
}
