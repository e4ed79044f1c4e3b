package verbena.verbs;

/// A view of a region that can be granted and withdrawn without registering anew (ibv_alloc_mw(3)). Bound by
/// [SendBatch#bindWindow], withdrawn by a local invalidate, by a peer's SEND with invalidate, or by closing.
public interface MemoryWindow extends VerbsObject {
    ProtectionDomain protectionDomain();

    /// Returns the type, 1 or 2.
    int type();

    /// Returns the key as it is now. The program that binds a window of type 2 chooses the low 8 bits.
    int rkey();

    /// Returns the rkey that a type 2 bind should give next: the low 8 bits counted up (ibv_inc_rkey(3)).
    default int nextRkey() {
        return (rkey() & ~0xFF) | ((rkey() + 1) & 0xFF);
    }
}
