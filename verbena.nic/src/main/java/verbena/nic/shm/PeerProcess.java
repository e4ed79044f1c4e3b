package verbena.nic.shm;

/// The process of a neighbour, and whether the kernel lets this one copy from its memory and to it. For the owner of
/// the engine.
final class PeerProcess {
    /// The number of the process, which comes from the kernel and not from the neighbour.
    final int number;

    private boolean isClosed;

    /// @param number 0 when it is not known
    PeerProcess(int number) {
        this.number = number;
    }

    /// Returns whether copying is worth a try.
    boolean isOpen() {
        return number > 0 && !isClosed;
    }

    /// Notes that the kernel has refused, so that it is not asked again.
    void close() {
        isClosed = true;
    }
}
