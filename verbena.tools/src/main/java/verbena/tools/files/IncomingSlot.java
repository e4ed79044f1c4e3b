package verbena.tools.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.Failures;
import verbena.verbs.VerbsException;

/// A slot of the receiver's window. The sender fills it with a chunk or with whole files; a thread for the disk
/// checks them, writes them, and answers. From CHUNK or PACK to its answer the slot belongs to that thread.
final class IncomingSlot implements Runnable {
    /// A file in a slot.
    ///
    /// @param missing why its bytes are not among those of the slot; empty when they are
    record Packed(Incoming file, String missing) {}

    /// The owner of the slots, which decides what a fault of a file means for the others.
    interface Owner {
        /// Handles a failure of a file that comes in chunks and cannot go on.
        ///
        /// @param reached bytes of it that are there
        void fault(Incoming file, IOException e, long reached) throws InterruptedException;

        /// Ends everything, because there is no room.
        void full(Incoming file, IOException e, long missing) throws InterruptedException;

        /// Returns whether everything has ended.
        boolean isOver();

        /// Forgets a file that is complete or given up.
        void forget(Incoming file);
    }

    private final int index;
    private final Owner owner;
    private final MessageChannel channel;
    private final Terms terms;
    private final ByteBuffer bytes;
    private final boolean isDirect;
    private final boolean isVerified;
    private final boolean isSynced;
    private final TransferListener listener;
    private final ByteBuffer record = ByteBuffer.allocateDirect(1 + Checksum.MAX);
    private final Checksum.Computer computer;
    private final byte[] told = new byte[Checksum.MAX];
    private final byte[] sum = new byte[Checksum.MAX];
    private volatile boolean isBusy;
    private @Nullable Incoming file;
    private long chunk;
    /// The files that are whole in it.
    private List<Packed> pack = List.of();
    private int length;

    /// @param bytes of the window
    /// @param isVerified whether each file is read again when it is complete
    /// @param isSynced whether each file is forced to the disk
    IncomingSlot(
            int index,
            Owner owner,
            MessageChannel channel,
            Terms terms,
            ByteBuffer bytes,
            boolean isDirect,
            boolean isVerified,
            boolean isSynced,
            TransferListener listener) {
        this.index = index;
        this.owner = owner;
        this.channel = channel;
        this.terms = terms;
        this.bytes = bytes;
        this.isDirect = isDirect;
        this.isVerified = isVerified;
        this.isSynced = isSynced;
        this.listener = listener;
        computer = terms.checksum().computer();
    }

    int index() {
        return index;
    }

    boolean isBusy() {
        return isBusy;
    }

    /// Returns whether a chunk of this file is in the slot, and not answered yet.
    boolean holds(Incoming one) {
        return isBusy && file == one;
    }

    /// Takes a chunk that the sender has put into the slot.
    ///
    /// @param in at the checksum
    /// @param file null for one that was given up here
    void fill(@Nullable Incoming file, long chunk, int length, ByteBuffer in) {
        this.file = file;
        this.chunk = chunk;
        fill(length, in);
    }

    /// Takes whole files that the sender has put into the slot.
    void fill(List<Packed> pack, int length, byte[] sum) {
        this.pack = pack;
        fill(length, ByteBuffer.wrap(sum));
    }

    private void fill(int length, ByteBuffer in) {
        this.length = length;
        in.get(told, 0, terms.checksum().bytes());
        isBusy = true;
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
        channel.send(channel.write(answer).int32(index));
    }

    private boolean place(Incoming of) throws InterruptedException {
        if (!isIntact()) {
            return false;
        }
        try {
            of.part().write(chunk, bytes, sum, record);
            listener.moved(length);
        } catch (IOException e) {
            owner.fault(of, e, chunk * terms.chunkBytes());
        }
        return true;
    }

    private void takePack() throws InterruptedException {
        List<Packed> all = pack;
        if (!isIntact()) {
            all.forEach(each -> each.file.isPacked = false);
            pack = List.of();
            isBusy = false;
            channel.send(channel.write(Kind.AGAIN).int32(index));
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
            if (owner.isOver()) {
                return; // and the connection ends
            }
            answers.add(why);
            if (why.isEmpty()) {
                listener.done(of.name, of.size());
            } else {
                listener.failed(of.name, of.name + ": " + why);
            }
            owner.forget(of);
        }
        Message message = channel.write(Kind.STORED).int32(index);
        for (int i = 0; i < answers.size(); i++) {
            message.text(answers.get(i), answers.size() - i - 1, Short.BYTES);
        }
        pack = List.of();
        isBusy = false;
        channel.send(message);
    }

    /// Makes a file of its bytes; why that is not possible, or nothing.
    private String store(Incoming of, ByteBuffer data) throws InterruptedException {
        listener.begins(of.name, of.size(), 0);
        try {
            PartFile part = of.part();
            if (isVerified) {
                computer.compute(data, sum);
            }
            if (of.size() > 0) {
                write(part, data);
            }
            listener.moved(of.size());
            part.finish(isSynced, isVerified);
            return "";
        } catch (IOException e) {
            if (Failures.isFull(e)) {
                owner.full(of, e, of.size());
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

    /// Returns whether the content of the slot fits its checksum.
    private boolean isIntact() {
        int sumBytes = terms.checksum().bytes();
        bytes.position(0).limit(length);
        computer.compute(bytes, sum);
        return Arrays.equals(sum, 0, sumBytes, told, 0, sumBytes);
    }
}
