package verbena.foreign;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/// A C function off the data path. Numbers and pointers go in and come out as `long`, the system's `errno` with
/// them.
public final class NativeFunction {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option ERRNO_OPTION = Linker.Option.captureCallState("errno");
    private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
    private static final long ERRNO = STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

    /// The result of a call.
    ///
    /// @param value returned; a pointer as its address
    /// @param errno means something only when the value says so
    public record Result(long value, int errno) {
        /// Returns the error number of a verb that returns 0, or an error number, or -1 and sets errno.
        public int error() {
            int code = (int) value;
            return code == 0 ? 0 : code == -1 ? errno : Math.abs(code);
        }

        public boolean isNull() {
            return value == 0;
        }
    }

    private final MemorySegment address;
    private final String signature;
    private final boolean isInt;
    /// The handle of the function, linked by the first call. Linking takes some milliseconds of a cold JVM, and
    /// most processes call few of the functions that the libraries have; two threads may link it twice.
    private volatile @Nullable MethodHandle handle;

    private NativeFunction(MemorySegment address, String signature) {
        this.address = address;
        this.signature = signature;
        this.isInt = signature.startsWith("u32 ");
    }

    /// Returns a function at an address.
    ///
    /// @param signature as `ptr ibv_reg_mr(ptr, ptr, u64, u32)`: what it returns, name, and parameters;
    ///     `...` stands before those that vary
    public static NativeFunction of(MemorySegment address, String signature) {
        return new NativeFunction(address, signature);
    }

    /// A handle of functions whose address is the first argument of each call: what C keeps in a table.
    @SuppressWarnings("restricted") // calling C is what this room is for
    public static MethodHandle handle(FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor);
    }

    /// The same of functions that return in a moment and never block.
    @SuppressWarnings("restricted") // calling C is what this room is for
    public static MethodHandle criticalHandle(FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor, Linker.Option.critical(false));
    }

    @SuppressWarnings("restricted") // calling C is what this room is for
    private MethodHandle link() {
        int open = signature.indexOf('(');
        String result = signature.substring(0, signature.indexOf(' '));
        String inside = signature.substring(open + 1, signature.length() - 1);
        int fixed = inside.indexOf(", ...");
        String[] parameters =
                inside.isEmpty() ? new String[0] : inside.replace(", ...", "").split(", ", -1);
        var layouts = new MemoryLayout[parameters.length];
        for (int i = 0; i < parameters.length; i++) {
            layouts[i] = layout(parameters[i]);
        }
        FunctionDescriptor descriptor = result.equals("void")
                ? FunctionDescriptor.ofVoid(layouts)
                : FunctionDescriptor.of(layout(result), layouts);
        MethodHandle linked = fixed < 0
                ? LINKER.downcallHandle(address, descriptor, ERRNO_OPTION)
                : LINKER.downcallHandle(
                        address,
                        descriptor,
                        ERRNO_OPTION,
                        Linker.Option.firstVariadicArg(
                                inside.substring(0, fixed).split(", ", -1).length));
        return linked.asSpreader(Object[].class, parameters.length + 1);
    }

    private static MemoryLayout layout(String type) {
        return switch (type) {
            case "ptr", "u64" -> ValueLayout.JAVA_LONG;
            case "u32" -> ValueLayout.JAVA_INT;
            case "u16" -> ValueLayout.JAVA_SHORT;
            case "u8" -> ValueLayout.JAVA_BYTE;
            default -> throw new IllegalArgumentException("no type " + type);
        };
    }

    /// Calls it. May block as long as C does.
    ///
    /// @param arguments `Long`, `Integer`, `Short`, `Byte` as the signature says; a segment is its address
    public Result call(Object... arguments) {
        MethodHandle linked = handle;
        if (linked == null) {
            linked = link();
            handle = linked;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            var all = new Object[arguments.length + 1];
            all[0] = state;
            for (int i = 0; i < arguments.length; i++) {
                all[i + 1] = arguments[i] instanceof MemorySegment segment ? (Object) segment.address() : arguments[i];
            }
            Object value = linked.invoke(all);
            return new Result(
                    value == null ? 0 : isInt ? (Integer) value : ((Number) value).longValue(),
                    state.get(ValueLayout.JAVA_INT, ERRNO));
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(this + " throws nothing", e);
        }
    }

    @Override
    public String toString() {
        return signature.substring(signature.indexOf(' ') + 1, signature.indexOf('('));
    }
}
