package verbena.fuzz;

import java.util.Arrays;

/// The assertions of targets.
public final class Contract {
    /// A piece of work that may fail.
    @FunctionalInterface
    public interface Work {
        void run() throws Exception;
    }

    /// A parser has broken a promise.
    @SuppressWarnings("serial") // never sent anywhere
    public static final class Broken extends AssertionError {
        Broken(String what) {
            super(what);
        }
    }

    private Contract() {}

    public static void holds(boolean condition, String what) {
        if (!condition) {
            throw new Broken(what);
        }
    }

    public static void equal(Object expected, Object actual, String what) {
        if (!expected.equals(actual)) {
            throw new Broken(what + ": expected " + expected + ", was " + actual);
        }
    }

    public static void equal(byte[] expected, byte[] actual, String what) {
        if (!Arrays.equals(expected, actual)) {
            throw new Broken(what + ": expected " + Arrays.toString(expected) + ", was " + Arrays.toString(actual));
        }
    }

    /// Runs work, and returns whether it succeeded. It may end with the declared failure, which must have a
    /// message, and with no other.
    public static boolean worksOrFailsBy(Class<? extends Exception> declared, Work work) {
        try {
            work.run();
            return true;
        } catch (Exception e) {
            if (!declared.isInstance(e)) {
                var broken = new Broken("failed by " + e.getClass().getName() + ", not by " + declared.getName());
                broken.initCause(e);
                throw broken;
            }
            String message = e.getMessage();
            holds(message != null && !message.isBlank(), declared.getName() + " without a message");
            return false;
        }
    }
}
