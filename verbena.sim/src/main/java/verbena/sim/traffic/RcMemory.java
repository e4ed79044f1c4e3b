package verbena.sim.traffic;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import verbena.sim.SimDevice;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ProtectionDomain;

/// The memory that an end offers to its peer, and the contents that the model expects. The peer reads from a source,
/// writes to a board, also through a window, and changes words by atomics.
final class RcMemory {
    static final int WORDS = 4;

    enum WindowState {
        FREE,
        BINDING,
        /// The peer may write through it.
        BOUND,
        /// The peer writes no more through it, and has asked or asks for its end.
        ENDING
    }

    /// The end's name in reports.
    private final Object end;
    private final SimDevice device;
    private final ProtectionDomain domain;
    private final Tape tape;
    private final int slotBytes;

    /// The memory that this end sends from and the peer reads.
    final MemoryRegion source;
    /// The memory that the peer writes to, and its expected contents.
    private final MemorySegment board;
    private final MemorySegment image;
    final long boardAddress;
    private MemoryRegion boardRegion;
    /// The words that the peer's atomics change, and their values for the model after everything posted.
    private final MemoryRegion words;
    private final long[] values = new long[WORDS];
    private MemoryWindow window;
    WindowState windowState = WindowState.FREE;

    /// @param slotBytes of the board for each request that can be outstanding
    RcMemory(Object end, SimDevice device, ProtectionDomain domain, Tape tape, int slotBytes) {
        this.end = end;
        this.device = device;
        this.domain = domain;
        this.tape = tape;
        this.slotBytes = slotBytes;
        source = domain.register(tape.bytes, device.nextAddress(), EnumSet.of(Access.REMOTE_READ));
        words = device.register(
                domain, WORDS * Long.BYTES, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_ATOMIC, Access.REMOTE_WRITE));
        board = Arena.ofAuto().allocate((long) Slots.COUNT * slotBytes, 64).fill(Tape.CANARY);
        image = Arena.ofAuto().allocate((long) Slots.COUNT * slotBytes, 64).fill(Tape.CANARY);
        boardAddress = device.nextAddress();
        boardRegion = registerBoard();
        window = domain.allocateWindow(MemoryWindow.Type.TYPE_2);
    }

    private MemoryRegion registerBoard() {
        return domain.register(
                board,
                boardAddress,
                EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.MW_BIND, Access.FLUSH_GLOBAL));
    }

    // ---- the board

    MemoryRegion boardRegion() {
        return boardRegion;
    }

    /// Returns the place of the WRITE of this number.
    long slot(long number) {
        return number % Slots.COUNT * slotBytes;
    }

    /// Checks the memory of a WRITE that is done.
    void checkWritten(Request write) {
        long at = slot(write.number);
        MemorySegment.copy(tape.bytes, write.place, image, at, write.length);
        check(
                MemorySegment.mismatch(board, at, at + slotBytes, image, at, at + slotBytes) < 0,
                "the board is not as written by",
                write);
    }

    /// Settles a WRITE that failed: the model learns how far it has come, and checks that it did nothing else.
    void settleWrite(Request write) {
        long at = slot(write.number);
        int written = tape.common(board, at, write.place, write.length);
        MemorySegment.copy(tape.bytes, write.place, image, at, written);
        check(
                MemorySegment.mismatch(board, at, at + slotBytes, image, at, at + slotBytes) < 0,
                "the board holds neither what was there nor a beginning of",
                write);
    }

    /// Withdraws the board's memory from its peer, and gives it back under another key.
    void withdraw() {
        device.note("withdraws the board's key 0x" + Integer.toHexString(boardRegion.rkey()));
        renewWindow();
        boardRegion.close();
        boardRegion = registerBoard();
    }

    // ---- the window

    MemoryWindow window() {
        return window;
    }

    void renewWindow() {
        window.close();
        window = domain.allocateWindow(MemoryWindow.Type.TYPE_2);
        windowState = WindowState.FREE;
    }

    // ---- the words

    long wordAddress(int word) {
        return words.address() + (long) word * Long.BYTES;
    }

    int wordKey() {
        return words.rkey();
    }

    /// Returns a word's value for the model.
    long value(int word) {
        return values[word];
    }

    /// Expects a value of a word, after an atomic is posted.
    void expect(int word, long value) {
        values[word] = value;
    }

    /// Checks that a word has the value before the first failed atomic on it, or after one of them.
    void settleWord(Request first, RequestRing requests, long index) {
        long actual = words.segment().get(ValueLayout.JAVA_LONG, (long) first.word * Long.BYTES);
        boolean found = actual == first.before;
        for (long i = index; i < requests.posted(); i++) {
            Request request = requests.at(i);
            found |= request.kind.isAtomic() && request.word == first.word && actual == request.after;
        }
        check(found, "word", first.word, "has a value that no failed atomic gave it:", actual);
        values[first.word] = actual;
    }

    // ---- the end

    /// Checks all memory against the model, when nothing is under way.
    void checkAll() {
        long mismatch = board.mismatch(image);
        check(mismatch < 0, "the board differs at", mismatch);
        for (int i = 0; i < WORDS; i++) {
            long actual = words.segment().get(ValueLayout.JAVA_LONG, (long) i * Long.BYTES);
            check(actual == values[i], "word", i, "is", actual, "and not", values[i]);
        }
    }

    void close() {
        window.close();
        boardRegion.close();
        source.close();
        words.close();
    }

    private void check(boolean holds, Object... what) {
        Broken.unless(holds, end, what);
    }
}
