package verbena.nic.shm;

/// The process of a neighbour, and whether the kernel lets this one copy from its memory and to it. For the owner of
/// the engine.
final class PeerProcess {
    /// Its number, which the kernel has told, not the neighbour.
    final int number;

    private boolean isClosed;

    /// @param number 0 when it is not known
    PeerProcess(int number) {
        this.number = number;
    }

    /// Whether copying is worth a try.
    boolean isOpen() {
        return number > 0 && !isClosed;
    }

    /// The kernel has refused, and is not asked again.
    void close() {
        isClosed = true;
    }
}
