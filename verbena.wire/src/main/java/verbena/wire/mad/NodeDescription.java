package verbena.wire.mad;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/// A node's name, for people (IBTA 14.2.5.2): UTF-8 that zeroes fill up.
public final class NodeDescription {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x10;
    /// Size, in bytes.
    public static final int BYTES = 64;

    private NodeDescription() {}

    /// Reads up to the first zero.
    public static String get(MemorySegment data) {
        byte[] bytes = data.asSlice(0, BYTES).toArray(ValueLayout.JAVA_BYTE);
        int length = 0;
        while (length < BYTES && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, UTF_8);
    }

    /// Writes as many bytes as fit.
    public static void put(MemorySegment data, String description) {
        data.asSlice(0, BYTES).copyFrom(MemorySegment.ofArray(Arrays.copyOf(description.getBytes(UTF_8), BYTES)));
    }
}
