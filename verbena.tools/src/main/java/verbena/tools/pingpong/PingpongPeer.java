package verbena.tools.pingpong;

import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import verbena.tools.kit.Addresses;
import verbena.verbs.Gid;

/// The message that the ends of an `ibv_*_pingpong` exchange over TCP before they connect: `LID:QPN:PSN:GID` in
/// hexadecimal, of a fixed length, with the terminating zero of a C string.
record PingpongPeer(int lid, int qpn, int psn, Gid gid) {
    /// Length of the message in bytes, with the zero.
    static final int MESSAGE_BYTES = "0000:000000:000000:00000000000000000000000000000000\0".length();

    /// The queue pair that is not there.
    static final PingpongPeer NONE = new PingpongPeer(0, 0, 0, new Gid(0, 0));

    private static final Pattern MESSAGE =
            Pattern.compile("(\\p{XDigit}{4}):(\\p{XDigit}{6}):(\\p{XDigit}{6}):(\\p{XDigit}{32})\0");

    /// Returns the message, zero included.
    String message() {
        var hex = HexFormat.of();
        return hex.toHexDigits(lid, 4) + ":" + hex.toHexDigits(qpn, 6) + ":" + hex.toHexDigits(psn, 6) + ":"
                + hex.formatHex(gid.bytes()) + "\0";
    }

    /// Reads a message.
    ///
    /// @throws IllegalArgumentException when it is nothing of the sort
    static PingpongPeer parse(String message) {
        Matcher matcher = MESSAGE.matcher(message);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("LID:QPN:PSN:GID expected, got \"" + printable(message) + "\"");
        }
        String gid = matcher.group(4);
        return new PingpongPeer(
                HexFormat.fromHexDigits(matcher.group(1)),
                HexFormat.fromHexDigits(matcher.group(2)),
                HexFormat.fromHexDigits(matcher.group(3)),
                new Gid(HexFormat.fromHexDigitsToLong(gid, 0, 16), HexFormat.fromHexDigitsToLong(gid, 16, 32)));
    }

    /// Returns the line that the C programs print.
    @Override
    public String toString() {
        return "LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s".formatted(lid, qpn, psn, Addresses.gid(gid));
    }

    private static String printable(String text) {
        return text.replaceAll("[^\\p{Graph} ]", ".");
    }
}
