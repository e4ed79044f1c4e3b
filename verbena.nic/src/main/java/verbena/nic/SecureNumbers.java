package verbena.nic;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.random.RandomGenerator;

/// The numbers of a [SecureRandom], drawn in blocks, which makes them about as cheap as those of an ordinary
/// generator. Safe for use by any thread.
final class SecureNumbers implements RandomGenerator {
    private static final int BLOCK_BYTES = 4_096;

    private final SecureRandom random = new SecureRandom();
    private final byte[] block = new byte[BLOCK_BYTES];
    private final ByteBuffer left = ByteBuffer.wrap(block).position(BLOCK_BYTES);

    @Override
    public synchronized long nextLong() {
        fill(Long.BYTES);
        int at = left.position();
        long number = left.getLong();
        left.putLong(at, 0); // a number that was returned is not kept
        return number;
    }

    @Override
    public synchronized int nextInt() {
        fill(Integer.BYTES);
        int at = left.position();
        int number = left.getInt();
        left.putInt(at, 0);
        return number;
    }

    private void fill(int bytes) {
        if (left.remaining() < bytes) {
            random.nextBytes(block);
            left.clear();
        }
    }
}
