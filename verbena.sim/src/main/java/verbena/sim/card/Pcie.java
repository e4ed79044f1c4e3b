package verbena.sim.card;

/// PCIe between the card and the host: two pipes of bytes, the card's engine for packets, tags for reads, credits for
/// writes, and the cache behind it.
final class Pcie {
    /// The bytes of a packet besides its payload, from physical layer to address: write and read request 24, completion
    /// 20
    /// (Neugebauer et al., SIGCOMM 2018).
    private static final int WRITE_BYTES = 24;

    private static final int COMPLETION_BYTES = 20;
    private static final double[] GIGATRANSFERS = {0, 2.5, 5, 8, 16, 32, 64};

    private final int mps;
    private final int mrrs;
    private final long readPicos;
    private final long writePicos;
    private final long dramPicos;
    private final long tlpPicos;
    private final boolean relaxed;
    private final double picosPerByte;

    final Servers up = new Servers(1);
    final Servers down = new Servers(1);
    final Servers engine = new Servers(1);
    private final Servers tags;
    private final Servers credits;
    final PcieCounts counts = new PcieCounts();

    private long lastSeen;

    Pcie(Card card) {
        mps = card.count(Quantity.MPS);
        mrrs = card.count(Quantity.MRRS);
        readPicos = card.picos(Quantity.PCIE_READ);
        writePicos = card.picos(Quantity.PCIE_WRITE);
        dramPicos = card.picos(Quantity.DRAM);
        tlpPicos = card.picos(Quantity.TLP);
        relaxed = card.count(Quantity.RELAXED) == 1;
        picosPerByte = picosPerByte(card);
        tags = new Servers(card.count(Quantity.READ_TAGS));
        credits = new Servers(card.count(Quantity.WRITE_CREDITS));
    }

    /// Returns what a byte takes, when acknowledgements and credits have their part of the rate.
    static double picosPerByte(Card card) {
        int generation = card.count(Quantity.GENERATION);
        double coding = generation <= 2 ? 8 / 10.0 : 128 / 130.0;
        double bits = GIGATRANSFERS[generation] * coding * card.value(Quantity.LANES) * (1 - card.value(Quantity.DLLP));
        return 8000 / bits;
    }

    private long pass(Servers pipe, long now, int bytes) {
        return pipe.take(now, Math.round(bytes * picosPerByte));
    }

    /// Reads memory.
    ///
    /// @param now   when it takes its place in the queues
    /// @param delay how much later it begins
    /// @param dram  whether it is not in the cache
    /// @return when all bytes are at the card
    long read(long now, long delay, int bytes, boolean dram) {
        long end = now;
        int left = bytes;
        do {
            int part = Math.min(left, mrrs);
            long asked = pass(up, engine.take(now, tlpPicos), WRITE_BYTES);
            int answers = Math.max(1, (part + mps - 1) / mps);
            long moved = pass(down, now, part + answers * COMPLETION_BYTES);
            long handled = engine.take(now, answers * tlpPicos);
            long latency = readPicos + (dram ? dramPicos : 0);
            long tagged = tags.take(now, latency);
            end = Math.max(end, Math.max(Math.max(asked, moved) + latency, Math.max(handled, tagged)));
            counts.reads++;
            left -= part;
        } while (left > 0);
        counts.readBytes += bytes;
        return end + delay;
    }

    /// Writes memory.
    ///
    /// @param now   when it takes its place in the queues
    /// @param delay how much later it begins
    /// @param dram  whether it goes past the cache
    /// @return when the host sees all bytes
    long write(long now, long delay, int bytes, boolean dram) {
        long end = now;
        int left = bytes;
        do {
            int part = Math.min(left, mps);
            long moved = pass(up, engine.take(now, tlpPicos), part + WRITE_BYTES);
            long drained = credits.take(now, writePicos + (dram ? dramPicos : 0));
            end = Math.max(moved + writePicos + (dram ? dramPicos : 0), drained);
            counts.writes++;
            left -= part;
        } while (left > 0);
        counts.writeBytes += bytes;
        end += delay;
        if (!relaxed) {
            end = Math.max(end, lastSeen);
            lastSeen = end;
        }
        return end;
    }

    /// Brings what a core stores to the card.
    ///
    /// @return when it is at the card
    long store(long now, int bytes) {
        int lines = (bytes + 63) / 64;
        counts.stores += lines;
        return pass(down, now, bytes + lines * WRITE_BYTES) + writePicos;
    }
}
