package verbena.tools.files;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;
import verbena.tools.CommandFailed;
import verbena.tools.files.Request.Option;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;

/// The end that files are copied to. It says of each entry what it wants of it, checks each chunk, writes it, and
/// gives a file its name when all of it is right. One thread hears what the peer says; a few check and write.
final class Receiver {
    /// Folders of one request, whose times are set when all is in them.
    private static final int FOLDERS_MAX = 1_000_000;

    private final Mailbox mailbox;
    private final Terms terms;
    private final Window window;
    private final RemoteMemory theirs;
    private final ExecutorService disk;
    private final boolean isDirect;
    private final Landing landing;
    private final Set<Option> options;
    private final TransferListener listener;

    private final Map<Integer, Incoming> incoming = new ConcurrentHashMap<>();
    private final List<Entry> folders = new ArrayList<>();
    private final Slot[] slots;
    private volatile @Nullable CommandFailed fatal;

    /// A file that arrives.
    private static final class Incoming {
        private final Entry entry;
        private final String name;
        private final PartFile part;
        /// The peer was told that it cannot go on.
        private volatile boolean isOver;
        /// It was said to be complete.
        private boolean isEnding;

        private Incoming(Entry entry, PartFile part) {
            this.entry = entry;
            this.part = part;
            name = Names.shown(entry.name());
        }
    }

    /// A slot of the window; from CHUNK to FREE or AGAIN it belongs to whoever works on it.
    private final class Slot implements Runnable {
        private final int index;
        private final ByteBuffer bytes;
        private final ByteBuffer record = ByteBuffer.allocateDirect(1 + Checksum.MAX);
        private final Checksum.Computer computer = terms.checksum().computer();
        private final byte[] told = new byte[Checksum.MAX];
        private final byte[] sum = new byte[Checksum.MAX];
        private volatile boolean isBusy;
        private @Nullable Incoming file;
        private long chunk;
        private int length;

        private Slot(int index) {
            this.index = index;
            bytes = window.slot(index);
        }

        @Override
        public void run() {
            try {
                Incoming of = file;
                Kind answer = of == null || of.isOver || place(of) ? Kind.FREE : Kind.AGAIN;
                file = null;
                isBusy = false;
                mailbox.send(mailbox.write(answer).int32(index));
            } catch (VerbsException | InterruptedException _) {
                // The connection has ended, which whoever receives hears too.
            }
        }

        /// Whether it was what its checksum says.
        private boolean place(Incoming of) throws InterruptedException {
            int sumBytes = terms.checksum().bytes();
            bytes.position(0).limit(length);
            computer.compute(bytes, sum);
            if (!Arrays.equals(sum, 0, sumBytes, told, 0, sumBytes)) {
                return false;
            }
            try {
                of.part.write(chunk, bytes, sum, record);
                listener.moved(length);
            } catch (IOException e) {
                fault(of, e, chunk * terms.chunkBytes());
            }
            return true;
        }
    }

    /// @param window own
    /// @param theirs the peer's window, when it exposes it
    Receiver(
            Mailbox mailbox,
            Terms terms,
            Window window,
            RemoteMemory theirs,
            ExecutorService disk,
            boolean isDirect,
            Landing landing,
            Set<Option> options,
            TransferListener listener) {
        this.mailbox = mailbox;
        this.terms = terms;
        this.window = window;
        this.theirs = theirs;
        this.disk = disk;
        this.isDirect = isDirect;
        this.landing = landing;
        this.options = options;
        this.listener = listener;
        slots = new Slot[terms.slots()];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = new Slot(i);
        }
    }

    /// Takes everything.
    ///
    /// @throws CommandFailed when the sender gives up or breaks the rules, or there is no room
    void run() throws InterruptedException {
        mailbox.onRead(slot -> disk.execute(slots[slot]));
        try {
            Letter total = mailbox.receive();
            if (total.kind() != Kind.TOTAL) {
                throw Mailbox.unexpected(total);
            }
            listener.total(total.bytes().getLong(), total.bytes().getLong());
            for (Letter letter = mailbox.receive(); letter.kind() != Kind.FINISH; letter = mailbox.receive()) {
                hear(letter);
            }
            if (!incoming.isEmpty()) {
                throw new CommandFailed("the peer has finished in the middle of a file");
            }
            finishFolders();
            mailbox.send(mailbox.write(Kind.BYE));
        } catch (BufferUnderflowException e) {
            throw Mailbox.malformed(e);
        } catch (VerbsException | CommandFailed e) {
            CommandFailed why = fatal;
            throw why == null ? e : why;
        } finally {
            mailbox.onRead(null);
        }
    }

    /// Closes what is still open, for the next attempt to go on with; nothing of it may run any more.
    void closeFiles() {
        incoming.values().forEach(Receiver::close);
    }

    private void hear(Letter letter) throws InterruptedException {
        ByteBuffer in = letter.bytes();
        switch (letter.kind()) {
            case ENTRY -> entry(Entry.readFrom(letter));
            case NOTE -> {
                int id = in.getInt();
                boolean isFailure = in.get() != 0;
                String name = letter.takeText();
                String why = letter.takeText();
                if (isFailure) {
                    listener.failed(name, name + ": " + why);
                } else {
                    listener.leftOut(name, why);
                }
                mailbox.send(mailbox.write(Kind.DROPPED).int32(id));
            }
            case CHUNK -> chunk(in);
            case END -> {
                Incoming file = incoming(in.getInt());
                if (file.isEnding || isUnderWay(file)) {
                    throw new CommandFailed("the peer ends a file that is not complete");
                }
                file.isEnding = true;
                byte[] digest = letter.take(Checksum.DIGEST);
                disk.execute(() -> end(file, digest));
            }
            case FAILED -> {
                Incoming file = incoming(in.getInt());
                String why = letter.takeText();
                if (isUnderWay(file)) {
                    file.isOver = true; // its last chunks are let go
                }
                if (!why.isEmpty()) {
                    listener.failed(file.name, why);
                }
                forget(file);
                mailbox.send(mailbox.write(Kind.DROPPED).int32(file.entry.id()));
            }
            default -> throw Mailbox.unexpected(letter);
        }
    }

    private Incoming incoming(int id) {
        Incoming file = incoming.get(id);
        if (file == null) {
            throw new CommandFailed("the peer speaks of a file that is not under way");
        }
        return file;
    }

    private boolean isUnderWay(Incoming file) {
        for (Slot slot : slots) {
            if (slot.isBusy && slot.file == file) {
                return true;
            }
        }
        return false;
    }

    // ---- entries

    private void entry(Entry entry) throws InterruptedException {
        String name = Names.shown(entry.name());
        if (incoming.containsKey(entry.id()) || incoming.size() >= Sender.ENTRIES_MAX) {
            throw new CommandFailed("the peer offers more than it may");
        }
        Verdict verdict;
        String why = "";
        long from = -1;
        try {
            verdict = judge(entry);
            if (verdict == Verdict.SEND) {
                from = begin(entry, name);
            } else if (verdict == Verdict.MADE) {
                listener.made(name);
            } else {
                tell(verdict, name, entry.attributes().size());
            }
        } catch (IOException e) {
            verdict = Verdict.REFUSED;
            why = Failures.text(name, e);
            listener.failed(name, why);
        }
        if (fatal == null) {
            mailbox.send(mailbox.write(Kind.WANT)
                    .int32(entry.id())
                    .int64(from)
                    .int8(verdict.ordinal())
                    .text(why));
        }
    }

    private void tell(Verdict verdict, String name, long size) {
        if (verdict == Verdict.SAME) {
            listener.same(name, size);
        } else {
            listener.would(name, size);
        }
    }

    private Verdict judge(Entry entry) throws IOException {
        return switch (entry.attributes().type()) {
            case FILE -> file(entry);
            case FOLDER -> folder(entry);
            case LINK -> link(entry);
            case OTHER -> throw new IOException("neither file, folder nor link");
        };
    }

    private boolean isRehearsal() {
        return options.contains(Option.REHEARSAL);
    }

    /// What has this name already; in a rehearsal the folders on the way may be missing.
    private Optional<Attributes> existing(Entry entry, boolean followLast) throws IOException {
        try (Spot spot = landing.find(entry.name(), followLast)) {
            return spot.look();
        } catch (java.nio.file.NoSuchFileException e) {
            if (isRehearsal()) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private Verdict file(Entry entry) throws IOException {
        Optional<Attributes> found = existing(entry, false);
        if (found.isPresent() && found.get().type() == Attributes.Type.FOLDER) {
            throw new java.nio.file.FileSystemException(null, null, "a folder has this name");
        }
        if (found.isPresent() && found.get().isSameContent(entry.attributes()) && !options.contains(Option.ALWAYS)) {
            if (found.get().mode() != entry.attributes().mode() && !isRehearsal()) {
                try (Spot spot = landing.find(entry.name(), false)) {
                    spot.set(spot.name(), entry.attributes());
                }
            }
            return Verdict.SAME;
        }
        return isRehearsal() ? Verdict.WOULD : Verdict.SEND;
    }

    private Verdict folder(Entry entry) throws IOException {
        Optional<Attributes> found = existing(entry, true);
        if (found.isPresent() && found.get().type() != Attributes.Type.FOLDER) {
            throw new java.nio.file.FileSystemException(null, null, "something that is no folder has this name");
        }
        if (isRehearsal()) {
            return found.isPresent() ? Verdict.SAME : Verdict.WOULD;
        }
        if (folders.size() == FOLDERS_MAX) {
            throw new IOException("more than " + FOLDERS_MAX + " folders");
        }
        folders.add(entry);
        if (found.isPresent()) {
            return Verdict.SAME;
        }
        try (Spot spot = landing.find(entry.name(), true)) {
            spot.makeFolder();
        }
        return Verdict.MADE;
    }

    private Verdict link(Entry entry) throws IOException {
        if (entry.target().equals(Entry.NO_TARGET) || !Entry.staysInside(entry.name(), entry.target())) {
            throw new IOException("a link to outside of what is copied");
        }
        Optional<Attributes> found = existing(entry, false);
        if (isRehearsal()) {
            return found.isPresent() ? Verdict.SAME : Verdict.WOULD;
        }
        try (Spot spot = landing.find(entry.name(), false)) {
            if (found.isPresent()) {
                if (found.get().type() == Attributes.Type.FOLDER) {
                    throw new java.nio.file.FileSystemException(null, null, "a folder has this name");
                }
                if (found.get().type() == Attributes.Type.LINK && spot.target().equals(entry.target())) {
                    return Verdict.SAME;
                }
            }
            spot.makeLink(entry.target());
        }
        return Verdict.MADE;
    }

    /// Opens the part; the first chunk that is wanted.
    private long begin(Entry entry, String name) throws IOException, InterruptedException {
        long size = entry.attributes().size();
        Spot spot = landing.find(entry.name(), false);
        PartFile part = null;
        try {
            part = PartFile.open(spot, entry.attributes(), terms, isDirect);
        } finally {
            if (part == null) {
                spot.close();
            }
        }
        var file = new Incoming(entry, part);
        incoming.put(entry.id(), file);
        long from = part.kept();
        long kept = Math.min(size, from * terms.chunkBytes());
        listener.begins(name, size, kept);
        long room = spot.room();
        if (size - kept > room) {
            full(name, "it would not fit", size - kept, room);
        }
        return from;
    }

    // ---- chunks

    private void chunk(ByteBuffer in) {
        int index = in.getInt();
        Incoming file = incoming.get(in.getInt());
        if (index < 0 || index >= slots.length || slots[index].isBusy) {
            throw new CommandFailed("the peer fills a slot that it does not have");
        }
        Slot slot = slots[index];
        slot.chunk = in.getLong();
        slot.length = in.getInt();
        in.get(slot.told, 0, terms.checksum().bytes());
        if (file != null) {
            long size = file.entry.attributes().size();
            if (file.isEnding
                    || slot.chunk < file.part.kept()
                    || slot.chunk >= terms.chunks(size)
                    || slot.length != terms.length(size, slot.chunk)) {
                throw new CommandFailed("the peer sends bytes that are not of the file");
            }
        } else {
            slot.length = Math.clamp(slot.length, 0, terms.chunkBytes());
        }
        slot.file = file;
        slot.isBusy = true;
        if (terms.mode() == Mode.READ) {
            mailbox.read(index, window.region(), window.offset(index), slot.length, theirs);
        } else {
            disk.execute(slot);
        }
    }

    /// A file cannot go on.
    private void fault(Incoming file, IOException e, long reached) throws InterruptedException {
        if (Failures.isFull(e)) {
            long size = file.entry.attributes().size();
            long room = 0;
            try (Spot spot = landing.find(file.entry.name(), false)) {
                room = spot.room();
            } catch (IOException _) {
                // Then nobody knows.
            }
            full(file.name, Failures.why(e), size - reached, room);
            return;
        }
        synchronized (file) {
            if (file.isOver) {
                return;
            }
            file.isOver = true;
        }
        String why = Failures.text(file.name, e);
        listener.failed(file.name, why);
        mailbox.send(mailbox.write(Kind.FAULT).int32(file.entry.id()).text(why));
    }

    /// No room: nothing else will have any, so all ends. What is there is kept.
    private void full(String name, String reason, long missing, long room) throws InterruptedException {
        synchronized (this) {
            if (fatal != null) {
                return;
            }
            fatal = new CommandFailed(name + ": no room (" + reason + "): " + Sizes.bytes(missing) + " are missing, "
                    + Sizes.bytes(room) + " are free; what is there is kept, and the same command goes on with it");
        }
        CommandFailed why = fatal;
        if (why != null) {
            mailbox.abort(String.valueOf(why.getMessage()));
        }
        mailbox.disconnect();
    }

    // ---- ends

    private void end(Incoming file, byte[] digest) {
        try {
            String why = "";
            try {
                if (!Arrays.equals(digest, file.part.digest())) {
                    file.part.drop();
                    throw new IOException("its digest is not that of the source; what was copied is dropped");
                }
                file.part.finish(!options.contains(Option.NO_SYNC), options.contains(Option.VERIFY));
                listener.done(file.name, file.entry.attributes().size());
            } catch (IOException e) {
                why = Failures.text(file.name, e);
                listener.failed(file.name, why);
            }
            forget(file);
            mailbox.send(mailbox.write(Kind.DONE).int32(file.entry.id()).text(why));
        } catch (VerbsException | InterruptedException _) {
            // The connection has ended, which whoever receives hears too.
        }
    }

    private void forget(Incoming file) {
        incoming.remove(file.entry.id());
        close(file);
    }

    private static void close(Incoming file) {
        try {
            file.part.close();
        } catch (IOException _) {
            // What counts has been forced, or was not asked to be.
        }
    }

    /// The deepest first, so that none changes after it got its time.
    private void finishFolders() {
        for (Entry entry : folders.reversed()) {
            try (Spot spot = landing.find(entry.name(), true)) {
                spot.set(spot.name(), entry.attributes());
            } catch (IOException e) {
                listener.failed(Names.shown(entry.name()), Failures.text(Names.shown(entry.name()), e));
            }
        }
    }
}
