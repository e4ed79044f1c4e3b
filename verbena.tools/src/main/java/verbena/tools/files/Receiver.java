package verbena.tools.files;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import verbena.tools.CommandFailed;
import verbena.tools.files.Request.Option;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;

/// The end that files are copied to. It says of each entry what it wants of it, checks each chunk, writes it, and
/// gives a file its name when all of it is right. One thread hears what the peer says; a few check and write.
final class Receiver {
    private final Mailbox mailbox;
    private final Terms terms;
    private final Window window;
    private final RemoteMemory theirs;
    private final Executor disk;
    private final boolean isDirect;
    private final Landing landing;
    private final Set<Option> options;
    private final TransferListener listener;

    private final Map<Integer, Incoming> incoming = new ConcurrentHashMap<>();
    private final Announced announced;
    private final Slot[] slots;
    private final Finder finder = new Finder();
    private volatile @Nullable CommandFailed fatal;

    /// A file that arrives.
    private static final class Incoming {
        private final Entry entry;
        private final String name;
        private final PartFile part;
        private final Announced.Level folder;
        /// The peer was told that it cannot go on.
        private volatile boolean isOver;
        /// It was said to be complete.
        private boolean isEnding;

        private Incoming(Entry entry, PartFile part, Announced.Level folder) {
            this.entry = entry;
            this.part = part;
            this.folder = folder;
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
            Executor disk,
            boolean isDirect,
            Landing landing,
            Announced.Scope scope,
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
        announced = new Announced(scope, this::complete);
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
            long files = total.bytes().getLong();
            long bytes = total.bytes().getLong();
            if (files < 0 || bytes < 0) {
                throw new CommandFailed("the peer offers " + files + " files of " + bytes + " bytes");
            }
            listener.total(files, bytes);
            for (Letter letter = mailbox.receive(); letter.kind() != Kind.FINISH; letter = mailbox.receive()) {
                mailbox.busy(1);
                try {
                    hear(letter);
                } finally {
                    mailbox.busy(-1);
                }
            }
            if (!incoming.isEmpty()) {
                throw new CommandFailed("the peer has finished in the middle of a file");
            }
            announced.finish();
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
        finder.close();
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
                announced.note(name);
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
                if (file.isEnding) {
                    throw new CommandFailed("the peer gives up a file that it said is complete");
                }
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
        Announced.Level folder = announced.entry(entry);
        Verdict verdict;
        String why = "";
        long from = -1;
        try {
            verdict = judge(entry);
            if (verdict == Verdict.SEND) {
                from = begin(entry, name, folder);
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
        if (PartFile.isOne(entry.name().getFileName())) {
            throw new FileSystemException(null, null, "its name is one for files that are not complete");
        }
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
    private Optional<Attributes> existing(Entry entry) throws IOException {
        try (Spot spot = landing.find(entry.name(), finder)) {
            return spot.look();
        } catch (NoSuchFileException e) {
            if (isRehearsal()) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private Verdict file(Entry entry) throws IOException {
        Optional<Attributes> found = existing(entry);
        if (found.isPresent() && found.get().type() == Attributes.Type.FOLDER) {
            throw new FileSystemException(null, null, "a folder has this name");
        }
        if (found.isPresent() && found.get().isSameContent(entry.attributes()) && !options.contains(Option.ALWAYS)) {
            if (found.get().mode() != entry.attributes().mode() && !isRehearsal()) {
                try (Spot spot = landing.find(entry.name(), finder)) {
                    spot.set(spot.name(), entry.attributes());
                }
            }
            return Verdict.SAME;
        }
        return isRehearsal() ? Verdict.WOULD : Verdict.SEND;
    }

    private Verdict folder(Entry entry) throws IOException {
        Optional<Attributes> found = existing(entry);
        if (found.isPresent() && found.get().type() != Attributes.Type.FOLDER) {
            throw new FileSystemException(null, null, "something that is no folder has this name");
        }
        if (isRehearsal()) {
            return found.isPresent() ? Verdict.SAME : Verdict.WOULD;
        }
        if (found.isEmpty()) {
            try (Spot spot = landing.find(entry.name(), finder)) {
                spot.makeFolder();
            }
        }
        announced.isThere(entry);
        return found.isPresent() ? Verdict.SAME : Verdict.MADE;
    }

    private Verdict link(Entry entry) throws IOException {
        String why = Entry.staysBehind(entry.name(), entry.target());
        if (why != null) {
            throw new FileSystemException(null, null, why);
        }
        Optional<Attributes> found = existing(entry);
        if (isRehearsal()) {
            return found.isPresent() ? Verdict.SAME : Verdict.WOULD;
        }
        // The text alone is safe among links that a copy makes. Others may be there already.
        if (!landing.leadsInside(entry.name(), entry.target())) {
            throw new FileSystemException(null, null, Entry.OUTSIDE);
        }
        try (Spot spot = landing.find(entry.name(), finder)) {
            if (found.isPresent()) {
                if (found.get().type() == Attributes.Type.FOLDER) {
                    throw new FileSystemException(null, null, "a folder has this name");
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
    private long begin(Entry entry, String name, Announced.Level folder) throws IOException, InterruptedException {
        long size = entry.attributes().size();
        Spot spot = landing.find(entry.name(), finder);
        PartFile part = null;
        try {
            part = PartFile.open(spot, entry.attributes(), terms, isDirect);
        } finally {
            if (part == null) {
                spot.close();
            }
        }
        var file = new Incoming(entry, part, folder);
        announced.begins(folder);
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
            try (Spot spot = landing.find(file.entry.name(), finder)) {
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
        announced.done(file.folder);
    }

    private static void close(Incoming file) {
        try {
            file.part.close();
        } catch (IOException _) {
            // What counts has been forced, or was not asked to be.
        }
    }

    /// All is in a folder, so its time stays.
    private void complete(Entry folder) {
        try (Spot spot = landing.find(folder.name(), finder)) {
            spot.set(spot.name(), folder.attributes());
        } catch (IOException e) {
            String name = Names.shown(folder.name());
            listener.failed(name, Failures.text(name, e));
        }
    }
}
