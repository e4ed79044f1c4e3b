import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.nio.charset.StandardCharsets.UTF_8;

import module java.base;

/// A change of the store: 256 bytes, in a request of a client, in the log, and between replicas. From the key on it
/// is also what a slot of the table holds.
///
/// | offset | | |
/// |---|---|---|
/// | 0 | term | of the leader that appended it |
/// | 8, 16 | client, sequence | a change that is asked for twice is made once |
/// | 24, 28 | bytes of the key, of the value | no key: nothing changes. -1 for the value: the key is deleted |
/// | 32, 64 | key, value | |
final class Entry {
    static final int BYTES = 256;
    static final int TERM = 0;
    static final int LENGTHS = 24; // what a slot holds begins here
    static final int KEY = 32;
    static final int VALUE = 64;
    static final int DELETED = -1;

    private Entry() {}

    /// @param value null to delete the key
    static MemorySegment of(long client, long sequence, String key, byte[] value) {
        byte[] name = key.getBytes(UTF_8);
        require("key", name.length, 1, VALUE - KEY);
        MemorySegment entry = MemorySegment.ofArray(new long[BYTES / Long.BYTES]);
        entry.set(JAVA_LONG_UNALIGNED, 8, client);
        entry.set(JAVA_LONG_UNALIGNED, 16, sequence);
        entry.set(JAVA_INT, LENGTHS, name.length);
        entry.set(JAVA_INT, LENGTHS + 4, DELETED);
        MemorySegment.copy(name, 0, entry, JAVA_BYTE, KEY, name.length);
        if (value != null) {
            require("value", value.length, 0, BYTES - VALUE);
            entry.set(JAVA_INT, LENGTHS + 4, value.length);
            MemorySegment.copy(value, 0, entry, JAVA_BYTE, VALUE, value.length);
        }
        return entry;
    }

    private static void require(String name, long bytes, int min, int max) {
        if (bytes < min || bytes > max) {
            throw new IllegalArgumentException(name + ": " + min + " to " + max + " bytes, got " + bytes);
        }
    }

    /// Refuses what no client of ours sends.
    static MemorySegment checked(MemorySegment entry) {
        require("entry", entry.byteSize(), BYTES, BYTES);
        require("key", keyBytes(entry), 1, VALUE - KEY);
        require("value", valueBytes(entry), DELETED, BYTES - VALUE);
        return entry;
    }

    static long term(MemorySegment entry) {
        return entry.get(JAVA_LONG_UNALIGNED, TERM);
    }

    static long client(MemorySegment entry) {
        return entry.get(JAVA_LONG_UNALIGNED, 8);
    }

    static long sequence(MemorySegment entry) {
        return entry.get(JAVA_LONG_UNALIGNED, 16);
    }

    static int keyBytes(MemorySegment entry) {
        return entry.get(JAVA_INT_UNALIGNED, LENGTHS);
    }

    static int valueBytes(MemorySegment entry) {
        return entry.get(JAVA_INT_UNALIGNED, LENGTHS + 4);
    }

    static boolean hasSameKey(MemorySegment one, MemorySegment other) {
        int bytes = keyBytes(one);
        return bytes == keyBytes(other)
                && MemorySegment.mismatch(one, KEY, KEY + bytes, other, KEY, KEY + bytes) == -1;
    }

    static int hash(MemorySegment entry) {
        int hash = Arrays.hashCode(entry.asSlice(KEY, keyBytes(entry)).toArray(JAVA_BYTE));
        return (hash ^ hash >>> 16) * 0x9E3779B1;
    }

    static Optional<byte[]> value(MemorySegment entry) {
        int bytes = valueBytes(entry);
        return bytes == DELETED ? Optional.empty() : Optional.of(entry.asSlice(VALUE, bytes).toArray(JAVA_BYTE));
    }
}
