package verbena.abi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/// The functions of C that the tables of operations of contexts, queue pairs and completion queues consist of, and
/// the few that Java calls.
public final class Operations {
    private static final Map<String, Long> ADDRESSES = new HashMap<>();

    private Operations() {}

    /// Reads the table of C, once.
    ///
    /// @param functions address of the functions' addresses
    /// @param names address of the addresses of their names
    public static void begin(long functions, long names, int count) {
        MemorySegment addresses = Native.at(functions, count * ADDRESS.byteSize());
        MemorySegment texts = Native.at(names, count * ADDRESS.byteSize());
        for (int i = 0; i < count; i++) {
            ADDRESSES.put(Native.string(texts.getAtIndex(JAVA_LONG, i)), addresses.getAtIndex(JAVA_LONG, i));
        }
    }

    /// Returns the address of the function of this name; 0 for one that C does not have.
    public static long address(String name) {
        return ADDRESSES.getOrDefault(name, 0L);
    }
}
