package verbena.tools.perf;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.StringJoiner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;

/// The description of a queue pair that the ends exchange (`struct pingpong_dest`): over TCP as text, through the
/// connection manager as a structure of big-endian numbers.
///
/// @param outstanding READs and atomics that may be outstanding towards it
/// @param address where the peer may write to or read from
record PerfPeer(int lid, int outstanding, int qpn, int psn, int rkey, long address, Gid gid) {
    /// Length of the text in bytes, with the zero of a C string.
    static final int TEXT_BYTES = 108;

    /// Length of the structure: five numbers of 4 bytes and a gap, the address, the GID, two numbers.
    static final int STRUCTURE_BYTES = 56;

    private static final int ADDRESS_OFFSET = 24;
    private static final int GID_OFFSET = 32;

    /// An empty description, by which the ends only wait for each other.
    static final PerfPeer NONE = new PerfPeer(0, 0, 0, 0, 0, 0, new Gid(0, 0));

    private static final int BITS_16 = 0xFFFF;

    PerfPeer {
        if (((lid | outstanding) & ~BITS_16) != 0
                || (qpn & ~Endpoint.QPN_MASK) != 0
                || (psn & ~Endpoint.PSN_MASK) != 0) {
            throw new IllegalArgumentException("no queue pair has LID 0x%x, %d READs, QPN 0x%x and PSN 0x%x"
                    .formatted(lid, outstanding, qpn, psn));
        }
    }

    // The last number is that of an XRC receive queue, which no device has here.
    private static final Pattern TEXT = Pattern.compile("(\\p{XDigit}+):(\\p{XDigit}+):(\\p{XDigit}+):(\\p{XDigit}+)"
            + ":(\\p{XDigit}+):(\\p{XDigit}+):((?:\\p{XDigit}{2}:){15}\\p{XDigit}{2}):(\\p{XDigit}+):\0");

    /// Returns the text, with its zero.
    byte[] text() {
        var hex = HexFormat.of();
        String text = hex.toHexDigits(lid, 4) + ":" + hex.toHexDigits(outstanding, 4) + ":" + hex.toHexDigits(qpn, 6)
                + ":" + hex.toHexDigits(psn, 6) + ":" + hex.toHexDigits(rkey) + ":" + hex.toHexDigits(address) + ":"
                + HexFormat.ofDelimiter(":").formatHex(gid.bytes()) + ":00000000:\0";
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /// Reads the text.
    ///
    /// @throws IllegalArgumentException when it is nothing of the sort
    static PerfPeer ofText(byte[] message) {
        String text = new String(message, StandardCharsets.ISO_8859_1);
        Matcher matcher = TEXT.matcher(text);
        try {
            if (matcher.matches()) {
                ByteBuffer gid = ByteBuffer.wrap(HexFormat.ofDelimiter(":").parseHex(matcher.group(7)));
                return new PerfPeer(
                        HexFormat.fromHexDigits(matcher.group(1)),
                        HexFormat.fromHexDigits(matcher.group(2)),
                        HexFormat.fromHexDigits(matcher.group(3)),
                        HexFormat.fromHexDigits(matcher.group(4)),
                        HexFormat.fromHexDigits(matcher.group(5)),
                        HexFormat.fromHexDigitsToLong(matcher.group(6)),
                        new Gid(gid.getLong(), gid.getLong()));
            }
        } catch (IllegalArgumentException _) {
            // A number is too long, or larger than it may be.
        }
        throw new IllegalArgumentException("LID:OUT:QPN:PSN:RKEY:ADDRESS:GID:SRQN: expected, got \""
                + text.replaceAll("[^\\p{Graph} ]", ".") + "\"");
    }

    /// Returns the structure.
    byte[] structure() {
        return ByteBuffer.allocate(STRUCTURE_BYTES)
                .putInt(lid)
                .putInt(outstanding)
                .putInt(qpn)
                .putInt(psn)
                .putInt(rkey)
                .position(ADDRESS_OFFSET)
                .putLong(address)
                .put(gid.bytes())
                .array();
    }

    /// Reads the structure.
    ///
    /// @throws IllegalArgumentException when a number in it is larger than it may be
    static PerfPeer ofStructure(byte[] structure) {
        ByteBuffer from = ByteBuffer.wrap(structure);
        return new PerfPeer(
                from.getInt(),
                from.getInt(),
                from.getInt(),
                from.getInt(),
                from.getInt(),
                from.getLong(ADDRESS_OFFSET),
                new Gid(from.getLong(GID_OFFSET), from.getLong(GID_OFFSET + Long.BYTES)));
    }

    /// Returns the line that the C programs print of it, and one for its GID.
    ///
    /// @param side `local` or `remote`
    String lines(String side, Verb verb) {
        String outs = verb == Verb.READ ? " OUT " + hex(outstanding, 4) : "";
        String memory = verb == Verb.READ || verb == Verb.WRITE || verb == Verb.WRITE_IMM
                ? " RKey " + hex(Integer.toUnsignedLong(rkey), 8) + " VAddr " + hex(address, 16)
                : "";
        var bytes = new StringJoiner(":");
        for (byte b : gid.bytes()) {
            bytes.add("%02d".formatted(b & 0xFF));
        }
        return " " + side + " address: LID " + hex(lid, 4) + " QPN " + hex(qpn, 6) + " PSN " + hex(psn, 6) + outs
                + memory + "\n GID: " + bytes;
    }

    // As printf(3) does it with %#0WIDTHx: zero has no prefix.
    static String hex(long value, int width) {
        return value == 0 ? "0".repeat(width) : ("%#0" + width + "x").formatted(value);
    }
}
