package verbena.transport.weak;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.memory.ScatterList;
import verbena.transport.memory.UserMemory.Atomic;
import verbena.verbs.Access;

/// The memory of a device as one of its queue pairs sees it, when the device is weak. Bytes that arrive become
/// visible later, in pieces:
///
/// | bytes | visible at the latest |
/// |---|---|
/// | of WRITEs, and of atomics | with a READ, atomic or FLUSH of this queue pair, or when a receive of it completes |
/// | of messages, and of answers to READs | when a request or receive of this queue pair completes |
/// | all | soon after those before them ([Lateness]), and when the key of any memory ends |
///
/// Engine-confined.
final class WeakMemory extends MemoryTable implements WeakDevice.Waiting {
    /// The most pieces that one store is cut into.
    private static final int PIECES_MAX = 6;
    /// The most pieces that wait.
    private static final int WAITING_MAX = 512;

    /// The bytes that the last packet was made from, which may be taken once more.
    interface Sample {
        /// The address of bytes that lie in several places.
        long UNKNOWN = -1;

        /// Copies `length` of them, from `from` on, to `to`; none when the memory has gone meanwhile.
        void take(int from, MemorySegment to, long at, int length);

        /// Returns the address of the first; [#UNKNOWN] when they lie in several places.
        long address();

        /// Returns the offset in the frame's slot to which they were copied.
        long offset();

        int bytes();
    }

    /// The kind of access that stores.
    private enum Storing {
        WRITE,
        MESSAGE
    }

    private final WeakDevice device;
    private final Weakness weakness;
    private final SplittableRandom random;
    /// The bytes of WRITEs and atomics.
    private final LateBytes written = new LateBytes(this::place);
    /// The bytes of messages and answers to READs.
    private final LateBytes received = new LateBytes(this::place);
    private Storing storing = Storing.MESSAGE;
    private boolean isRelaxed;
    private long message;
    /// The time before which no byte of the message becomes visible: when the last of those before it does.
    private long notBefore = Long.MIN_VALUE;
    private long last = Long.MIN_VALUE;
    /// Bytes of a WRITE that are still to come.
    private long left;
    private boolean hasAtomics;
    private @Nullable Sample sample;

    WeakMemory(MemoryTable strong, WeakDevice device, SplittableRandom random) {
        super(strong);
        this.device = device;
        this.weakness = device.weakness;
        this.random = random;
    }

    // ---- what arrives

    @Override
    public MemoryVerdict checkRemote(int rkey, int domain, int qpn, long address, long bytes, int access) {
        beginMessage();
        left = access == Access.REMOTE_WRITE.bit() ? bytes : 0;
        return super.checkRemote(rkey, domain, qpn, address, bytes, access);
    }

    @Override
    public MemoryVerdict write(
            int rkey, int domain, int qpn, long address, MemorySegment from, long offset, int bytes, int access) {
        storing = Storing.WRITE;
        left -= bytes;
        isRelaxed = weakness.has(Freedom.RELAXED_ORDERING) && isRelaxed(rkey);
        return super.write(rkey, domain, qpn, address, from, offset, bytes, access);
    }

    @Override
    public MemoryVerdict scatter(
            ScatterList list, int domain, long position, MemorySegment from, long offset, int bytes) {
        storing = Storing.MESSAGE;
        isRelaxed = false;
        if (position == 0) {
            beginMessage();
        }
        return super.scatter(list, domain, position, from, offset, bytes);
    }

    private void beginMessage() {
        message++;
        notBefore = last;
    }

    @Override
    protected MemoryVerdict store(MemorySegment from, long fromOffset, long at, int bytes) {
        LateBytes late = storing == Storing.WRITE ? written : received;
        boolean isLate = weakness.has(Freedom.FAILED_BYTES)
                || isRelaxed
                || (storing == Storing.WRITE && weakness.has(Freedom.LATE_VISIBILITY));
        boolean isTorn = weakness.has(Freedom.TORN) || weakness.has(Freedom.TORN_WORDS);
        if ((!isLate && !isTorn && late.isEmpty()) || !reach().isOpen) { // later nobody could be told that it is gone
            return super.store(from, fromOffset, at, bytes);
        }
        if (!located().scope().isAlive()) {
            return MemoryVerdict.GONE;
        }
        if (bytes > 0) {
            later(late, LateBytes.copy(from, fromOffset, bytes), at, bytes, isTorn);
        }
        return MemoryVerdict.OK;
    }

    private void later(LateBytes late, MemorySegment bytes, long at, int length, boolean isTorn) {
        if (late.size() >= WAITING_MAX) {
            late.showAll();
        }
        long now = device.clock.getAsLong();
        long earliest = isRelaxed ? now : Math.max(now, notBefore);
        int pieces = isTorn ? 1 + random.nextInt(PIECES_MAX) : 1;
        int begin = 0;
        while (begin < length) {
            int end = pieces-- > 1 ? cut(located().address() + at, begin, length) : length;
            long due = late.add(
                    bytes,
                    begin,
                    end - begin,
                    located(),
                    at + begin,
                    reach(),
                    message,
                    earliest + Lateness.draw(random));
            last = Math.max(last, due);
            begin = end;
        }
        if (!isTorn) {
            notBefore = Math.max(notBefore, last); // packets of one message become visible in order
        }
        device.waits(this);
    }

    /// Returns where the piece that begins at `begin` ends: somewhere before `length`, or there.
    private int cut(long address, int begin, int length) {
        int end = begin + 1 + random.nextInt(length - begin);
        if (weakness.has(Freedom.TORN_WORDS)) {
            return end;
        }
        int beyond = (int) (address + end & Long.BYTES - 1);
        return beyond == 0 ? end : Math.min(length, end + Long.BYTES - beyond);
    }

    @Override
    protected MemoryVerdict atomic(Atomic which, int rkey, long address, long value, long expected) {
        showWritten();
        if (!weakness.has(Freedom.SPLIT_ATOMICS) || which == Atomic.STORE) {
            return super.atomic(which, rkey, address, value, expected);
        }
        device.showAtomics();
        MemoryVerdict verdict = super.atomic(Atomic.ADD, rkey, address, 0, 0);
        if (verdict != MemoryVerdict.OK || (which == Atomic.COMPARE_AND_SWAP && original() != expected)) {
            return verdict;
        }
        long at = find(rkey, address);
        MemorySegment result = LateBytes.copy(
                MemorySegment.ofArray(new long[] {which == Atomic.ADD ? original() + value : value}), 0, Long.BYTES);
        isRelaxed = false;
        hasAtomics = true;
        later(written, result, at, Long.BYTES, false);
        return MemoryVerdict.OK;
    }

    // ---- what becomes visible

    private void place(LateBytes.Piece piece) {
        // Memory that has gone meanwhile takes the bytes with it.
        MemoryVerdict _ = copy(piece.bytes(), piece.from(), piece.to(), piece.at(), piece.length(), piece.reach());
    }

    /// Shows what the time has come for.
    void show(long nowNanos) {
        written.show(nowNanos);
        received.show(nowNanos);
        shown();
    }

    @Override
    public void showAll() {
        written.showAll();
        received.showAll();
        shown();
    }

    /// Handles the end of the connection: a message that is not complete shows any part of its bytes.
    void failed() {
        if (weakness.has(Freedom.FAILED_BYTES)) {
            long incomplete = left > 0 ? message : -1;
            written.forget(piece -> piece.message() == incomplete && random.nextBoolean());
            received.forget(_ -> random.nextBoolean());
        }
        left = 0;
        showAll();
    }

    @Override
    public void showAtomics() {
        if (hasAtomics) {
            showWritten();
        }
    }

    private void showWritten() {
        written.showAll();
        shown();
    }

    private void shown() {
        if (written.isEmpty()) {
            hasAtomics = false;
            if (received.isEmpty()) {
                device.waitsNoMore(this);
            }
        }
    }

    /// Returns when the next bytes become visible.
    long dueNanos() {
        return Math.min(written.dueNanos(), received.dueNanos());
    }

    /// Returns when the last bytes of WRITEs become visible; a time in the past when all are.
    long writtenByNanos() {
        return written.isEmpty() ? Long.MIN_VALUE : last;
    }

    @Override
    public void completing(boolean isReceive) {
        received.showAll();
        if (isReceive) {
            written.showAll();
        }
        shown();
    }

    @Override
    public MemoryVerdict flush(int rkey, int domain, int qpn, long address, long bytes, boolean whole, int access) {
        showWritten();
        return super.flush(rkey, domain, qpn, address, bytes, whole, access);
    }

    // ---- what leaves

    @Override
    public MemoryVerdict read(
            int rkey, int domain, int qpn, long address, MemorySegment to, long offset, int bytes, int access) {
        showWritten();
        sample = new OfRead(rkey, domain, qpn, address, offset, bytes, access);
        return super.read(rkey, domain, qpn, address, to, offset, bytes, access);
    }

    @Override
    public MemoryVerdict gather(ScatterList list, int domain, long position, MemorySegment to, long offset, int bytes) {
        var copy = new ScatterList(list.count);
        copy.copyFrom(list);
        sample = new OfRequest(copy, domain, position, offset, bytes);
        return super.gather(list, domain, position, to, offset, bytes);
    }

    /// Returns where the bytes of the packet have come from that was made since the last call; null when it has
    /// none of a program.
    @Nullable
    Sample takeSample() {
        Sample taken = sample;
        sample = null;
        return taken;
    }

    private final class OfRead implements Sample {
        private final int rkey;
        private final int domain;
        private final int qpn;
        private final long address;
        private final long offset;
        private final int bytes;
        private final int access;

        OfRead(int rkey, int domain, int qpn, long address, long offset, int bytes, int access) {
            this.rkey = rkey;
            this.domain = domain;
            this.qpn = qpn;
            this.address = address;
            this.offset = offset;
            this.bytes = bytes;
            this.access = access;
        }

        @Override
        public void take(int from, MemorySegment to, long at, int length) {
            MemoryVerdict _ = WeakMemory.super.read(rkey, domain, qpn, address + from, to, at, length, access);
        }

        @Override
        public long address() {
            return address;
        }

        @Override
        public long offset() {
            return offset;
        }

        @Override
        public int bytes() {
            return bytes;
        }
    }

    private final class OfRequest implements Sample {
        private final ScatterList list;
        private final int domain;
        private final long position;
        private final long offset;
        private final int bytes;

        OfRequest(ScatterList list, int domain, long position, long offset, int bytes) {
            this.list = list;
            this.domain = domain;
            this.position = position;
            this.offset = offset;
            this.bytes = bytes;
        }

        @Override
        public void take(int from, MemorySegment to, long at, int length) {
            MemoryVerdict _ = WeakMemory.super.gather(list, domain, position + from, to, at, length);
        }

        @Override
        public long address() {
            return list.count == 1 ? list.addresses[0] + position : UNKNOWN;
        }

        @Override
        public long offset() {
            return offset;
        }

        @Override
        public int bytes() {
            return bytes;
        }
    }
}
