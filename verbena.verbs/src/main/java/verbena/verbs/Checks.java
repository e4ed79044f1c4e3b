package verbena.verbs;

/// Argument checks that name the argument.
final class Checks {
    private Checks() {}

    static int range(String name, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + ": " + min + " to " + max + ", got " + value);
        }
        return value;
    }

    /// Throws when `length` bytes from `offset` on are not all inside the first `size` bytes.
    static void inside(String verb, long offset, long length, long size) {
        if (offset < 0 || length < 0 || offset > size - length) {
            throw new IndexOutOfBoundsException(
                    verb + ": " + length + " bytes from byte " + offset + " on are not inside " + size + " bytes");
        }
    }
}
