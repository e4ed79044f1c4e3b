package verbena.tools.files;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import verbena.tools.files.Request.Option;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Failures;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;

/// The end that files are copied to: it hears what the sender says. Of each entry it answers what it wants
/// ([Target]). It has the contents of each slot checked and written ([IncomingSlot]). A file gets its name when
/// all of it is right. One thread hears what the peer says; a few check and write.
final class Receiver implements IncomingSlot.Owner {
    /// Bytes of an answer to an entry, without its text.
    private static final int WANT_MIN = 4 + 8 + 1 + 2;

    private final MessageChannel channel;
    private final Terms terms;
    private final Window window;
    private final RemoteMemory theirs;
    private final Executor disk;
    private final Target target;
    private final boolean isVerified;
    private final boolean isSynced;
    private final TransferListener listener;

    private final Map<Integer, Incoming> incoming = new ConcurrentHashMap<>();
    /// Files that come in chunks.
    private final AtomicInteger inChunks = new AtomicInteger();
    private final Announced announced;
    private final IncomingSlot[] slots;
    private volatile @Nullable CommandFailed fatal;

    /// The answer to an entry.
    private record Answer(long from, Verdict verdict, String why) {}

    /// @param window own
    /// @param theirs the peer's window, when it exposes it
    Receiver(
            MessageChannel channel,
            Terms terms,
            Window window,
            RemoteMemory theirs,
            Executor disk,
            boolean isDirect,
            Landing landing,
            Announced.Scope scope,
            Set<Option> options,
            TransferListener listener) {
        this.channel = channel;
        this.terms = terms;
        this.window = window;
        this.theirs = theirs;
        this.disk = disk;
        target = new Target(landing, options, terms, isDirect);
        isVerified = options.contains(Option.VERIFY);
        isSynced = !options.contains(Option.NO_SYNC);
        this.listener = listener;
        announced = new Announced(scope, this::complete);
        slots = new IncomingSlot[terms.slots()];
        for (int i = 0; i < slots.length; i++) {
            slots[i] =
                    new IncomingSlot(i, this, channel, terms, window.slot(i), isDirect, isVerified, isSynced, listener);
        }
    }

    /// Takes everything.
    ///
    /// @throws CommandFailed when the sender gives up or breaks the rules, or there is no room
    void run() throws InterruptedException {
        channel.onRead(slot -> disk.execute(slots[slot]));
        try {
            Message total = channel.receive();
            if (total.kind() != Kind.TOTAL) {
                throw MessageChannel.unexpected(total);
            }
            long files = total.bytes().getLong();
            long bytes = total.bytes().getLong();
            if (files < 0 || bytes < 0) {
                throw new CommandFailed("the peer offers " + files + " files of " + bytes + " bytes");
            }
            listener.total(files, bytes);
            for (Message message = channel.receive(); message.kind() != Kind.FINISH; message = channel.receive()) {
                channel.busy(1);
                try {
                    hear(message);
                } finally {
                    channel.busy(-1);
                }
            }
            if (!incoming.isEmpty()) {
                throw new CommandFailed("the peer has finished in the middle of a file");
            }
            announced.finish();
            channel.send(channel.write(Kind.BYE));
        } catch (BufferUnderflowException e) {
            throw MessageChannel.malformed(e);
        } catch (VerbsException | CommandFailed e) {
            CommandFailed why = fatal;
            throw why == null ? e : why;
        } finally {
            channel.onRead(null);
        }
    }

    /// Closes what is still open, for the next attempt to go on with; nothing of it may run any more.
    void closeFiles() {
        incoming.values().forEach(Incoming::close);
        target.close();
    }

    private void hear(Message message) throws InterruptedException {
        ByteBuffer in = message.bytes();
        switch (message.kind()) {
            case ENTRY -> {
                List<Entry> entries = new ArrayList<>();
                do {
                    entries.add(Entry.readFrom(message));
                } while (message.hasMore());
                entries(entries);
            }
            case NOTE -> {
                int id = in.getInt();
                boolean isFailure = in.get() != 0;
                String name = message.takeText();
                String why = message.takeText();
                announced.note(name);
                if (isFailure) {
                    listener.failed(name, name + ": " + why);
                } else {
                    listener.leftOut(name, why);
                }
                channel.send(channel.write(Kind.DROPPED).int32(id));
            }
            case CHUNK -> chunk(in);
            case PACK -> pack(message);
            case END -> {
                Incoming file = incoming(in.getInt());
                if (file.isEnding || file.isPacked || isUnderWay(file)) {
                    throw new CommandFailed("the peer ends a file that is not complete");
                }
                comesInChunks(file);
                file.isEnding = true;
                byte[] digest = message.take(Checksum.DIGEST);
                disk.execute(() -> end(file, digest));
            }
            case FAILED -> {
                Incoming file = incoming(in.getInt());
                String why = message.takeText();
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
                channel.send(channel.write(Kind.DROPPED).int32(file.id()));
            }
            default -> throw MessageChannel.unexpected(message);
        }
    }

    private Incoming incoming(int id) {
        Incoming file = incoming.get(id);
        if (file == null) {
            throw new CommandFailed("the peer names a file that is not being copied");
        }
        return file;
    }

    private boolean isUnderWay(Incoming file) {
        for (IncomingSlot slot : slots) {
            if (slot.holds(file)) {
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
        Message message = channel.write(Kind.WANT);
        for (int i = 0; i < answers.size(); i++) {
            Answer answer = answers.get(i);
            message.int32(entries.get(i).id()).int64(answer.from).int8(answer.verdict.ordinal());
            message.text(answer.why, answers.size() - i - 1, WANT_MIN);
        }
        channel.send(message);
    }

    private Answer answer(Entry entry) throws InterruptedException {
        String name = Names.shown(entry.name());
        if (incoming.containsKey(entry.id()) || incoming.size() >= Terms.ENTRIES_MAX) {
            throw new CommandFailed("the peer offers more than it may");
        }
        Announced.Level folder = announced.entry(entry);
        Verdict verdict;
        String why = "";
        long from = -1;
        try {
            verdict = target.judge(entry);
            if (verdict == Verdict.SEND) {
                from = begin(entry, name, folder);
            } else {
                tell(verdict, entry, name);
            }
        } catch (IOException e) {
            verdict = Verdict.REFUSED;
            why = Failures.text(name, e);
            listener.failed(name, why);
        }
        return new Answer(from, verdict, why);
    }

    private void tell(Verdict verdict, Entry entry, String name) {
        boolean isFolder = entry.attributes().type() == Attributes.Type.FOLDER;
        if (isFolder && (verdict == Verdict.MADE || verdict == Verdict.SAME)) {
            announced.isThere(entry);
        }
        long size = entry.attributes().size();
        switch (verdict) {
            case MADE -> listener.made(name);
            case SAME -> listener.same(name, size);
            default -> listener.would(name, size);
        }
    }

    /// Begins a file, and returns the first chunk that is wanted. The part of a small file is opened when the file
    /// comes.
    private long begin(Entry entry, String name, Announced.Level folder) throws IOException, InterruptedException {
        long size = entry.attributes().size();
        var file = new Incoming(entry, name, folder, target);
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
        long room = target.room(entry);
        if (size - kept > room) {
            full(name, "it would not fit", size - kept, room);
        }
        return file.first;
    }

    private void comesInChunks(Incoming file) {
        if (file.isInChunks) {
            return;
        }
        if (inChunks.incrementAndGet() > Terms.FILES_MAX) {
            throw new CommandFailed("the peer sends parts of more files at once than it may");
        }
        file.isInChunks = true;
        if (terms.isSmall(file.size())) {
            listener.begins(file.name, file.size(), 0);
        }
    }

    // ---- chunks

    private void chunk(ByteBuffer in) {
        IncomingSlot slot = freeSlot(in.getInt());
        Incoming file = incoming.get(in.getInt());
        long chunk = in.getLong();
        int length = in.getInt();
        if (file != null) {
            long size = file.size();
            if (file.isEnding
                    || file.isPacked
                    || chunk < file.first
                    || chunk >= terms.chunks(size)
                    || length != terms.length(size, chunk)) {
                throw new CommandFailed("the peer sends bytes that are not of the file");
            }
            comesInChunks(file);
        } else {
            length = Math.clamp(length, 0, terms.chunkBytes());
        }
        slot.fill(file, chunk, length, in);
        fetch(slot, length);
    }

    /// Handles the message that whole files are in a slot.
    private void pack(Message message) {
        ByteBuffer in = message.bytes();
        IncomingSlot slot = freeSlot(in.getInt());
        int length = in.getInt();
        byte[] sum = message.take(terms.checksum().bytes());
        List<IncomingSlot.Packed> pack = new ArrayList<>();
        long bytes = 0;
        do {
            Incoming file = incoming(in.getInt());
            String missing = message.takeText();
            if (file.isInChunks || file.isPacked || !terms.isSmall(file.size()) || pack.size() == Terms.PACK_MAX) {
                throw new CommandFailed("the peer puts a file into a slot that cannot be there");
            }
            file.isPacked = true;
            pack.add(new IncomingSlot.Packed(file, missing));
            bytes += missing.isEmpty() ? file.size() : 0;
        } while (message.hasMore());
        if (bytes != length || bytes > terms.chunkBytes()) {
            throw new CommandFailed("the peer's slot has other bytes than its files");
        }
        slot.fill(pack, length, sum);
        if (length > 0) {
            fetch(slot, length);
        } else {
            disk.execute(slot);
        }
    }

    private IncomingSlot freeSlot(int index) {
        if (index < 0 || index >= slots.length || slots[index].isBusy()) {
            throw new CommandFailed("the peer fills a slot that it does not have");
        }
        return slots[index];
    }

    /// Takes the bytes of a slot, which are here or are read from the peer first.
    private void fetch(IncomingSlot slot, int length) {
        if (terms.mode() == Mode.READ) {
            int index = slot.index();
            channel.read(index, window.region(), window.offset(index), length, theirs);
        } else {
            disk.execute(slot);
        }
    }

    @Override
    public void fault(Incoming file, IOException e, long reached) throws InterruptedException {
        if (Failures.isFull(e)) {
            full(file, e, file.size() - reached);
            return;
        }
        if (!file.giveUp()) {
            return;
        }
        String why = Failures.text(file.name, e);
        listener.failed(file.name, why);
        channel.send(channel.write(Kind.FAULT).int32(file.id()).text(why));
    }

    @Override
    public void full(Incoming file, IOException e, long missing) throws InterruptedException {
        long room = 0;
        try {
            room = target.room(file.entry);
        } catch (IOException _) {
            // Then it cannot be known.
        }
        full(file.name, Failures.why(e), missing, room);
    }

    /// Ends everything, because there is no room for anything else either. Files that are there are kept.
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
            channel.abort(String.valueOf(why.getMessage()));
        }
        channel.disconnect();
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
                part.finish(isSynced, isVerified);
                listener.done(file.name, file.entry.attributes().size());
            } catch (IOException e) {
                why = Failures.text(file.name, e);
                listener.failed(file.name, why);
            }
            forget(file);
            channel.send(channel.write(Kind.DONE).int32(file.id()).text(why));
        } catch (VerbsException | InterruptedException _) {
            // The connection has ended, which the receiving thread hears too.
        }
    }

    @Override
    public boolean isOver() {
        return fatal != null;
    }

    @Override
    public void forget(Incoming file) {
        incoming.remove(file.id());
        file.close();
        if (file.isInChunks) {
            inChunks.decrementAndGet();
        }
        announced.done(file.folder);
    }

    /// Completes a folder, whose entries are all there.
    private void complete(Entry folder) {
        try {
            target.complete(folder);
        } catch (IOException e) {
            String name = Names.shown(folder.name());
            listener.failed(name, Failures.text(name, e));
        }
    }
}
