package verbena.nic.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.MemoryFile;

/// The memory files of the kernel, as grants know them: those of this device's regions, and those of peers. Any
/// thread.
final class SharedRegions implements MemoryFiles {
    private record Numbered(int number, MemoryFile file) implements File {
        @Override
        public long bytes() {
            return file.bytes();
        }

        @Override
        public boolean isWritable() {
            return file.isWritable();
        }

        @Override
        public int share() {
            return file.share();
        }
    }

    private final RegionFiles regions;
    /// The numbers of files that peers know: each file keeps its number as long as it is there.
    private final Map<MemoryFile, Integer> numbers = new WeakHashMap<>();
    private int last;

    SharedRegions(RegionFiles regions) {
        this.regions = regions;
    }

    @Override
    public synchronized @Nullable Place find(long address, long bytes) {
        RegionFiles.Place place = regions.find(address, bytes);
        if (place == null) {
            return null;
        }
        int number = numbers.computeIfAbsent(place.file(), _ -> ++last);
        return new Place(new Numbered(number, place.file()), place.offset());
    }

    @Override
    public MemorySegment map(int descriptor, long bytes, boolean isWritable, Arena arena) {
        return MemoryFile.map(descriptor, bytes, isWritable, arena).memory();
    }

    @Override
    public void close(int descriptor) {
        LinuxSockets.close(descriptor);
    }
}
