package verbena.tools.explain;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import verbena.tools.explain.Event.Part;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Header;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Syndrome;
import verbena.wire.notation.CmText;

/// The fields of a packet, one by one.
final class Anatomy {
    private static final int SHOWN_BYTES = 16;

    private final MemorySegment memory;
    private final int start;
    private final List<Part> parts = new ArrayList<>();
    private String header = "";
    private int at;

    Anatomy(MemorySegment memory, int start) {
        this.memory = memory;
        this.start = start;
    }

    /// Returns the fields of an InfiniBand packet, BTH through ICRC.
    static List<Part> of(Frame frame) {
        var anatomy = new Anatomy(frame.slot, frame.start);
        if (Packet.check(frame) != Malformed.OK) {
            anatomy.header("malformed").blob("bytes", "", frame.length);
            return anatomy.parts;
        }
        Opcode opcode = Packet.opcode(frame);
        anatomy.bth(opcode);
        for (Header header : Header.values()) {
            if (header != Header.BTH && opcode.headers().contains(header)) {
                anatomy.extended(header, opcode);
            }
        }
        int payload = Packet.payloadBytes(frame, opcode);
        String message = CmText.format(frame);
        if (message != null) {
            anatomy.message(readable(message), payload);
        } else if (payload > 0) {
            anatomy.header("payload").blob("data", "what the application sends", payload);
        }
        int pad = Bth.padCount(frame.slot, frame.start);
        if (pad > 0) {
            anatomy.header("payload").blob("pad", "makes it a multiple of 4 bytes", pad);
        }
        anatomy.header("ICRC").hex("ICRC", 4, "checksum of everything that does not change on the way");
        return anatomy.parts;
    }

    private void bth(Opcode opcode) {
        header("BTH, base transport header");
        value("opcode", 1, opcode.name(), "transport, operation, and which headers follow");
        int flags = u(1);
        value(
                "flags",
                1,
                "0x%02x".formatted(flags),
                (flags & 0x80) == 0 ? "pad count and version" : "solicited event wanted; pad count and version");
        hex("P_Key", 2, "the partition; both ends are in the same one");
        hex("reserved, FECN, BECN", 1, "marks of congestion");
        hex("destination QP", 3, "the queue pair that it is for");
        int request = u(1) & 0x80;
        value("ack request", 1, request == 0 ? "no" : "yes", "whether the receiver is to acknowledge at once");
        number("PSN", 3, "packet sequence number, 24 bits: order, and what is missing");
    }

    private void extended(Header which, Opcode opcode) {
        switch (which) {
            case RETH ->
                header("RETH, RDMA extended header")
                        .hex("virtual address", 8, "where in the receiver's memory")
                        .hex("R_Key", 4, "the key that opens that memory")
                        .number("DMA length", 4, "bytes of the whole message");
            case ATOMIC_ETH ->
                header("AtomicETH")
                        .hex("virtual address", 8, "8 aligned bytes of the receiver")
                        .hex("R_Key", 4, "the key that opens that memory")
                        .number(opcode.name().contains("SWAP") ? "swap" : "add", 8, "the operand")
                        .number("compare", 8, opcode.name().contains("SWAP") ? "what is expected" : "not used");
            case AETH -> {
                header("AETH, ACK extended header");
                int syndrome = Aeth.syndrome(memory, (long) start + at);
                value("syndrome", 1, Syndrome.text(syndrome), "acknowledged, not ready, or refused and why");
                number("MSN", 3, "how many messages are complete");
            }
            case ATOMIC_ACK_ETH -> header("AtomicAckETH").number("original", 8, "what the memory held before");
            case IMM_DT -> header("ImmDt").hex("immediate", 4, "32 bits for the application");
            case IETH -> header("IETH").hex("R_Key", 4, "the key that is withdrawn");
            case DETH ->
                header("DETH, datagram extended header")
                        .hex("Q_Key", 4, "the receiver's queue pair takes only datagrams with its own")
                        .hex("reserved", 1, "")
                        .hex("source QP", 3, "the queue pair to answer");
            case FETH -> header("FETH").hex("flush", 4, "what is to be visible, and how far");
            case RDETH, XRCETH -> header(which.name()).hex(which.name(), which.bytes(), "");
            case BTH -> throw new AssertionError("told already");
        }
    }

    // A management datagram's fields, by the words of the notation; where each lies it does not say.
    private void message(String message, int bytes) {
        String[] words = message.split(" +", -1);
        header("MAD, connection management");
        parts.add(new Part(header, "message", words[0], "", at, bytes));
        for (int i = 1; i + 1 < words.length; i += 2) {
            parts.add(new Part(header, words[i], words[i + 1], "", at, bytes));
        }
        at += bytes;
    }

    /// Returns a message of connection managers, in which private data that are text are shown as text.
    static String readable(String message) {
        int at = message.indexOf("  data ");
        if (at < 0) {
            return message;
        }
        String data = message.substring(at + 7);
        try {
            byte[] bytes = HexFormat.of().parseHex(data);
            for (byte b : bytes) {
                if (b < ' ' || b > '~') {
                    return message;
                }
            }
            return message.substring(0, at) + "  data \"" + new String(bytes, StandardCharsets.US_ASCII) + '"';
        } catch (IllegalArgumentException _) {
            return message; // something that does not end with them
        }
    }

    // ---- pieces, each behind the one before

    Anatomy header(String name) {
        header = name;
        return this;
    }

    List<Part> parts() {
        return parts;
    }

    Anatomy value(String name, int bytes, String value, String meaning) {
        parts.add(new Part(header, name, value, meaning, at, bytes));
        at += bytes;
        return this;
    }

    Anatomy hex(String name, int bytes, String meaning) {
        return value(name, bytes, ("0x%0" + 2 * bytes + "x").formatted(unsigned(bytes)), meaning);
    }

    Anatomy number(String name, int bytes, String meaning) {
        return value(name, bytes, String.format(Locale.ROOT, "%,d", unsigned(bytes)), meaning);
    }

    Anatomy blob(String name, String meaning, int bytes) {
        var text = new StringBuilder();
        for (int i = 0; i < Math.min(bytes, SHOWN_BYTES); i++) {
            text.append("%02x ".formatted(BigEndian.u8(memory, (long) start + at + i)));
        }
        return value(
                name,
                bytes,
                String.format(
                                Locale.ROOT,
                                "%,d bytes: %s",
                                bytes,
                                text.toString().strip())
                        + (bytes > SHOWN_BYTES ? " ..." : ""),
                meaning);
    }

    private int u(int bytes) {
        return (int) unsigned(bytes);
    }

    private long unsigned(int bytes) {
        long value = 0;
        for (int i = 0; i < bytes; i++) {
            value = value << Byte.SIZE | BigEndian.u8(memory, (long) start + at + i);
        }
        return value;
    }
}
