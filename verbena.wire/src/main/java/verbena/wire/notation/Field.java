package verbena.wire.notation;

import static verbena.wire.ib.Header.AETH;
import static verbena.wire.ib.Header.ATOMIC_ACK_ETH;
import static verbena.wire.ib.Header.ATOMIC_ETH;
import static verbena.wire.ib.Header.BTH;
import static verbena.wire.ib.Header.DETH;
import static verbena.wire.ib.Header.FETH;
import static verbena.wire.ib.Header.IETH;
import static verbena.wire.ib.Header.IMM_DT;
import static verbena.wire.ib.Header.RDETH;
import static verbena.wire.ib.Header.RETH;
import static verbena.wire.ib.Header.XRCETH;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.AtomicAckEth;
import verbena.wire.ib.AtomicEth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Feth;
import verbena.wire.ib.Header;
import verbena.wire.ib.Ieth;
import verbena.wire.ib.ImmDt;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Operation;
import verbena.wire.ib.Rdeth;
import verbena.wire.ib.Reth;
import verbena.wire.ib.Syndrome;
import verbena.wire.ib.XrcEth;

/// The fields of a packet that the notation names, in the order in which they are printed: word, header, width,
/// and how to read and write it. Printing, comparing and building are all this table.
enum Field {
    PSN("psn", BTH, 24, Form.NUMBER, Bth::psn, (s, o, v) -> Bth.setPsn(s, o, (int) v)),
    QP("qp", BTH, 24, Form.QUEUE_PAIR, Bth::destinationQp, (s, o, v) -> Bth.setDestinationQp(s, o, (int) v)),
    ACK_REQUEST("ackreq", BTH, 1, Form.FLAG, flag(Bth::ackRequest), (s, o, v) -> Bth.setAckRequest(s, o, v != 0)),
    SOLICITED("solicited", BTH, 1, Form.FLAG, flag(Bth::solicited), (s, o, v) -> Bth.setSolicited(s, o, v != 0)),
    MIGRATED("migrated", BTH, 1, Form.FLAG, flag(Bth::migrated), (s, o, v) -> Bth.setMigrated(s, o, v != 0)),
    FECN("fecn", BTH, 1, Form.FLAG, flag(Bth::fecn), (s, o, v) -> Bth.setFecn(s, o, v != 0)),
    BECN("becn", BTH, 1, Form.FLAG, flag(Bth::becn), (s, o, v) -> Bth.setBecn(s, o, v != 0)),
    PKEY("pkey", BTH, 16, Form.HEX_16, Bth::pkey, (s, o, v) -> Bth.setPkey(s, o, (int) v)),
    VERSION("version", BTH, 4, Form.NUMBER, Bth::version, (s, o, v) -> Bth.setVersion(s, o, (int) v)),
    PAD("pad", BTH, 2, Form.NUMBER, Bth::padCount, (s, o, v) -> Bth.setPadCount(s, o, (int) v)),

    EE_CONTEXT("eec", RDETH, 24, Form.NUMBER, Rdeth::eeContext, (s, o, v) -> Rdeth.write(s, o, (int) v)),
    QKEY("qkey", DETH, 32, Form.HEX_32, Deth::qkey, (s, o, v) -> Deth.write(s, o, (int) v, Deth.sourceQp(s, o))),
    SOURCE_QP("srcqp", DETH, 24, Form.HEX_24, Deth::sourceQp, (s, o, v) -> Deth.write(s, o, Deth.qkey(s, o), (int) v)),
    SRQ("srq", XRCETH, 24, Form.NUMBER, XrcEth::srqNumber, (s, o, v) -> XrcEth.write(s, o, (int) v)),

    SELECTIVITY(
            "sel",
            FETH,
            2,
            Form.NUMBER,
            Feth::selectivity,
            (s, o, v) -> Feth.write(s, o, (int) v, Feth.placement(s, o))),
    PLACEMENT(
            "plt",
            FETH,
            4,
            Form.NUMBER,
            Feth::placement,
            (s, o, v) -> Feth.write(s, o, Feth.selectivity(s, o), (int) v)),

    ADDRESS(
            "va",
            RETH,
            64,
            Form.ADDRESS,
            Reth::virtualAddress,
            (s, o, v) -> Reth.write(s, o, v, Reth.rkey(s, o), Reth.dmaLength(s, o))),
    RKEY(
            "rkey",
            RETH,
            32,
            Form.KEY,
            Reth::rkey,
            (s, o, v) -> Reth.write(s, o, Reth.virtualAddress(s, o), (int) v, Reth.dmaLength(s, o))),
    LENGTH(
            "len",
            RETH,
            32,
            Form.NUMBER,
            Reth::dmaLength,
            (s, o, v) -> Reth.write(s, o, Reth.virtualAddress(s, o), Reth.rkey(s, o), v)),
    ATOMIC_ADDRESS(
            "va",
            ATOMIC_ETH,
            64,
            Form.ADDRESS,
            AtomicEth::virtualAddress,
            (s, o, v) ->
                    AtomicEth.write(s, o, v, AtomicEth.rkey(s, o), AtomicEth.swapOrAdd(s, o), AtomicEth.compare(s, o))),
    ATOMIC_RKEY(
            "rkey",
            ATOMIC_ETH,
            32,
            Form.KEY,
            AtomicEth::rkey,
            (s, o, v) -> AtomicEth.write(
                    s, o, AtomicEth.virtualAddress(s, o), (int) v, AtomicEth.swapOrAdd(s, o), AtomicEth.compare(s, o))),
    ADD("add", ATOMIC_ETH, 64, Form.OPERAND, AtomicEth::swapOrAdd, Field::setSwapOrAdd),
    COMPARE(
            "compare",
            ATOMIC_ETH,
            64,
            Form.OPERAND,
            AtomicEth::compare,
            (s, o, v) -> AtomicEth.write(
                    s, o, AtomicEth.virtualAddress(s, o), AtomicEth.rkey(s, o), AtomicEth.swapOrAdd(s, o), v)),
    SWAP("swap", ATOMIC_ETH, 64, Form.OPERAND, AtomicEth::swapOrAdd, Field::setSwapOrAdd),

    // The three share a byte: setting one decides what the others are.
    SYNDROME("syndrome", AETH, 8, Form.HEX_8, Aeth::syndrome, Field::setSyndrome),
    TIMER("timer", AETH, 5, Form.NUMBER, Field::value, (s, o, v) -> setSyndrome(s, o, Syndrome.rnrNak((int) v))),
    CREDITS("credits", AETH, 5, Form.NUMBER, Field::value, Field::setSyndrome),
    MSN("msn", AETH, 24, Form.NUMBER, Aeth::msn, (s, o, v) -> Aeth.write(s, o, Aeth.syndrome(s, o), (int) v)),
    ORIGINAL("original", ATOMIC_ACK_ETH, 64, Form.OPERAND, AtomicAckEth::original, AtomicAckEth::write),

    IMMEDIATE("imm", IMM_DT, 32, Form.HEX_32, ImmDt::immediate, (s, o, v) -> ImmDt.write(s, o, (int) v)),
    INVALIDATE("inv", IETH, 32, Form.KEY, Ieth::rkey, (s, o, v) -> Ieth.write(s, o, (int) v));

    /// Forms in which a value is written.
    enum Form {
        /// The word alone, when set.
        FLAG,
        /// Decimal.
        NUMBER,
        HEX_8,
        HEX_16,
        HEX_24,
        HEX_32,
        /// Decimal while it is small, then hexadecimal.
        OPERAND,
        /// Hexadecimal, or with the key as `region+offset`.
        ADDRESS,
        /// Hexadecimal, or the name of a region.
        KEY,
        /// The name or number that [Names] gives to a queue pair.
        QUEUE_PAIR
    }

    interface Reader {
        long read(MemorySegment segment, long offset);
    }

    interface Writer {
        void write(MemorySegment segment, long offset, long value);
    }

    private interface Flag {
        boolean read(MemorySegment segment, long offset);
    }

    private static final int OPERAND_DECIMAL_MAX = 0xFFFF;

    final String word;
    final Form form;
    private final Header header;
    private final int bits;

    @SuppressWarnings("ImmutableEnumChecker") // a method of a view
    private final Reader reader;

    @SuppressWarnings("ImmutableEnumChecker") // a method of a view
    private final Writer writer;

    Field(String word, Header header, int bits, Form form, Reader reader, Writer writer) {
        this.word = word;
        this.header = header;
        this.bits = bits;
        this.form = form;
        this.reader = reader;
        this.writer = writer;
    }

    /// Returns the field of this word in packets of this opcode; with null, in any packet: a field of the BTH.
    static @Nullable Field of(String word, @Nullable Opcode opcode) {
        for (Field field : values()) {
            if (field.word.equals(word) && field.isIn(opcode)) {
                return field;
            }
        }
        return null;
    }

    static boolean isWord(String word) {
        for (Field field : values()) {
            if (field.word.equals(word)) {
                return true;
            }
        }
        return false;
    }

    boolean isIn(@Nullable Opcode opcode) {
        if (opcode == null) {
            return header == BTH;
        }
        return opcode.headers().contains(header)
                && switch (this) {
                    case ADD -> opcode.operation() == Operation.FETCH_ADD;
                    case SWAP -> opcode.operation() == Operation.COMPARE_SWAP;
                    default -> true;
                };
    }

    boolean fits(long value) {
        return bits == 64 || value >>> bits == 0;
    }

    int bits() {
        return bits;
    }

    long read(Frame frame, @Nullable Opcode opcode) {
        long value = reader.read(frame.slot, offset(frame, opcode));
        return bits == 32 ? value & 0xFFFF_FFFFL : value;
    }

    void write(Frame frame, @Nullable Opcode opcode, long value) {
        writer.write(frame.slot, offset(frame, opcode), value);
    }

    String text(long value) {
        return switch (form) {
            case FLAG -> value == 0 ? "no" : "yes";
            case NUMBER -> Long.toUnsignedString(value);
            case HEX_8 -> "0x%02x".formatted(value);
            case HEX_16 -> "0x%04x".formatted(value);
            case HEX_24, QUEUE_PAIR -> "0x%06x".formatted(value);
            case HEX_32, KEY -> "0x%08x".formatted(value);
            case ADDRESS -> "0x%x".formatted(value);
            case OPERAND -> value >= 0 && value <= OPERAND_DECIMAL_MAX ? Long.toString(value) : "0x%x".formatted(value);
        };
    }

    private long offset(Frame frame, @Nullable Opcode opcode) {
        return opcode == null ? frame.start : (long) frame.start + opcode.offset(header);
    }

    private static Reader flag(Flag flag) {
        return (s, o) -> flag.read(s, o) ? 1 : 0;
    }

    private static long value(MemorySegment segment, long offset) {
        return Syndrome.value(Aeth.syndrome(segment, offset));
    }

    private static void setSyndrome(MemorySegment segment, long offset, long syndrome) {
        Aeth.write(segment, offset, (int) syndrome, Aeth.msn(segment, offset));
    }

    private static void setSwapOrAdd(MemorySegment segment, long offset, long value) {
        AtomicEth.write(
                segment,
                offset,
                AtomicEth.virtualAddress(segment, offset),
                AtomicEth.rkey(segment, offset),
                value,
                AtomicEth.compare(segment, offset));
    }
}
