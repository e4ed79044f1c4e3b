package verbena.foreign;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// A function of the C library, on the data path or off it, that takes up to six numbers and pointers.
///
/// All are called in one shape: six longs in, one long out. A cold JVM needs some 5 ms to link a shape, and a device
/// calls some 30 functions before its first packet. On 64 bits Linux passes each number and each pointer in a
/// register of its own, and a function does not look at registers that it has no parameter for. What a parameter
/// of fewer bits does not use is the sign; callers cast the answer of an `int` function to `int`.
///
/// Memory is passed by its address. The caller keeps it alive until the function has returned, or names it in the
/// call.
public final class SystemFunction {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final FunctionDescriptor SHAPE =
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle CALL = NativeFunction.handle(SHAPE);

    /// The functions with errno, linked by the first call that asks for the error.
    private static final class WithErrno {
        static final long ERRNO = Linker.Option.captureStateLayout().byteOffset(PathElement.groupElement("errno"));

        @SuppressWarnings("restricted") // calling C is what this room is for
        static final MethodHandle CALL = LINKER.downcallHandle(SHAPE, Linker.Option.captureCallState("errno"));
    }

    /// The same shape with three segments behind it, for a function that does not look at them: they lie where a
    /// function of more parameters would look. Linked by the first call.
    private static final class WithMemory {
        static final MethodHandle CALL = NativeFunction.handle(FunctionDescriptor.of(
                JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS,
                ADDRESS));
    }

    private final MemorySegment address;

    private SystemFunction(MemorySegment address) {
        this.address = address;
    }

    /// Returns a function that every Linux has.
    public static SystemFunction named(String name) {
        return new SystemFunction(LINKER.defaultLookup().findOrThrow(name));
    }

    /// Returns a function at an address of this process, of the same shape.
    public static SystemFunction at(long address) {
        return new SystemFunction(MemorySegment.ofAddress(address));
    }

    public long call(long a) {
        return call(a, 0, 0, 0, 0, 0);
    }

    public long call(long a, long b) {
        return call(a, b, 0, 0, 0, 0);
    }

    public long call(long a, long b, long c) {
        return call(a, b, c, 0, 0, 0);
    }

    public long call(long a, long b, long c, long d) {
        return call(a, b, c, d, 0, 0);
    }

    public long call(long a, long b, long c, long d, long e, long f) {
        try {
            return (long) CALL.invokeExact(address, a, b, c, d, e, f);
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    /// Calls the same; the three segments, to which arguments point, stay alive until the function has returned.
    ///
    /// @throws IllegalStateException when the arena of one is closed; the function is not called then
    public long call(
            long a,
            long b,
            long c,
            long d,
            long e,
            long f,
            MemorySegment first,
            MemorySegment second,
            MemorySegment third) {
        try {
            return (long) WithMemory.CALL.invokeExact(address, a, b, c, d, e, f, first, second, third);
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    /// Calls an `int` function that returns -1 when it fails, and returns the negative error then.
    ///
    /// @param state memory of `Linker.Option.captureStateLayout()`
    public int tryCall(MemorySegment state, long a, long b, long c) {
        return tryCall(state, a, b, c, 0, 0);
    }

    /// Calls the same with other arguments.
    public int tryCall(MemorySegment state, long a, long b, long c, long d, long e) {
        try {
            int answer = (int) (long) WithErrno.CALL.invokeExact(address, state, a, b, c, d, e, 0L);
            return answer >= 0 ? answer : -state.get(JAVA_INT, WithErrno.ERRNO);
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    /// Calls a function that returns a `long`, a size or a pointer to memory of this process.
    public long tryCallLong(MemorySegment state, long a, long b, long c, long d, long e, long f) {
        try {
            long answer = (long) WithErrno.CALL.invokeExact(address, state, a, b, c, d, e, f);
            return answer >= 0 ? answer : -state.get(JAVA_INT, WithErrno.ERRNO);
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    /// Returns an error for an exception that cannot occur: a downcall throws nothing of its own.
    private static RuntimeException impossible(Throwable thrown) {
        return switch (thrown) {
            case RuntimeException runtime -> runtime;
            case Error error -> throw error;
            default -> throw new AssertionError(thrown);
        };
    }
}
