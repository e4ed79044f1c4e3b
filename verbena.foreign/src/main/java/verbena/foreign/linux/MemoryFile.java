package verbena.foreign.linux;

import static verbena.foreign.linux.LinuxAbi.F_SEAL_FUTURE_WRITE;
import static verbena.foreign.linux.LinuxAbi.F_SEAL_GROW;
import static verbena.foreign.linux.LinuxAbi.F_SEAL_SEAL;
import static verbena.foreign.linux.LinuxAbi.F_SEAL_SHRINK;
import static verbena.foreign.linux.LinuxAbi.PROT_READ;
import static verbena.foreign.linux.LinuxAbi.PROT_WRITE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.foreign.SystemFunction;
import verbena.foreign.linux.LinuxAbi.Statfs;

/// Memory of this process that other processes of the host can map: a file without a name (memfd_create(2)), sealed
/// so that its size never changes. The kernel frees it when no process maps it or has a descriptor of it, also after
/// kill -9.
///
/// A peer gets at it by a descriptor ([#share()], [DescriptorMessages]) and maps all of it ([#map]). If the file is
/// not writable by peers, none of them can make it so. With Linux 5.1 or newer the kernel refuses each new writable
/// mapping. Older kernels know no seal for that: a peer gets a descriptor for reading, but a hostile one of the same
/// user can open the file anew.
///
/// Any thread may call any method.
public final class MemoryFile implements AutoCloseable {
    /// Linux 6.3 and newer want to be told that nothing in it is a program; the headers of older ones have no name
    /// for it.
    private static final int MFD_NOEXEC_SEAL = 8;

    private static final String OWN_DESCRIPTORS = "/proc/self/fd/";

    /// The functions that are linked when there is a file; other systems have no such functions.
    private static final class Calls {
        static final SystemFunction MEMFD_CREATE = SystemFunction.named("memfd_create");
        static final SystemFunction FTRUNCATE = SystemFunction.named("ftruncate");
        static final SystemFunction FCNTL = SystemFunction.named("fcntl");
        static final SystemFunction OPEN = SystemFunction.named("open");
        static final SystemFunction LSEEK = SystemFunction.named("lseek");
        static final SystemFunction FSTATFS = SystemFunction.named("fstatfs");
        static final SystemFunction MMAP = SystemFunction.named("mmap");
        static final SystemFunction MUNMAP = SystemFunction.named("munmap");
    }

    /// The result of an attempt to map a peer's file.
    ///
    /// @param memory the file's first bytes; [MemorySegment#NULL] when it is refused
    /// @param refusal why it is refused, else null
    public record Mapping(MemorySegment memory, @Nullable String refusal) {
        private static Mapping refused(String why) {
            return new Mapping(MemorySegment.NULL, why);
        }
    }

    private final MemorySegment memory;
    private final Descriptor descriptor;

    private MemoryFile(MemorySegment memory, Descriptor descriptor) {
        this.memory = memory;
        this.descriptor = descriptor;
    }

    /// Returns the reason for which this process cannot have memory files; null when it can. A kernel may still
    /// refuse one ([#create]).
    public static @Nullable String unavailable() {
        String system = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        if (!Set.of("Linux amd64", "Linux aarch64").contains(system)) {
            return "memory files need Linux on x86-64 or aarch64, and this is " + system;
        }
        if (Linker.nativeLinker().defaultLookup().find("memfd_create").isEmpty()) {
            return "memory files need memfd_create, and the C library has none: glibc has it from 2.27 on";
        }
        return null;
    }

    /// Creates a file and its memory, which is zeroed.
    ///
    /// @param name for people who look into `/proc/PID/maps`; files may have the same
    /// @param isWritable whether peers may write to it
    /// @param arena ends the mapping and closes the descriptor; peers that have mapped the file keep it
    /// @throws IOException when [#unavailable()], or the kernel refuses; the message says why
    public static MemoryFile create(String name, long bytes, boolean isWritable, Arena arena) throws IOException {
        if (bytes < 1) {
            throw new IllegalArgumentException("create: bytes: at least 1, got " + bytes);
        }
        String unavailable = unavailable();
        if (unavailable != null) {
            throw new IOException(unavailable);
        }
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment state = scratch.allocate(Linker.Option.captureStateLayout());
            int fd = create(state, scratch.allocateFrom(name));
            if (fd < 0) {
                throw refused("memfd_create", bytes, fd);
            }
            var descriptor = new Descriptor(fd, isWritable);
            MemoryFile made = null;
            try {
                made = new MemoryFile(descriptor.claim(state, bytes, arena), descriptor);
                return made;
            } finally {
                if (made == null) {
                    descriptor.close();
                }
            }
        }
    }

    private static int create(MemorySegment state, MemorySegment name) {
        int flags = LinuxAbi.MFD_CLOEXEC | LinuxAbi.MFD_ALLOW_SEALING;
        int fd = Calls.MEMFD_CREATE.tryCall(state, name.address(), flags | MFD_NOEXEC_SEAL, 0);
        return fd == -LinuxAbi.EINVAL ? Calls.MEMFD_CREATE.tryCall(state, name.address(), flags, 0) : fd;
    }

    private static IOException refused(String call, long bytes, long error) {
        return new IOException(
                "memory file of " + bytes + " bytes: " + call + ": " + LinuxSockets.message((int) -error));
    }

    /// Returns its memory, until the arena closes. A shared arena closes only when no thread is in the middle of an
    /// access, and later accesses throw. So none can reach memory that is gone.
    public MemorySegment memory() {
        return memory;
    }

    public long bytes() {
        return memory.byteSize();
    }

    /// Returns whether peers may write to it.
    public boolean isWritable() {
        return descriptor.isWritable;
    }

    /// Returns a new descriptor of the file, to be sent to a peer and then closed by the caller. It is for reading
    /// when peers may not write. The negative error when there is none: -EBADF after the arena was closed, or
    /// [#close()].
    public int share() {
        return share(OWN_DESCRIPTORS);
    }

    /// Does the same by a folder of descriptors.
    ///
    /// @param folder of this process's descriptors, if there is one
    int share(String folder) {
        return descriptor.share(folder);
    }

    /// Closes the file's descriptor: no further peer gets it. The memory stays until the arena closes. Idempotent.
    @Override
    public void close() {
        descriptor.close();
    }

    /// Maps the file of a descriptor that a peer has sent, which may be hostile. Refuses what is no sealed memory
    /// file of at least so many bytes: an access to a file that the peer can truncate would end this process by a
    /// signal. What is in the memory may change at any time.
    ///
    /// @param fd may be closed afterwards; the caller does
    /// @param arena ends the mapping
    public static Mapping map(int fd, long bytes, boolean writable, Arena arena) {
        String unavailable = unavailable();
        if (unavailable != null) {
            return Mapping.refused(unavailable);
        }
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment state = scratch.allocate(Linker.Option.captureStateLayout());
            String refusal = refusal(state, fd, bytes, scratch);
            if (refusal != null) {
                return Mapping.refused(refusal);
            }
            int rights = writable ? PROT_READ | PROT_WRITE : PROT_READ;
            long address = mmap(state, fd, bytes, rights);
            if (address < 0) {
                return Mapping.refused(
                        "mmap for " + (writable ? "writing: " : "reading: ") + LinuxSockets.message((int) -address));
            }
            MemorySegment memory = segment(address, bytes, arena, () -> {});
            return new Mapping(writable ? memory : memory.asReadOnly(), null);
        }
    }

    private static @Nullable String refusal(MemorySegment state, int fd, long bytes, Arena scratch) {
        int seals = Calls.FCNTL.tryCall(state, fd, LinuxAbi.F_GET_SEALS, 0);
        if (seals < 0) {
            return "no memory file: " + LinuxSockets.message(-seals);
        }
        if ((seals & F_SEAL_SHRINK) == 0) {
            return "the memory file is not sealed against truncation";
        }
        // A file of huge pages can be sealed too, and an access ends by a signal when the system has none left.
        MemorySegment statfs = scratch.allocate(Statfs.BYTES, 8);
        int error = Calls.FSTATFS.tryCall(state, fd, statfs.address(), 0);
        if (error < 0 || statfs.get(ValueLayout.JAVA_LONG, Statfs.F_TYPE) != LinuxAbi.TMPFS_MAGIC) {
            return "no memory file of ordinary pages";
        }
        // Older C libraries have no function fstat.
        long size = Calls.LSEEK.tryCallLong(state, fd, 0, LinuxAbi.SEEK_END, 0, 0, 0);
        return bytes < 1 || bytes > size ? "the memory file has " + size + " bytes, wanted are " + bytes : null;
    }

    private static long mmap(MemorySegment state, int fd, long bytes, int rights) {
        return Calls.MMAP.tryCallLong(state, 0, bytes, rights, LinuxAbi.MAP_SHARED, fd, 0);
    }

    @SuppressWarnings("restricted") // a mapping is an address without bounds
    private static MemorySegment segment(long address, long bytes, Arena arena, Runnable close) {
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena, _ -> {
            long _ = Calls.MUNMAP.call(address, bytes);
            close.run();
        });
    }

    /// The file's descriptor. The lock keeps it from being closed, and its number used again, during a call.
    private static final class Descriptor {
        private final int fd;
        private final boolean isWritable;
        private boolean open = true; // under the lock
        private boolean sealed; // against new writable mappings; under the lock

        Descriptor(int fd, boolean isWritable) {
            this.fd = fd;
            this.isWritable = isWritable;
        }

        /// Gives the file its size, maps it and seals it, in this order: the last seal forbids what comes
        /// before it.
        synchronized MemorySegment claim(MemorySegment state, long bytes, Arena arena) throws IOException {
            int error = Calls.FTRUNCATE.tryCall(state, fd, bytes, 0);
            if (error < 0) {
                throw refused("ftruncate", bytes, error);
            }
            long address = mmap(state, fd, bytes, PROT_READ | PROT_WRITE);
            if (address < 0) {
                throw refused("mmap", bytes, address);
            }
            MemorySegment memory = segment(address, bytes, arena, this::close);
            int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
            sealed = !isWritable
                    && Calls.FCNTL.tryCall(state, fd, LinuxAbi.F_ADD_SEALS, seals | F_SEAL_FUTURE_WRITE) >= 0;
            error = sealed ? 0 : Calls.FCNTL.tryCall(state, fd, LinuxAbi.F_ADD_SEALS, seals);
            if (error < 0) {
                throw refused("fcntl F_ADD_SEALS", bytes, error);
            }
            return memory;
        }

        synchronized int share(String folder) {
            if (!open) {
                return -LinuxAbi.EBADF;
            }
            try (Arena scratch = Arena.ofConfined()) {
                MemorySegment state = scratch.allocate(Linker.Option.captureStateLayout());
                int reading = isWritable ? -1 : reopen(state, scratch.allocateFrom(folder + fd));
                // A seal is as good as a descriptor for reading, where there is no /proc to have one from.
                return reading < 0 && (isWritable || sealed)
                        ? Calls.FCNTL.tryCall(state, fd, LinuxAbi.F_DUPFD_CLOEXEC, 0)
                        : reading;
            }
        }

        private static int reopen(MemorySegment state, MemorySegment path) {
            return Calls.OPEN.tryCall(state, path.address(), LinuxAbi.O_RDONLY | LinuxAbi.O_CLOEXEC, 0);
        }

        synchronized void close() {
            if (open) {
                open = false;
                LinuxSockets.close(fd);
            }
        }
    }
}
