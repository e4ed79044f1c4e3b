package verbena.check.rules;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// The memory of the process that is mapped, as Linux lists it in `/proc/self/maps`: proc(5).
final class Mappings {
    private static final Path LIST = Path.of("/proc/self/maps");
    private static final int HEX = 16;

    private Mappings() {}

    /// Returns whether memory that belongs to no arena, as that of a program in C, was given back to the system. False
    /// when the system does not say.
    static boolean isGone(MemorySegment memory) {
        if (!memory.isNative()
                || memory.byteSize() == 0
                || !memory.scope().equals(Arena.global().scope())) {
            return false;
        }
        try (Stream<String> lines = Files.lines(LIST)) {
            return isGone(lines, memory.address(), memory.address() + memory.byteSize());
        } catch (IOException | UncheckedIOException e) {
            return false;
        }
    }

    /// Returns whether a byte is in no mapping.
    ///
    /// @param lines the mappings, in the order of addresses
    static boolean isGone(Stream<String> lines, long from, long to) {
        long at = from;
        for (String line : (Iterable<String>) lines::iterator) {
            int dash = line.indexOf('-');
            int end = line.indexOf(' ');
            if (dash > 0 && dash < end) {
                long last = Long.parseUnsignedLong(line, dash + 1, end, HEX);
                boolean isBehind = Long.compareUnsigned(at, Long.parseUnsignedLong(line, 0, dash, HEX)) >= 0;
                if (isBehind && Long.compareUnsigned(at, last) < 0) {
                    at = last;
                }
                if (Long.compareUnsigned(at, to) >= 0) {
                    return false;
                }
            }
        }
        return true;
    }
}
