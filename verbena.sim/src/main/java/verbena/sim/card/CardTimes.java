package verbena.sim.card;

/// The numbers of a card as a run needs them: times in picoseconds, lengths in bytes.
///
/// @param cache     the bytes of memory that reads of the card find in the cache
/// @param ddio      the bytes of the cache that writes of the card may fill
/// @param pcieWrite one way over PCIe: an answer waits until its data have left the card
record CardTimes(
        long build,
        long doorbell,
        long poll,
        long interrupt,
        long moderation,
        long request,
        long arrive,
        long acknowledge,
        long respond,
        long finish,
        long contextMiss,
        long tableMiss,
        long fault,
        long atomic,
        long dram,
        long pcieWrite,
        long wire,
        int wqe,
        int fetch,
        int blueflame,
        int cqe,
        int contextBytes,
        int reads,
        long cache,
        long ddio,
        int mtu,
        int headers,
        double picosPerByte) {
    static CardTimes of(Card card) {
        return new CardTimes(
                card.picos(Quantity.BUILD),
                card.picos(Quantity.DOORBELL),
                card.picos(Quantity.POLL),
                card.picos(Quantity.INTERRUPT),
                card.picos(Quantity.MODERATION),
                card.picos(Quantity.REQUEST),
                card.picos(Quantity.ARRIVE),
                card.picos(Quantity.ACKNOWLEDGE),
                card.picos(Quantity.RESPOND),
                card.picos(Quantity.FINISH),
                card.picos(Quantity.QP_MISS),
                card.picos(Quantity.TABLE_MISS),
                card.picos(Quantity.FAULT),
                card.picos(Quantity.PCIE_READ),
                card.picos(Quantity.DRAM),
                card.picos(Quantity.PCIE_WRITE),
                card.picos(Quantity.WIRE),
                card.count(Quantity.WQE),
                card.count(Quantity.FETCH),
                card.count(Quantity.BLUEFLAME),
                card.count(Quantity.CQE),
                card.count(Quantity.QP_BYTES),
                card.count(Quantity.READS),
                (long) card.value(Quantity.LLC),
                (long) card.value(Quantity.DDIO),
                card.count(Quantity.MTU),
                card.count(Quantity.HEADERS),
                8000 / card.value(Quantity.RATE));
    }

    /// Returns whether the card's writes to an area of memory go past the cache, which cannot hold it.
    boolean isPast(long areaBytes) {
        return areaBytes > ddio;
    }

    /// Returns what a message takes on the wire.
    long wirePicos(int bytes) {
        return Math.round(wireBytes(bytes) * picosPerByte);
    }

    /// Returns the bytes of a message on the wire, with the headers of its packets.
    int wireBytes(int bytes) {
        return bytes + Math.max(1, (bytes + mtu - 1) / mtu) * headers;
    }
}
