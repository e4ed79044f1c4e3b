package verbena.verbs;

/// A view of a region that can be granted and withdrawn without registering anew (ibv_alloc_mw(3)). Bound by
/// [SendBatch#bindWindow], withdrawn by a local invalidate, by a peer's SEND with invalidate, or by closing.
public interface MemoryWindow extends VerbsObject {
    /// Kinds of window (`enum ibv_mw_type`).
    enum Type {
        /// A window of a protection domain: any of its peers that has the key may use it. Can be bound again.
        TYPE_1,
        /// A window of the queue pair that binds it, until it is invalidated.
        TYPE_2;

        /// Returns the number that libibverbs gives it.
        public int code() {
            return ordinal() + 1;
        }

        /// Returns the type of a number.
        ///
        /// @throws IllegalArgumentException when `code` is neither 1 nor 2
        public static Type ofCode(int code) {
            return switch (code) {
                case 1 -> TYPE_1;
                case 2 -> TYPE_2;
                default -> throw new IllegalArgumentException("type: 1 or 2, got " + code);
            };
        }
    }

    ProtectionDomain protectionDomain();

    /// Returns the type.
    Type type();

    /// Returns the key as it is now. The program that binds a window of type 2 chooses the low 8 bits.
    int rkey();

    /// Returns the rkey that a type 2 bind should give next: the low 8 bits counted up (ibv_inc_rkey(3)).
    default int nextRkey() {
        return (rkey() & ~0xFF) | ((rkey() + 1) & 0xFF);
    }
}
