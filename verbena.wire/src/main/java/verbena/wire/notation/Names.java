package verbena.wire.notation;

import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/// Names of regions and queue pairs in the notation, in both directions: keys and numbers of a run differ each time,
/// names in a script do not. Every method has a default that knows no names.
public interface Names {
    /// No names; queue pairs as numbers: for captures.
    Names NUMBERS = new Names() {};

    /// Memory that packets may name.
    ///
    /// @param name a letter, then letters, digits, `_` and `.`
    /// @param rkey the key that packets carry
    /// @param virtualAddress the address that `name+0` stands for
    record Region(String name, int rkey, long virtualAddress) {}

    /// Returns the region that this key opens, or null.
    default @Nullable Region region(int rkey) {
        return null;
    }

    /// Returns the region of this name, or null.
    default @Nullable Region region(String name) {
        return null;
    }

    /// Returns the text behind `qp` for a packet to this queue pair. Null leaves the field out, because the two
    /// ends are named elsewhere.
    default @Nullable String queuePair(int qpn) {
        return "0x%06x".formatted(qpn);
    }

    /// Returns the number of the queue pair of this name. The parser reads numbers itself, without this method.
    default OptionalInt queuePair(String name) {
        return OptionalInt.empty();
    }
}
