package verbena.verbs;

/// A view of a memory region that the program can grant and withdraw without a new registration (ibv_alloc_mw(3),
/// IBTA 10.6.7). Any thread may use it.
///
/// [SendBatch#bindWindow] binds it to a range. A local invalidate withdraws it, or a peer's SEND with invalidate, or
/// closing it. [ProtectionDomain#allocateWindow] makes it, and the program closes it, before the protection domain.
/// While it is bound, the region cannot be closed.
///
/// @since 0.1
public interface MemoryWindow extends VerbsObject {
    /// Kinds of window (`enum ibv_mw_type`).
    enum Type {
        /// A window of a protection domain: every peer of the domain that has the key may use it. It can be
        /// bound again.
        TYPE_1,
        /// A window of the queue pair that binds it, until it is invalidated.
        TYPE_2;

        /// Returns the value of `enum ibv_mw_type`.
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

    /// Returns the protection domain that the window was made in.
    ProtectionDomain protectionDomain();

    /// Returns the type.
    Type type();

    /// Returns the present key. A bind replaces its low 8 bits by those that the program chooses.
    int rkey();

    /// Returns the key for the next bind: the low 8 bits incremented (ibv_inc_rkey(3)).
    default int nextRkey() {
        return (rkey() & ~0xFF) | ((rkey() + 1) & 0xFF);
    }
}
