package verbena.tools.explain;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.wire.notation.Names;

/// The memory that a key opens.
///
/// @param name of the memory, in the recording
record Key(String name, int rkey, long address, long length, Set<Access> access) {
    private static final Set<Access> REMOTE = Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);

    /// Returns the memory that this key opens; null when there is none.
    static @Nullable Key of(int rkey, List<Key> keys) {
        return keys.stream().filter(key -> key.rkey == rkey).findFirst().orElse(null);
    }

    /// Returns the name of its addresses in the notation.
    Names.Region region() {
        return new Names.Region(name, rkey, address);
    }

    /// Returns the reason to refuse a request for `bytes` from `at` on; null when there is none.
    @Nullable
    String objection(long at, long bytes, Access right) {
        if (!access.contains(right)) {
            return name + " does not give the right " + right + ", only " + rights();
        }
        if (at < address || at - address + bytes > length) {
            return String.format(
                    Locale.ROOT,
                    "bytes %,d to %,d are asked for, and %s has %,d",
                    at - address,
                    at - address + bytes,
                    name,
                    length);
        }
        return null;
    }

    private String rights() {
        return String.join(
                ", ",
                access.stream()
                        .filter(REMOTE::contains)
                        .sorted()
                        .map(Enum::name)
                        .toList());
    }
}
