package verbena.tools.files;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.zip.CRC32C;

/// The checksum of a chunk; on the wire its ordinal. The digest of a file is SHA-256 over its size and the checksums
/// of all its chunks, in their order. It is as strong as these checksums, and costs next to nothing.
enum Checksum {
    /// A checksum against the faults of memory and wires: one damage in 4 thousand million stays hidden.
    CRC32C(4),
    /// A checksum that finds deliberate changes too, and costs some forty times as much.
    SHA256(32);

    /// Bytes of the longest.
    static final int MAX = 32;
    /// Bytes of a file's digest.
    static final int DIGEST = 32;

    private final int bytes;

    Checksum(int bytes) {
        this.bytes = bytes;
    }

    int bytes() {
        return bytes;
    }

    /// The computation of a checksum; for one thread at a time.
    interface Computer {
        /// Computes the checksum of the bytes between position and limit, which stay, and writes it into the
        /// start of `sum`.
        void compute(ByteBuffer data, byte[] sum);
    }

    Computer computer() {
        return switch (this) {
            case CRC32C -> {
                var crc = new CRC32C();
                yield (data, sum) -> {
                    int position = data.position();
                    crc.reset();
                    crc.update(data);
                    data.position(position);
                    int value = (int) crc.getValue();
                    for (int i = 0; i < 4; i++) {
                        sum[i] = (byte) (value >> (24 - 8 * i));
                    }
                };
            }
            case SHA256 -> {
                MessageDigest sha = newSha256();
                yield (data, sum) -> {
                    int position = data.position();
                    sha.update(data);
                    data.position(position);
                    System.arraycopy(sha.digest(), 0, sum, 0, bytes);
                };
            }
        };
    }

    /// Begins the digest of a file of `size` bytes; the checksums of its chunks follow.
    static MessageDigest fileDigest(long size) {
        MessageDigest digest = newSha256();
        digest.update(ByteBuffer.allocate(Long.BYTES).putLong(0, size));
        return digest;
    }

    static byte[] sha256(byte[] data) {
        return newSha256().digest(data);
    }

    private static MessageDigest newSha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
