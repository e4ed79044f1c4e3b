package verbena.tools.files;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Failures;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;

/// The end whose files are copied: it hears what the receiver wants. It offers entries ([Offers]). Of the files
/// that are wanted it gives chunks to free slots, or several small files to one ([OutgoingSlot]). A slot is free
/// again when the receiver says so. One thread hears what the peer says; a few read files and send.
final class Sender implements OutgoingSlot.Owner {
    /// Chunks of a file, whose checksums are kept until its end: a file of 16 TiB in chunks of 1 MiB.
    static final long CHUNKS_MAX = 1L << 24;

    private final MessageChannel channel;
    private final Terms terms;
    private final Executor disk;
    private final boolean isDirect;
    private final TransferListener listener;
    private final Finder finder = new Finder();

    // Guarded by this.
    private final Offers offers;
    /// The files to be sent in chunks.
    private final Deque<Outgoing> wanted = new ArrayDeque<>();
    /// The files to be sent whole.
    private final Deque<Outgoing> small = new ArrayDeque<>();
    private final Deque<OutgoingSlot> free = new ArrayDeque<>();
    private final OutgoingSlot[] slots;

    /// @param window own
    /// @param theirs the peer's window, when it exposes it
    Sender(
            MessageChannel channel,
            Terms terms,
            Window window,
            RemoteMemory theirs,
            Executor disk,
            boolean isDirect,
            List<Walk.Source> sources,
            boolean recursive,
            TransferListener listener) {
        this.channel = channel;
        this.terms = terms;
        this.disk = disk;
        this.isDirect = isDirect;
        this.listener = listener;
        offers = new Offers(channel, terms, sources, recursive, finder, listener);
        slots = new OutgoingSlot[terms.slots()];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = new OutgoingSlot(i, this, channel, terms, window, theirs, isDirect, finder);
            free.add(slots[i]);
        }
    }

    /// Sends everything; returns when the receiver has it.
    ///
    /// @throws CommandFailed when the receiver gives up, or breaks the rules
    void run() throws InterruptedException {
        synchronized (this) {
            offers.begin();
        }
        try {
            goOn();
            for (Message message = channel.receive(); message.kind() != Kind.BYE; message = channel.receive()) {
                hear(message);
                goOn();
            }
            requireFinished();
        } catch (BufferUnderflowException e) {
            throw MessageChannel.malformed(e);
        }
    }

    private synchronized void requireFinished() {
        if (!offers.isFinished()) {
            throw new CommandFailed("the peer ends what is not complete");
        }
    }

    /// Closes what is still open; nothing of it may run any more.
    synchronized void closeFiles() {
        offers.close();
        finder.close();
    }

    private synchronized void goOn() throws InterruptedException {
        channel.busy(1);
        try {
            offers.goOn();
            fill();
        } finally {
            channel.busy(-1);
        }
    }

    /// Gives free slots to files and chunks that are wanted. A small file that is alone goes as a chunk.
    private void fill() throws InterruptedException {
        while (!free.isEmpty() && !small.isEmpty()) {
            if (small.size() == 1 && offers.mayCount()) {
                offers.count(small.getFirst());
                begin(small.pop(), 0);
            } else {
                pack(free.pop());
            }
        }
        while (!free.isEmpty() && !wanted.isEmpty()) {
            Outgoing file = wanted.peek();
            if (file.stage != Outgoing.Stage.MOVING || file.next == file.chunks) {
                wanted.pop();
                continue;
            }
            OutgoingSlot slot = free.pop();
            slot.take(file, file.next++);
            file.underWay++;
            disk.execute(slot);
        }
    }

    /// Packs whole files into a slot. A file that is read past the page cache is read to the start of a page, so it
    /// has a slot of its own.
    private void pack(OutgoingSlot slot) {
        List<Outgoing> pack = new ArrayList<>();
        long room = terms.chunkBytes();
        do {
            room -= small.getFirst().size();
            pack.add(small.pop());
        } while (!small.isEmpty()
                && !isDirect
                && pack.size() < Terms.PACK_MAX
                && small.getFirst().size() <= room);
        slot.take(pack);
        disk.execute(slot);
    }

    private synchronized void hear(Message message) throws InterruptedException {
        ByteBuffer in = message.bytes();
        switch (message.kind()) {
            case WANT -> {
                do {
                    wanted(offers.get(in.getInt()), in.getLong(), in.get(), message.takeText());
                } while (message.hasMore());
            }
            case FREE -> {
                OutgoingSlot slot = slot(in.getInt());
                if (slot.file() == null) {
                    throw new CommandFailed("the peer does not say what has become of files in a slot");
                }
                listener.moved(slot.chunkLength());
                freed(slot, null);
            }
            case STORED -> stored(slot(in.getInt()), message);
            case AGAIN -> {
                OutgoingSlot slot = slot(in.getInt());
                String trouble = slot.again();
                if (trouble != null) {
                    freed(slot, trouble);
                } else {
                    disk.execute(slot);
                }
            }
            case FAULT -> {
                Outgoing file = offers.get(in.getInt());
                if (file.stage != Outgoing.Stage.OVER) { // it may have been given up here at the same moment
                    file.require(Outgoing.Stage.MOVING);
                    fail(file, message.takeText(), "");
                }
            }
            case DONE -> {
                Outgoing file = offers.get(in.getInt());
                String why = message.takeText();
                file.require(Outgoing.Stage.ENDED);
                offers.forget(file);
                if (why.isEmpty()) {
                    listener.done(file.name, file.item().attributes().size());
                } else {
                    listener.failed(file.name, why);
                }
            }
            case DROPPED -> {
                Outgoing file = offers.get(in.getInt());
                file.require(Outgoing.Stage.OVER);
                if (file.step instanceof Walk.Trouble) {
                    offers.answered(file);
                }
                offers.forget(file);
            }
            default -> throw MessageChannel.unexpected(message);
        }
    }

    private OutgoingSlot slot(int index) {
        if (index < 0 || index >= slots.length || !slots[index].isSent()) {
            throw new CommandFailed("the peer speaks of a slot that it does not have");
        }
        return slots[index];
    }

    /// Takes the outcome of the files in a slot.
    private void stored(OutgoingSlot slot, Message message) {
        if (slot.pack().isEmpty()) {
            throw new CommandFailed("the peer speaks of files in a slot that has none");
        }
        for (int i = 0; i < slot.pack().size(); i++) {
            Outgoing file = slot.pack().get(i);
            String theirs = message.takeText();
            String why = slot.missing(i).isEmpty() ? theirs : slot.missing(i);
            if (slot.missing(i).isEmpty()) {
                listener.moved(file.size());
            }
            if (why.isEmpty()) {
                listener.done(file.name, file.size());
            } else {
                listener.failed(file.name, file.name + ": " + why);
            }
            offers.forget(file);
        }
        if (message.hasMore()) {
            throw new CommandFailed("the peer speaks of more files than are in the slot");
        }
        slot.clear();
        free.push(slot);
    }

    private void wanted(Outgoing file, long from, int code, String text) throws InterruptedException {
        long size = file.item().attributes().size();
        file.require(Outgoing.Stage.OFFERED);
        offers.answered(file);
        Verdict verdict = code < 0 || code >= Verdict.values().length ? Verdict.REFUSED : Verdict.values()[code];
        if (verdict != Verdict.SEND) {
            offers.forget(file);
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
        file.stage = Outgoing.Stage.WHOLE;
        listener.begins(file.name, size, 0);
        small.add(file);
    }

    /// Begins a file: the first of its chunks can go.
    private void begin(Outgoing file, long from) throws InterruptedException {
        long size = file.size();
        file.stage = Outgoing.Stage.MOVING;
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
            file.requireUnchanged(spot);
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

    /// Handles a slot that has nothing under way any more.
    ///
    /// @param trouble why its file cannot go on; null when it can
    @Override
    public synchronized void freed(OutgoingSlot slot, @Nullable String trouble) {
        Outgoing file = slot.clear();
        free.push(slot);
        if (file == null) {
            return;
        }
        file.underWay--;
        try {
            if (trouble != null && file.stage == Outgoing.Stage.MOVING) {
                fail(file, trouble, trouble);
            } else if (file.stage == Outgoing.Stage.MOVING && file.next == file.chunks && file.underWay == 0) {
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
        file.stage = Outgoing.Stage.OVER;
        listener.failed(file.name, why);
        channel.send(channel.write(Kind.FAILED).int32(file.id).text(told));
    }

    /// Ends a file whose chunks have all arrived: checks that it is still the same file, and computes its digest.
    private void end(Outgoing file) {
        try {
            String trouble = null;
            byte[] digest = new byte[0];
            try (Spot spot = file.item().find(finder)) {
                digest = file.digest(terms);
                file.requireUnchanged(spot);
            } catch (IOException e) {
                trouble = Failures.text(file.name, e);
            }
            synchronized (this) {
                if (file.stage != Outgoing.Stage.MOVING) {
                    return;
                }
                if (trouble != null) {
                    fail(file, trouble, trouble);
                    return;
                }
                file.stage = Outgoing.Stage.ENDED;
            }
            channel.send(channel.write(Kind.END).int32(file.id).put(digest));
        } catch (VerbsException | InterruptedException _) {
            // The connection has ended, which the receiving thread hears too.
        }
    }
}
