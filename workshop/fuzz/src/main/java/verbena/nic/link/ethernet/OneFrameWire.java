package verbena.nic.link.ethernet;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import verbena.verbs.Gid;
import verbena.wire.Frame;

/// A wire at which one frame arrives, and that nothing leaves by.
final class OneFrameWire implements Wire {
    private final MemorySegment memory;
    private final ByteBuffer bytes;
    private final int length;
    private final int tag;
    private boolean isTaken;

    OneFrameWire(MemorySegment frame, int tag) {
        memory = Arena.ofAuto().allocate(Frame.HEADROOM + frame.byteSize(), 64);
        bytes = memory.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        length = (int) frame.byteSize();
        this.tag = tag;
        memory.asSlice(Frame.HEADROOM).copyFrom(frame);
    }

    @Override
    public boolean next() {
        boolean isNew = !isTaken;
        isTaken = true;
        return isNew;
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public ByteBuffer bytes() {
        return bytes;
    }

    @Override
    public int start() {
        return Frame.HEADROOM;
    }

    @Override
    public int length() {
        return length;
    }

    @Override
    public int kept() {
        return length;
    }

    @Override
    public int tag() {
        return tag;
    }

    @Override
    public boolean hasNext() {
        return !isTaken;
    }

    @Override
    public void release() {}

    @Override
    public int batch() {
        return 0;
    }

    @Override
    public void put(Frame frame, int headerBytes) {
        throw new UnsupportedOperationException("nothing leaves");
    }

    @Override
    public int transmit() {
        return 0;
    }

    @Override
    public boolean wasFull() {
        return false;
    }

    @Override
    public long refused() {
        return 0;
    }

    @Override
    public void join(Gid group, long mac) {}

    @Override
    public void leave(Gid group, long mac) {}

    @Override
    public int descriptor() {
        return -1;
    }

    @Override
    public Map<String, Long> counters() {
        return Map.of();
    }

    @Override
    public void close() {}
}
