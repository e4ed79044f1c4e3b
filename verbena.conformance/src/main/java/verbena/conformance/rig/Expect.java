package verbena.conformance.rig;

import java.util.Arrays;
import java.util.Collection;
import java.util.Objects;

/// Expectations. Each names what is looked at.
public final class Expect {
    private Expect() {}

    /// Anything that may throw.
    @FunctionalInterface
    public interface Action {
        void run() throws Exception;
    }

    public static void equal(String what, Object expected, Object actual) {
        if (!Objects.equals(expected, actual)) {
            throw new Mismatch(what, expected, actual);
        }
    }

    public static void that(String what, boolean holds) {
        if (!holds) {
            throw new Mismatch(what + ": is not so");
        }
    }

    public static void atLeast(String what, long least, long actual) {
        if (actual < least) {
            throw new Mismatch(what, "at least " + least, actual);
        }
    }

    public static void oneOf(String what, Collection<?> expected, Object actual) {
        if (!expected.contains(actual)) {
            throw new Mismatch(what, "one of " + expected, actual);
        }
    }

    public static void bytes(String what, byte[] expected, byte[] actual) {
        int at = Arrays.mismatch(expected, actual);
        if (at >= 0) {
            throw new Mismatch(
                    what + ", byte " + at + " of " + expected.length,
                    at < expected.length ? "0x%02x".formatted(expected[at]) : "the end",
                    at < actual.length ? "0x%02x".formatted(actual[at]) : "the end");
        }
    }

    /// What `action` throws, which has to be of this kind; its message has to contain all of `words`, whatever the
    /// case of letters.
    public static <T extends Throwable> T thrown(String what, Class<T> kind, Action action, String... words) {
        try {
            action.run();
        } catch (Throwable e) {
            if (!kind.isInstance(e)) {
                throw unexpected(what, kind, e);
            }
            String message = String.valueOf(e.getMessage());
            for (String word : words) {
                if (!message.toLowerCase(java.util.Locale.ROOT).contains(word.toLowerCase(java.util.Locale.ROOT))) {
                    throw new Mismatch(what + ": message", "\"" + word + "\" in it", "\"" + message + "\"");
                }
            }
            return kind.cast(e);
        }
        throw new Mismatch(what, kind.getSimpleName(), "nothing thrown");
    }

    private static Mismatch unexpected(String what, Class<?> kind, Throwable e) {
        var mismatch = new Mismatch(what, kind.getSimpleName(), e);
        mismatch.initCause(e);
        return mismatch;
    }
}
