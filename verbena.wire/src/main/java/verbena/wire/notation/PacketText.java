package verbena.wire.notation;

import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Operation;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Syndrome;

/// A printer of packets in the notation; see the package description.
public final class PacketText {
    // Wide enough that the columns of a usual exchange line up.
    private static final int HEAD_COLUMNS = 14;
    private static final int PAYLOAD_COLUMN = 38;

    private PacketText() {}

    /// Prints a packet in a line, whatever its bytes; [PacketPattern#parse(String, Names)] with the same names
    /// understands it and matches the frame. `badicrc` appears unless [Frame#icrcValid]. Allocates.
    public static String format(Frame frame, Names names) {
        if (frame.length < Packet.BYTES_MIN) {
            return (PacketPattern.BYTES + " " + hex(frame)).strip() + icrc(frame);
        }
        Shape shape = Shape.of(frame);
        var line = new StringBuilder(head(frame, shape));
        line.repeat(' ', Math.max(0, HEAD_COLUMNS - 2 - line.length()));
        for (Field field : Field.values()) {
            if (field.isIn(shape.opcode()) && isWorthSaying(field, frame, shape)) {
                append(line, field, frame, shape.opcode(), names);
            }
        }
        appendPayload(line, frame, shape);
        return line.append(icrc(frame)).toString();
    }

    private static String head(Frame frame, Shape shape) {
        return shape.isAcknowledge() ? shape.acknowledgeName(syndrome(frame, shape)) : shape.name();
    }

    private static boolean isWorthSaying(Field field, Frame frame, Shape shape) {
        long value = field.read(frame, shape.opcode());
        return switch (field) {
            case ACK_REQUEST, SOLICITED, MIGRATED, FECN, BECN, VERSION -> value != 0;
            case PKEY -> value != Bth.PKEY_DEFAULT;
            case PAD -> value != shape.padCountDerived(shape.payloadBytes(frame));
            case COMPARE -> value != 0 || operation(shape) == Operation.COMPARE_SWAP;
            case SYNDROME ->
                switch (Syndrome.kind(syndrome(frame, shape))) {
                    case ACK -> false;
                    case RNR_NAK, NAK -> !shape.isAcknowledge(); // else it is in the head
                    case RESERVED -> true;
                };
            case TIMER -> false; // in the head
            case CREDITS -> Syndrome.isAck(syndrome(frame, shape)) && value != Syndrome.CREDITS_UNUSED;
            default -> true;
        };
    }

    private static void append(StringBuilder line, Field field, Frame frame, @Nullable Opcode opcode, Names names) {
        long value = field.read(frame, opcode);
        switch (field.form) {
            case FLAG -> line.append("  ").append(field.word);
            case QUEUE_PAIR -> {
                String name = names.queuePair((int) value);
                if (name != null) {
                    line.append("  ").append(field.word).append(' ').append(name);
                }
            }
            case ADDRESS -> appendAddress(line, field, value, names.region(rkey(frame, opcode)));
            case KEY -> {
                Names.Region region = names.region((int) value);
                if (field == Field.INVALIDATE) {
                    line.append("  ").append(field.word).append(' ');
                    line.append(region == null ? field.text(value) : region.name());
                } else if (region == null) {
                    line.append(' ').append(field.word).append(' ').append(field.text(value));
                }
            }
            default -> {
                line.append(field == Field.LENGTH ? " " : "  ");
                line.append(field.word).append(' ').append(field.text(value));
            }
        }
    }

    private static void appendAddress(StringBuilder line, Field field, long value, Names.@Nullable Region region) {
        line.append("  ");
        if (region == null) {
            line.append(field.word).append(' ').append(field.text(value));
        } else {
            long offset = value - region.virtualAddress();
            line.append(region.name()).append(offset < 0 ? "" : "+").append(offset);
        }
    }

    private static void appendPayload(StringBuilder line, Frame frame, Shape shape) {
        int payloadBytes = shape.payloadBytes(frame);
        Opcode opcode = shape.opcode();
        if (payloadBytes != 0 || opcode == null || opcode.hasPayload()) {
            line.repeat(' ', Math.max(2, PAYLOAD_COLUMN - line.length()));
            line.append("| ").append(payloadBytes);
        }
    }

    private static String icrc(Frame frame) {
        return frame.icrcValid ? "" : "  " + PacketPattern.BAD_ICRC;
    }

    private static int rkey(Frame frame, @Nullable Opcode opcode) {
        Field key = Field.of(Field.RKEY.word, opcode);
        return key == null ? 0 : (int) key.read(frame, opcode);
    }

    private static @Nullable Operation operation(Shape shape) {
        Opcode opcode = shape.opcode();
        return opcode == null ? null : opcode.operation();
    }

    // Of a packet that has an AETH.
    private static int syndrome(Frame frame, Shape shape) {
        Opcode opcode = Objects.requireNonNull(shape.opcode(), "an AETH, but no opcode");
        return Aeth.syndrome(frame.slot, frame.start + opcode.aethOffset());
    }

    static String hex(Frame frame) {
        return HexFormat.of().formatHex(frame.packet().toArray(ValueLayout.JAVA_BYTE));
    }
}
