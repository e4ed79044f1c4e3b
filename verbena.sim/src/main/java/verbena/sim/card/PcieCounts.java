package verbena.sim.card;

/// Counts of what went over PCIe.
final class PcieCounts {
    /// CardRequests of the card to read.
    long reads;

    long readBytes;
    /// Packets that the card wrote.
    long writes;

    long writeBytes;
    /// Stores of cores to the card, of 64 bytes or less.
    long stores;
}
