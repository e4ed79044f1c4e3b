package verbena.tools.explain;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import verbena.verbs.MemoryRegion;

/// Registered memory that is looked at again and again: whether it has changed, and where. So what the recording
/// says of placement has been seen.
final class Watched {
    private static final int CHUNK = 4_096;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;

    final Place owner;
    final String name;
    final MemoryRegion region;
    private final boolean isNumbers;
    private final MemorySegment memory;
    private final MemorySegment before;

    /// @param isNumbers whether it holds 64-bit numbers, which are told as such
    Watched(Place owner, String name, MemoryRegion region, boolean isNumbers) {
        this.owner = owner;
        this.name = name;
        this.region = region;
        this.isNumbers = isNumbers;
        this.memory = region.segment();
        this.before = MemorySegment.ofArray(new byte[(int) region.length()]);
        take();
    }

    /// Takes the present content for the content of the last look, after the application itself has written.
    void take() {
        before.copyFrom(memory);
    }

    /// Returns the changes since the last look, in words; null when there are none.
    @Nullable
    String change() {
        if (region.isClosed()) {
            return null;
        }
        long first = memory.mismatch(before);
        if (first < 0) {
            return null;
        }
        long end = end(memory, first);
        String words = words(memory, first, end);
        MemorySegment.copy(memory, first, before, first, end - first);
        return words;
    }

    private String words(MemorySegment now, long first, long end) {
        if (isNumbers) {
            long word = first & -Long.BYTES;
            return "%s+%d: %d becomes %d".formatted(name, word, before.get(WORD, word), now.get(WORD, word));
        }
        return String.format(Locale.ROOT, "%,d bytes placed at %s+%d", end - first, name, first);
    }

    // Behind the last byte that differs.
    private long end(MemorySegment now, long first) {
        long end = now.byteSize();
        while (end - CHUNK > first && MemorySegment.mismatch(now, end - CHUNK, end, before, end - CHUNK, end) < 0) {
            end -= CHUNK;
        }
        while (now.get(ValueLayout.JAVA_BYTE, end - 1) == before.get(ValueLayout.JAVA_BYTE, end - 1)) {
            end--;
        }
        return end;
    }
}
