package verbena.tools.files;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import verbena.tools.CommandFailed;
import verbena.tools.files.Request.Option;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;

/// The end that files are copied to. It says of each entry what it wants of it, checks what comes in each slot, writes
/// it, and gives a file its name when all of it is right. One thread hears what the peer says; a few check and write.
final class Receiver {
    /// Bytes of an answer to an entry, without its text.
    private static final int WANT_MIN = 4 + 8 + 1 + 2;

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
    /// Files that come in chunks.
    private final AtomicInteger inChunks = new AtomicInteger();
    private final Announced announced;
    private final Slot[] slots;
    private final Finder finder = new Finder();
    private volatile @Nullable CommandFailed fatal;

    /// A file that arrives.
    private final class Incoming {
        private final Entry entry;
        private final String name;
        private final Announced.Level folder;
        /// Of a file that comes in chunks.
        private @Nullable PartFile part;
        private boolean isInChunks;
        /// Its first chunk that is wanted.
        private long first;
        /// All of it is in a slot.
        private volatile boolean isPacked;
        /// The peer was told that it cannot go on.
        private volatile boolean isOver;
        /// It was said to be complete.
        private boolean isEnding;

        private Incoming(Entry entry, String name, Announced.Level folder) {
            this.entry = entry;
            this.name = name;
            this.folder = folder;
        }

        private long size() {
            return entry.attributes().size();
        }

        /// Its part, opened when it is wanted for the first time.
        private synchronized PartFile part() throws IOException {
            if (part == null) {
                part = openPart(this);
            }
            return part;
        }

        /// Closes it; what is there stays.
        private synchronized void close() {
            try {
                if (part != null) {
                    part.close();
                }
            } catch (IOException _) {
                // What counts has been forced, or was not asked to be.
            }
        }
    }

    /// What is said to an entry.
    private record Answer(long from, Verdict verdict, String why) {}

    /// A file in a slot.
    ///
    /// @param missing why its bytes are not among those of the slot; empty when they are
    private record Packed(Incoming file, String missing) {}

    /// A slot of the window; from CHUNK or PACK to its answer it belongs to the thread that works on it.
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
        /// Or the files that are whole in it.
        private List<Packed> pack = List.of();
        private int length;

        private Slot(int index) {
            this.index = index;
            bytes = window.slot(index);
        }

        @Override
        public void run() {
            try {
                if (pack.isEmpty()) {
                    takeChunk();
                } else {
                    takePack();
                }
            } catch (VerbsException | InterruptedException _) {
                // The connection has ended, which the receiving thread hears too.
            }
        }

        private void takeChunk() throws InterruptedException {
            Incoming of = file;
            Kind answer = of == null || of.isOver || place(of) ? Kind.FREE : Kind.AGAIN;
            file = null;
            isBusy = false;
            mailbox.send(mailbox.write(answer).int32(index));
        }

        private boolean place(Incoming of) throws InterruptedException {
            if (!isIntact()) {
                return false;
            }
            try {
                of.part().write(chunk, bytes, sum, record);
                listener.moved(length);
            } catch (IOException e) {
                fault(of, e, chunk * terms.chunkBytes());
            }
            return true;
        }

        private void takePack() throws InterruptedException {
            List<Packed> all = pack;
            if (!isIntact()) {
                all.forEach(each -> each.file.isPacked = false);
                pack = List.of();
                isBusy = false;
                mailbox.send(mailbox.write(Kind.AGAIN).int32(index));
                return;
            }
            List<String> answers = new ArrayList<>(all.size());
            int at = 0;
            for (Packed each : all) {
                Incoming of = each.file;
                String why = each.missing;
                if (why.isEmpty()) {
                    int size = (int) of.size();
                    why = store(of, bytes.slice(at, size));
                    at += size;
                }
                if (fatal != null) {
                    return; // and the connection ends
                }
                answers.add(why);
                if (why.isEmpty()) {
                    listener.done(of.name, of.size());
                } else {
                    listener.failed(of.name, of.name + ": " + why);
                }
                forget(of);
            }
            Letter letter = mailbox.write(Kind.STORED).int32(index);
            for (int i = 0; i < answers.size(); i++) {
                letter.text(answers.get(i), answers.size() - i - 1, Short.BYTES);
            }
            pack = List.of();
            isBusy = false;
            mailbox.send(letter);
        }

        /// Makes a file of its bytes; why that is not possible, or nothing.
        private String store(Incoming of, ByteBuffer data) throws InterruptedException {
            listener.begins(of.name, of.size(), 0);
            try {
                PartFile part = of.part();
                if (options.contains(Option.VERIFY)) {
                    computer.compute(data, sum);
                }
                if (of.size() > 0) {
                    write(part, data);
                }
                listener.moved(of.size());
                part.finish(!options.contains(Option.NO_SYNC), options.contains(Option.VERIFY));
                return "";
            } catch (IOException e) {
                if (Failures.isFull(e)) {
                    full(of, e, of.size());
                }
                return Failures.why(e);
            }
        }

        private void write(PartFile part, ByteBuffer data) throws IOException {
            if (!isDirect) {
                part.write(0, data, sum, record);
                return;
            }
            ByteBuffer copy = terms.alignedChunk(); // O_DIRECT takes it from the start of a page only
            part.write(0, copy.put(data).flip(), sum, record);
        }

        /// Whether the slot holds what its checksum says.
        private boolean isIntact() {
            int sumBytes = terms.checksum().bytes();
            bytes.position(0).limit(length);
            computer.compute(bytes, sum);
            return Arrays.equals(sum, 0, sumBytes, told, 0, sumBytes);
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
        incoming.values().forEach(Incoming::close);
        finder.close();
    }

    private void hear(Letter letter) throws InterruptedException {
        ByteBuffer in = letter.bytes();
        switch (letter.kind()) {
            case ENTRY -> {
                List<Entry> entries = new ArrayList<>();
                do {
                    entries.add(Entry.readFrom(letter));
                } while (letter.hasMore());
                entries(entries);
            }
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
            case PACK -> pack(letter);
            case END -> {
                Incoming file = incoming(in.getInt());
                if (file.isEnding || file.isPacked || isUnderWay(file)) {
                    throw new CommandFailed("the peer ends a file that is not complete");
                }
                comesInChunks(file);
                file.isEnding = true;
                byte[] digest = letter.take(Checksum.DIGEST);
                disk.execute(() -> end(file, digest));
            }
            case FAILED -> {
                Incoming file = incoming(in.getInt());
                String why = letter.takeText();
                if (file.isEnding || file.isPacked) {
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

    private void entries(List<Entry> entries) throws InterruptedException {
        List<Answer> answers = new ArrayList<>(entries.size());
        for (Entry entry : entries) {
            answers.add(answer(entry));
            if (fatal != null) {
                return;
            }
        }
        Letter letter = mailbox.write(Kind.WANT);
        for (int i = 0; i < answers.size(); i++) {
            Answer answer = answers.get(i);
            letter.int32(entries.get(i).id()).int64(answer.from).int8(answer.verdict.ordinal());
            letter.text(answer.why, answers.size() - i - 1, WANT_MIN);
        }
        mailbox.send(letter);
    }

    private Answer answer(Entry entry) throws InterruptedException {
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
        return new Answer(from, verdict, why);
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

    /// The first chunk that is wanted. The part of a small file is opened when the file comes.
    private long begin(Entry entry, String name, Announced.Level folder) throws IOException, InterruptedException {
        long size = entry.attributes().size();
        var file = new Incoming(entry, name, folder);
        if (!terms.isSmall(size)) {
            file.first = file.part().kept();
        }
        announced.begins(folder);
        incoming.put(entry.id(), file);
        if (terms.isSmall(size)) {
            return 0;
        }
        comesInChunks(file);
        long kept = Math.min(size, file.first * terms.chunkBytes());
        listener.begins(name, size, kept);
        long room = room(file);
        if (size - kept > room) {
            full(name, "it would not fit", size - kept, room);
        }
        return file.first;
    }

    private PartFile openPart(Incoming file) throws IOException {
        Spot spot = landing.find(file.entry.name(), finder);
        PartFile part = null;
        try {
            part = PartFile.open(spot, file.entry.attributes(), terms, isDirect);
            return part;
        } finally {
            if (part == null) {
                spot.close();
            }
        }
    }

    private void comesInChunks(Incoming file) {
        if (file.isInChunks) {
            return;
        }
        if (inChunks.incrementAndGet() > Sender.FILES_MAX) {
            throw new CommandFailed("the peer sends parts of more files at once than it may");
        }
        file.isInChunks = true;
        if (terms.isSmall(file.size())) {
            listener.begins(file.name, file.size(), 0);
        }
    }

    /// Bytes that fit where a file goes.
    private long room(Incoming file) throws IOException {
        try (Spot spot = landing.find(file.entry.name(), finder)) {
            return spot.room();
        }
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
            long size = file.size();
            if (file.isEnding
                    || file.isPacked
                    || slot.chunk < file.first
                    || slot.chunk >= terms.chunks(size)
                    || slot.length != terms.length(size, slot.chunk)) {
                throw new CommandFailed("the peer sends bytes that are not of the file");
            }
            comesInChunks(file);
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

    /// Whole files are in a slot.
    private void pack(Letter letter) {
        ByteBuffer in = letter.bytes();
        int index = in.getInt();
        if (index < 0 || index >= slots.length || slots[index].isBusy) {
            throw new CommandFailed("the peer fills a slot that it does not have");
        }
        Slot slot = slots[index];
        int length = in.getInt();
        in.get(slot.told, 0, terms.checksum().bytes());
        List<Packed> pack = new ArrayList<>();
        long bytes = 0;
        do {
            Incoming file = incoming(in.getInt());
            String missing = letter.takeText();
            if (file.isInChunks || file.isPacked || !terms.isSmall(file.size()) || pack.size() == Sender.PACK_MAX) {
                throw new CommandFailed("the peer puts a file into a slot that cannot be there");
            }
            file.isPacked = true;
            pack.add(new Packed(file, missing));
            bytes += missing.isEmpty() ? file.size() : 0;
        } while (letter.hasMore());
        if (bytes != length || bytes > terms.chunkBytes()) {
            throw new CommandFailed("the peer's slot has other bytes than its files");
        }
        slot.pack = pack;
        slot.length = length;
        slot.isBusy = true;
        if (terms.mode() == Mode.READ && length > 0) {
            mailbox.read(index, window.region(), window.offset(index), length, theirs);
        } else {
            disk.execute(slot);
        }
    }

    /// A file cannot go on.
    private void fault(Incoming file, IOException e, long reached) throws InterruptedException {
        if (Failures.isFull(e)) {
            full(file, e, file.size() - reached);
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

    private void full(Incoming file, IOException e, long missing) throws InterruptedException {
        long room = 0;
        try {
            room = room(file);
        } catch (IOException _) {
            // Then it cannot be known.
        }
        full(file.name, Failures.why(e), missing, room);
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
                PartFile part = file.part();
                if (!Arrays.equals(digest, part.digest())) {
                    part.drop();
                    throw new IOException("its digest is not that of the source; what was copied is dropped");
                }
                part.finish(!options.contains(Option.NO_SYNC), options.contains(Option.VERIFY));
                listener.done(file.name, file.entry.attributes().size());
            } catch (IOException e) {
                why = Failures.text(file.name, e);
                listener.failed(file.name, why);
            }
            forget(file);
            mailbox.send(mailbox.write(Kind.DONE).int32(file.entry.id()).text(why));
        } catch (VerbsException | InterruptedException _) {
            // The connection has ended, which the receiving thread hears too.
        }
    }

    private void forget(Incoming file) {
        incoming.remove(file.entry.id());
        file.close();
        if (file.isInChunks) {
            inChunks.decrementAndGet();
        }
        announced.done(file.folder);
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
