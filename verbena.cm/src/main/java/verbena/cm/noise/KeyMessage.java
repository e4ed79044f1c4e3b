package verbena.cm.noise;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.wire.BigEndian;

/// The form of the datagrams of a [KeyExchange], and the proof in each that its sender has the secret:
///
/// | octets | |
/// |---|---|
/// | 0 to 3 | `VKX1`: no packet of RoCE begins so, because its header has a version of 0 there, and none of PSP |
/// | 4 | the kind |
/// | 5 to 7 | zero |
/// | 8 to 23 | a number that the end which began has drawn |
/// | 24 ... | what the kind says |
/// | the last 16 | HMAC-SHA256 over addresses and all before, cut off |
///
/// One owner.
final class KeyMessage {
    static final int ID_BYTES = 16;
    static final int MAC_BYTES = 16;

    private static final int MAGIC = 0x564B_5831;
    private static final int KIND_AT = 4;
    private static final int ID_AT = 8;
    private static final int BODY_AT = ID_AT + ID_BYTES;

    /// The kind of a datagram, with the number of its octets.
    enum Kind {
        /// Asks for a cookie. As long as the answer, so that a forger gains no traffic by it.
        HELLO(16),
        /// The answer to a hello, which costs its sender no memory.
        COOKIE(16),
        /// The cookie, and the first message of Noise.
        FIRST(16 + 48),
        /// The second message of Noise, with an SPI, a port, and what [Credentials] show.
        SECOND(32 + 48 + 22),
        /// The third message of Noise, with an SPI, and what [Credentials] show.
        THIRD(48 + 20),
        /// A message that its sender has no keys for an SPI.
        UNKNOWN(4);

        private static final Kind[] ALL = values();

        /// The least number of octets of what it says.
        final int bodyBytes;

        Kind(int bodyBytes) {
            this.bodyBytes = bodyBytes;
        }

        /// Returns whether it may have so many octets more than the least.
        private boolean hasRoomFor(int more) {
            boolean shows = this == SECOND || this == THIRD;
            return more == 0 || (shows && more > 0 && more <= Credentials.BYTES_MAX);
        }
    }

    private final Mac mac;

    /// @param secret of both ends
    KeyMessage(byte[] secret) {
        mac = mac(secret);
    }

    /// Returns a function from bytes to 32 that cannot be foreseen without the key.
    static Mac mac(byte[] key) {
        try {
            Mac made = Mac.getInstance("HmacSHA256");
            made.init(new SecretKeySpec(key, "HmacSHA256"));
            return made;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HMAC-SHA256", e);
        }
    }

    /// Returns the kind of a datagram by its form alone; null when it belongs to no exchange.
    static @Nullable Kind kind(MemorySegment packet, long at, int bytes) {
        if (bytes < BODY_AT || BigEndian.i32(packet, at) != MAGIC) {
            return null;
        }
        int number = BigEndian.u8(packet, at + KIND_AT);
        Kind kind = number < Kind.ALL.length ? Kind.ALL[number] : null;
        return kind == null || !kind.hasRoomFor(bytes - BODY_AT - kind.bodyBytes - MAC_BYTES) ? null : kind;
    }

    byte[] write(Kind kind, Gid from, Gid to, byte[] id, byte[] body) {
        assert kind.hasRoomFor(body.length - kind.bodyBytes) : kind + " with " + body.length;
        byte[] message = new byte[BODY_AT + body.length + MAC_BYTES];
        ByteBuffer into = ByteBuffer.wrap(message);
        into.putInt(MAGIC).put((byte) kind.ordinal()).position(ID_AT).put(id).put(body);
        into.put(proof(message, from, to));
        return message;
    }

    /// Returns whether its sender has the secret, and meant these addresses.
    boolean isProven(byte[] message, Gid from, Gid to) {
        byte[] said = Arrays.copyOfRange(message, message.length - MAC_BYTES, message.length);
        return MessageDigest.isEqual(said, proof(message, from, to));
    }

    private byte[] proof(byte[] message, Gid from, Gid to) {
        mac.update(from.bytes());
        mac.update(to.bytes());
        mac.update(message, 0, message.length - MAC_BYTES);
        return Arrays.copyOf(mac.doFinal(), MAC_BYTES);
    }

    static byte[] id(byte[] message) {
        return Arrays.copyOfRange(message, ID_AT, BODY_AT);
    }

    static byte[] body(byte[] message) {
        return Arrays.copyOfRange(message, BODY_AT, message.length - MAC_BYTES);
    }
}
