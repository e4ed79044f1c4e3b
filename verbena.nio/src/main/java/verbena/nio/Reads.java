package verbena.nio;

import java.io.IOException;
import java.nio.ByteBuffer;

/// The reads of a program by a [Moving] connection. They are no lambdas, because the first lambda of a process takes it
/// longer than the connection.
final class Reads {
    private static final long NANOS_PER_MILLI = 1_000_000;

    private Reads() {}

    static MovingInput.Read of(ByteBuffer[] into, int offset, int length) {
        return new Several(into, offset, length);
    }

    /// Makes a read that waits at most so long; 0 for as long as it takes.
    static MovingInput.Read of(byte[] into, int offset, int length, int millis) {
        return new Timed(into, offset, length, millis);
    }

    /// A read into one buffer.
    record One(ByteBuffer into) implements MovingInput.Read {
        @Override
        public long from(Carrier by, long most) throws IOException {
            int limit = into.limit();
            try {
                return by.read(into.limit(into.position() + (int) Math.min(into.remaining(), most)));
            } finally {
                into.limit(limit);
            }
        }

        @Override
        public void takeBack(int done, ByteBuffer last) {
            int from = into.position() - last.remaining();
            ByteBuffer _ = last.put(into.duplicate().flip().position(from));
            ByteBuffer _ = into.position(from);
        }

        @Override
        public int from(ByteBuffer kept) {
            int count = Math.min(kept.remaining(), into.remaining());
            ByteBuffer _ = into.put(kept.slice(kept.position(), count));
            ByteBuffer _ = kept.position(kept.position() + count);
            return count;
        }

        @Override
        public long nanos() {
            return Long.MAX_VALUE;
        }
    }

    /// A read into several buffers.
    private static final class Several implements MovingInput.Read {
        private final ByteBuffer[] into;
        private final int offset;
        private final int length;
        /// The positions of the buffers before the read.
        private final int[] before;

        private Several(ByteBuffer[] into, int offset, int length) {
            this.into = into;
            this.offset = offset;
            this.length = length;
            this.before = new int[length];
            for (int i = 0; i < length; i++) {
                before[i] = into[offset + i] == null ? 0 : into[offset + i].position(); // the carrier judges
            }
        }

        private int room(int i) {
            return into[offset + i] == null ? 0 : into[offset + i].remaining();
        }

        @Override
        public long from(Carrier by, long most) throws IOException {
            int count = 0;
            long room = 0;
            while (count < length && room + room(count) <= most) {
                room += room(count);
                count++;
            }
            boolean hasMore = room == 0 && count < length;
            return hasMore ? new One(into[offset + count]).from(by, most) : by.read(into, offset, count);
        }

        @Override
        public void takeBack(int done, ByteBuffer last) {
            for (int i = length - 1, end = last.limit(); end > 0; i--) {
                int count = Math.min(end, into[offset + i].position() - before[i]);
                end -= count;
                new One(into[offset + i]).takeBack(count, last.slice(end, count));
            }
            ByteBuffer _ = last.position(last.limit());
        }

        @Override
        public int from(ByteBuffer kept) {
            int count = 0;
            for (int i = 0; i < length; i++) {
                count += new One(into[offset + i]).from(kept);
            }
            return count;
        }

        @Override
        public long nanos() {
            return Long.MAX_VALUE;
        }
    }

    /// A read into an array, with a time limit for all that it waits for.
    private static final class Timed implements MovingInput.Read {
        private final byte[] into;
        private final int offset;
        private final int length;
        private final int millis;
        private final long begun = System.nanoTime();

        private Timed(byte[] into, int offset, int length, int millis) {
            this.into = into;
            this.offset = offset;
            this.length = length;
            this.millis = millis;
        }

        @Override
        public long from(Carrier by, long most) throws IOException {
            long left = millis == 0 ? 0 : Math.max(1, Math.ceilDiv(nanos(), NANOS_PER_MILLI)); // 0 is no limit
            return by.read(into, offset, (int) Math.min(length, most), (int) left);
        }

        @Override
        public void takeBack(int done, ByteBuffer last) {
            ByteBuffer _ = last.put(into, offset + done - last.remaining(), last.remaining());
        }

        @Override
        public int from(ByteBuffer kept) {
            return new One(ByteBuffer.wrap(into, offset, length)).from(kept);
        }

        @Override
        public long nanos() {
            return millis == 0 ? Long.MAX_VALUE : millis * NANOS_PER_MILLI - (System.nanoTime() - begun);
        }
    }
}
