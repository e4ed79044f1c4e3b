package verbena.interop;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// How much an [SystemUnderTest] is to do, and where it may have files.
///
/// @param isSmall that it is one of many checks, and may take some seconds only
/// @param folder empty, for the files of this end
public record Job(boolean isSmall, Path folder) {
    /// The beginning of lines that are for the process that has started this one.
    static final String PREFIX = "engine: ";

    /// One of two sizes.
    public int size(int small, int full) {
        return isSmall ? small : full;
    }

    /// To be called by each client when about half of its work is done. Returns when the work may go on. The server
    /// may have been killed meanwhile; then the client has to notice.
    public void halfway() throws IOException {
        say("halfway");
        int _ = System.in.read();
    }

    /// Bytes that tell their place and the message that they belong to.
    public static byte[] pattern(int length, long message) {
        var made = new byte[length];
        long state = message * 0x9E3779B97F4A7C15L + 1;
        for (int i = 0; i < length; i++) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
            made[i] = (byte) state;
        }
        return made;
    }

    /// Compares, and says which of the messages differs.
    public static void same(Object expected, @Nullable Object actual, String what) {
        boolean same = (expected instanceof byte[] bytes && actual instanceof byte[] others)
                ? Arrays.equals(bytes, others)
                : expected.equals(actual);
        if (!same) {
            throw new AssertionError(what + " is not what it has to be");
        }
    }

    /// Tells the process that has started this one.
    static void say(String text) {
        System.out.println(PREFIX + text);
        System.out.flush();
    }
}
