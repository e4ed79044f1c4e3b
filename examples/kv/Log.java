import static java.lang.foreign.ValueLayout.JAVA_LONG;

import module java.base;

/// What a replica must not forget: its term, its vote, and its log, in a mapped file. So a replica that was killed
/// comes back as the one that it was. Entries are numbered from 1.
final class Log {
    static final long CAPACITY = 1 << 18; // entries; there is no compaction, and a full log takes no more

    private static final int TERM = 0;
    private static final int VOTE = 8;
    private static final int LENGTH = 16;
    private static final int HEAD = 4096;

    static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;

    private final MemorySegment file;

    Log(Path path) throws IOException {
        try (var channel = FileChannel.open(
                path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            file = channel.map(FileChannel.MapMode.READ_WRITE, 0, HEAD + CAPACITY * Entry.BYTES, Arena.global());
        }
    }

    long term() {
        return file.get(JAVA_LONG, TERM);
    }

    /// The replica that has our vote in this term; 0 for none.
    long vote() {
        return file.get(JAVA_LONG, VOTE);
    }

    void promise(long term, long vote) {
        file.set(JAVA_LONG, VOTE, 0); // killed in between, it has not voted
        file.set(JAVA_LONG, TERM, term);
        file.set(JAVA_LONG, VOTE, vote);
        file.asSlice(0, HEAD).force();
    }

    long length() {
        return file.get(JAVA_LONG, LENGTH);
    }

    MemorySegment entry(long index) {
        return file.asSlice(HEAD + (index - 1) * Entry.BYTES, Entry.BYTES);
    }

    long termOf(long index) {
        return index == 0 ? 0 : Entry.term(entry(index));
    }

    void cut(long length) {
        file.set(JAVA_LONG, LENGTH, length);
    }

    long append(MemorySegment entry) {
        long index = length() + 1;
        entry(index).copyFrom(entry);
        file.set(JAVA_LONG, LENGTH, index); // killed before this, the entry is not there
        return index;
    }

    /// Has the disk take the entries behind `after`: a loss of power leaves them, too.
    void force(long after, long length) {
        file.asSlice(HEAD + after * Entry.BYTES, (length - after) * Entry.BYTES).force();
        file.asSlice(0, HEAD).force();
    }
}
