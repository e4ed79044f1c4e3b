package verbena.sim.card;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// A number that a card, or the host around it, has in the model.
public enum Quantity {
    BUILD(Kind.NANOS, 0, 1e6, "a core builds a request"),
    DOORBELL(Kind.NANOS, 0, 1e6, "a core stores 64 bytes to the card, through a write-combining buffer"),
    POLL(Kind.NANOS, 0, 1e6, "a core takes a completion"),
    INTERRUPT(Kind.NANOS, 0, 1e9, "from a completion until a sleeping thread runs"),
    MODERATION(Kind.NANOS, 0, 1e9, "from an interrupt for a thread until the next one may follow"),
    LLC(Kind.BYTES, 0, 1e12, "the last level cache, from which reads of the card are served"),
    DDIO(Kind.BYTES, 0, 1e12, "the part of that cache which writes of the card may fill; 0 where they go to memory"),
    DRAM(Kind.NANOS, 0, 1e6, "an access costs more when it goes to memory and not to the cache"),
    GENERATION(Kind.COUNT, 1, 6, "of PCIe"),
    LANES(Kind.COUNT, 1, 32, "of PCIe"),
    MPS(Kind.BYTES, 128, 4096, "the longest payload of a PCIe packet (TLP)"),
    MRRS(Kind.BYTES, 128, 4096, "the longest read request on PCIe"),
    DLLP(Kind.SHARE, 0, 0.5, "the part of PCIe's rate that acknowledgements and credits take"),
    PCIE_READ(Kind.NANOS, 1, 1e6, "the card reads 64 bytes of the cache, there and back"),
    PCIE_WRITE(Kind.NANOS, 1, 1e6, "one way over PCIe"),
    READ_TAGS(Kind.COUNT, 1, 4096, "reads of the card that may be outstanding on PCIe"),
    WRITE_CREDITS(Kind.COUNT, 1, 4096, "writes of the card that the host has room for"),
    RELAXED(Kind.COUNT, 0, 1, "1 where a write to memory may overtake another one on PCIe"),
    TLP(Kind.NANOS, 0, 1e4, "the card's PCIe engine handles a packet, sent or received"),
    UNITS(Kind.COUNT, 1, 64, "processing units"),
    REQUEST(Kind.NANOS, 0, 1e5, "a unit begins a request"),
    ARRIVE(Kind.NANOS, 0, 1e5, "a unit takes a request of the peer in"),
    ACKNOWLEDGE(Kind.NANOS, 0, 1e5, "a unit acknowledges one"),
    RESPOND(Kind.NANOS, 0, 1e5, "a unit answers a READ or an atomic"),
    FINISH(Kind.NANOS, 0, 1e5, "a unit takes an answer or an acknowledgement in"),
    WQE(Kind.BYTES, 16, 1024, "a request as the card reads it, without inline data"),
    FETCH(Kind.BYTES, 64, 4096, "requests are fetched by reads of this length"),
    BLUEFLAME(Kind.BYTES, 0, 4096, "the longest request that a core may store to the card itself"),
    INLINE(Kind.BYTES, 0, 4096, "the longest inline data"),
    CQE(Kind.BYTES, 16, 256, "what the card writes for a completion"),
    QP_CACHE(Kind.COUNT, 1, 1e7, "contexts of queue pairs that the card holds"),
    QP_BYTES(Kind.BYTES, 16, 4096, "a context of a queue pair"),
    QP_MISS(Kind.NANOS, 0, 1e6, "a unit stands still for a context that it does not hold"),
    MPT_CACHE(Kind.COUNT, 1, 1e7, "regions of memory that the card holds"),
    MTT_CACHE(Kind.COUNT, 1, 1e8, "pages of memory whose address the card holds"),
    TABLE_MISS(Kind.NANOS, 0, 1e6, "a unit stands still for a region or a page that it does not hold"),
    READS(Kind.COUNT, 1, 256, "outstanding READs and atomics of a queue pair"),
    LOCKS(Kind.COUNT, 1, 1e6, "atomics on different words that are carried out at once"),
    FAULT(Kind.NANOS, 0, 1e9, "a page that is not there, until the request has been repeated"),
    RATE(Kind.GIGABITS, 0.1, 1600, "of all ports together"),
    MTU(Kind.BYTES, 256, 4096, "the longest payload of a packet on the wire"),
    HEADERS(Kind.BYTES, 16, 256, "what a packet on the wire has besides"),
    WIRE(Kind.NANOS, 0, 1e9, "one way through cable and switch");

    /// The unit of a number.
    enum Kind {
        COUNT("a number"),
        BYTES("bytes, such as 64 or 2M"),
        NANOS("a time, such as 70ns or 2us"),
        GIGABITS("a rate, such as 100G"),
        SHARE("a share, 0 to 1");

        private final String form;

        Kind(String form) {
            this.form = form;
        }

        double factor(String unit) {
            return switch (this) {
                case COUNT, SHARE -> unit.isEmpty() ? 1 : Double.NaN;
                case BYTES ->
                    switch (unit) {
                        case "" -> 1;
                        case "K" -> 1 << 10;
                        case "M" -> 1 << 20;
                        case "G" -> 1 << 30;
                        default -> Double.NaN;
                    };
                case NANOS ->
                    switch (unit) {
                        case "ns" -> 1;
                        case "us" -> 1e3;
                        case "ms" -> 1e6;
                        default -> Double.NaN;
                    };
                case GIGABITS -> unit.equals("G") ? 1 : Double.NaN;
            };
        }

        /// Reads a number of this kind.
        ///
        /// @throws IllegalArgumentException when it is none
        double parse(String word) {
            Matcher found = AMOUNT.matcher(word);
            double factor = found.matches() ? factor(found.group(2)) : Double.NaN;
            if (Double.isNaN(factor)) {
                throw new IllegalArgumentException("'" + word + "' is not " + form);
            }
            return Double.parseDouble(found.group(1)) * factor;
        }
    }

    private static final Pattern AMOUNT = Pattern.compile("(\\d{1,12}(?:\\.\\d{1,6})?)([a-zA-Z]*)");

    private final Kind kind;
    private final double least;
    private final double most;
    private final String meaning;

    Quantity(Kind kind, double least, double most, String meaning) {
        this.kind = kind;
        this.least = least;
        this.most = most;
        this.meaning = meaning;
    }

    /// Returns its name in texts, such as `qp-cache`.
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /// Returns a sentence of what it is.
    public String meaning() {
        return meaning;
    }

    /// Returns the quantity of a name; empty when there is none.
    static Optional<Quantity> of(String word) {
        return Arrays.stream(values()).filter(each -> each.word().equals(word)).findFirst();
    }

    /// Returns all names, for a message.
    static String words() {
        return Arrays.stream(values()).map(Quantity::word).collect(Collectors.joining(", "));
    }

    /// Reads a value of this quantity.
    ///
    /// @throws IllegalArgumentException when it is none, or is out of range
    double parse(String word) {
        double value;
        try {
            value = kind.parse(word);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(word() + ": " + e.getMessage(), e);
        }
        return check(value);
    }

    /// Returns the value when it is in range.
    ///
    /// @throws IllegalArgumentException when it is not
    double check(double value) {
        if (!(value >= least && value <= most)) {
            throw new IllegalArgumentException(
                    word() + ": " + text(least) + " to " + text(most) + ", got " + text(value));
        }
        if (kind == Kind.COUNT && value != Math.rint(value)) {
            throw new IllegalArgumentException(word() + ": a whole number, got " + value);
        }
        return value;
    }

    /// Returns a value as words.
    public String text(double value) {
        return switch (kind) {
            case COUNT -> String.format(Locale.ROOT, "%.0f", value);
            case SHARE -> String.format(Locale.ROOT, "%.3f", value);
            case GIGABITS -> String.format(Locale.ROOT, "%.1fG", value).replace(".0G", "G");
            case NANOS ->
                value >= 1e6
                        ? String.format(Locale.ROOT, "%.3gms", value / 1e6)
                        : String.format(Locale.ROOT, value == Math.rint(value) ? "%.0fns" : "%.1fns", value);
            case BYTES ->
                value >= 1 << 20 && value % (1 << 20) == 0
                        ? String.format(Locale.ROOT, "%.0fM", value / (1 << 20))
                        : String.format(Locale.ROOT, "%.0f", value);
        };
    }
}
