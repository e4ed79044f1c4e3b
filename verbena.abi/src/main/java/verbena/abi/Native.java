package verbena.abi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import verbena.verbs.ResourceLimitException;

/// Memory of the program's, and the few functions of the C library that are needed: what the program gets is
/// allocated like its own, and its file descriptors are pipes.
@SuppressWarnings("restricted") // all that is restricted in this room, but for the upcalls in Abi
final class Native {
    /// All memory: addresses are offsets in it. Who reads or writes there has the pointer from the program.
    static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private static final boolean IS_LITTLE = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
    private static final int O_CLOEXEC = 0x8_0000;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle CALLOC = function("calloc", JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle FREE = procedure("free", JAVA_LONG);
    private static final MethodHandle PIPE2 = function("pipe2", JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle WRITE = function("write", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
    private static final MethodHandle CLOSE = function("close", JAVA_INT, JAVA_INT);

    private Native() {}

    static MethodHandle function(String name, ValueLayout result, ValueLayout... arguments) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, arguments));
    }

    static MethodHandle procedure(String name, ValueLayout... arguments) {
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.ofVoid(arguments));
    }

    // ---- memory

    /// Zeroed memory that lives until [#free].
    static long allocate(long bytes) {
        try {
            long address = (long) CALLOC.invokeExact(1L, bytes);
            if (address == 0) {
                throw new OutOfMemoryError("calloc of " + bytes + " bytes");
            }
            return address;
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /// A copy of the text, with a zero byte behind it, that lives until [#free].
    static long allocate(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        long address = allocate(bytes.length + 1L);
        MemorySegment.copy(bytes, 0, MEMORY, JAVA_BYTE, address, bytes.length);
        return address;
    }

    /// NULL does nothing.
    static void free(long address) {
        try {
            FREE.invokeExact(address);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /// The memory from `address` on.
    ///
    /// @throws IllegalArgumentException when it is NULL
    static MemorySegment at(long address, long bytes) {
        return MEMORY.asSlice(some(address), bytes);
    }

    /// The same address.
    ///
    /// @throws IllegalArgumentException when it is NULL
    static long some(long address) {
        if (address == 0) {
            throw new IllegalArgumentException("a pointer is NULL");
        }
        return address;
    }

    /// The text that ends at the next zero byte.
    static String string(long address) {
        return MEMORY.getString(some(address));
    }

    static byte getByte(long address) {
        return MEMORY.get(JAVA_BYTE, address);
    }

    static void putByte(long address, int value) {
        MEMORY.set(JAVA_BYTE, address, (byte) value);
    }

    static short getShort(long address) {
        return MEMORY.get(JAVA_SHORT_UNALIGNED, address);
    }

    static void putShort(long address, int value) {
        MEMORY.set(JAVA_SHORT_UNALIGNED, address, (short) value);
    }

    static int getInt(long address) {
        return MEMORY.get(JAVA_INT_UNALIGNED, address);
    }

    static void putInt(long address, int value) {
        MEMORY.set(JAVA_INT_UNALIGNED, address, value);
    }

    static long getLong(long address) {
        return MEMORY.get(JAVA_LONG_UNALIGNED, address);
    }

    static void putLong(long address, long value) {
        MEMORY.set(JAVA_LONG_UNALIGNED, address, value);
    }

    /// What C keeps in the network's order.
    static int bigEndian(int value) {
        return IS_LITTLE ? Integer.reverseBytes(value) : value;
    }

    static short bigEndian(short value) {
        return IS_LITTLE ? Short.reverseBytes(value) : value;
    }

    static long bigEndian(long value) {
        return IS_LITTLE ? Long.reverseBytes(value) : value;
    }

    // ---- file descriptors

    /// A pipe: the end to read, which is the program's, and the end to write.
    static int[] pipe() {
        try (var arena = Arena.ofConfined()) {
            MemorySegment ends = arena.allocate(JAVA_INT, 2);
            int answer = (int) PIPE2.invokeExact(ends, O_CLOEXEC);
            if (answer != 0) {
                throw new ResourceLimitException("pipe", "file descriptors", 0, "this process has no more");
            }
            return new int[] {ends.getAtIndex(JAVA_INT, 0), ends.getAtIndex(JAVA_INT, 1)};
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /// What completion channels need.
    private static final class Counting {
        private static final int F_DUPFD_CLOEXEC = 1030;
        private static final int EFD_SEMAPHORE = 1;
        private static final MethodHandle EVENTFD = function("eventfd", JAVA_INT, JAVA_INT, JAVA_INT);
        private static final MethodHandle FCNTL = LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow("fcntl"),
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
                Linker.Option.firstVariadicArg(2));
    }

    /// An eventfd(2) from which each read takes one, by two numbers: the first is the program's.
    static int[] eventCounter() {
        try {
            int fd = (int) Counting.EVENTFD.invokeExact(0, Counting.EFD_SEMAPHORE | O_CLOEXEC);
            int ours = fd < 0 ? fd : (int) Counting.FCNTL.invokeExact(fd, Counting.F_DUPFD_CLOEXEC, 0);
            if (ours < 0) {
                close(fd);
                throw new ResourceLimitException("eventfd", "file descriptors", 0, "this process has no more");
            }
            return new int[] {fd, ours};
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /// Waits until there is room. False when nobody reads any more.
    static boolean write(int fd, MemorySegment data) {
        try {
            while (true) {
                long n = (long) WRITE.invokeExact(fd, data, data.byteSize());
                if (n == data.byteSize()) {
                    return true;
                }
                if (n >= 0) {
                    return false; // fewer than PIPE_BUF bytes go whole or not at all
                }
                if (Thread.interrupted()) {
                    return false;
                }
            }
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /// What few programs need.
    private static final class Reading {
        private static final MethodHandle READ = function("read", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
        private static final MethodHandle POLL = function("poll", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
        private static final long POLLIN_ON = 1L << 32; // struct pollfd: fd, events, revents
    }

    /// Takes the pointers out of a pipe that nobody else reads at this time, without waiting.
    static void readAll(int fd, List<Long> into) {
        try (var arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(JAVA_LONG);
            MemorySegment asked = arena.allocate(JAVA_LONG);
            asked.set(JAVA_LONG, 0, Reading.POLLIN_ON | fd);
            while ((int) Reading.POLL.invokeExact(asked, 1L, 0) > 0
                    && (long) Reading.READ.invokeExact(fd, pointer, JAVA_LONG.byteSize()) == JAVA_LONG.byteSize()) {
                into.add(pointer.get(JAVA_LONG, 0));
            }
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void close(int fd) {
        try {
            int ignored = (int) CLOSE.invokeExact(fd);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static RuntimeException rethrown(Throwable e) {
        if (e instanceof RuntimeException exception) {
            return exception;
        }
        if (e instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(e);
    }
}
