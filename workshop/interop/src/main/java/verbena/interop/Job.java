package verbena.interop;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The amount of work of a [SystemUnderTest], and the folder for its files.
///
/// @param isSmall that it is one of many checks, and may take some seconds only
/// @param folder empty, for the files of this end
public record Job(boolean isSmall, Path folder) {
    /// The beginning of lines for the process that has started this process.
    static final String PREFIX = "engine: ";

    /// The beginning of a line about a part of the work.
    static final String DONE = "done ";

    /// Returns the small size or the full size, as this job needs.
    public int size(int small, int full) {
        return isSmall ? small : full;
    }

    /// Called by each client when about half of its work is done. Returns when the work may go on. The server may
    /// have been killed meanwhile; then the client has to notice.
    public void halfway() throws IOException {
        say("halfway");
        int _ = System.in.read();
    }

    /// Says that a part of the work is done, so that a long silence means that nothing goes on.
    public void done(String part) {
        say(DONE + part);
    }

    /// Returns bytes that show their place and the message that they belong to.
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

    /// Compares two values, and throws with the name of the message that differs.
    public static void same(Object expected, @Nullable Object actual, String what) {
        boolean same = (expected instanceof byte[] bytes && actual instanceof byte[] others)
                ? Arrays.equals(bytes, others)
                : expected.equals(actual);
        if (!same) {
            throw new AssertionError(what + " is not what it has to be");
        }
    }

    /// Sends a line to the process that has started this process.
    static void say(String text) {
        System.out.println(PREFIX + text);
        System.out.flush();
    }
}
