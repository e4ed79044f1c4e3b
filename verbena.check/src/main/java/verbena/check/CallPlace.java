package verbena.check;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A place in the program: the innermost frames of it that called a verb. Two places with the same frames are equal.
/// Immutable.
///
/// Most places are never read, and to find out the names of frames takes most of the time. So a place keeps what the
/// JVM has noted of the stack, and reads it when a rule or a report asks for it. Of a program that is not Java it
/// keeps addresses.
public final class CallPlace {
    /// One frame of the program.
    ///
    /// @param type fully qualified name of the class; or the name of the program or library
    /// @param method name; or that of the function
    /// @param file name of the source without folders; empty when unknown
    /// @param line of the source, from 1; not positive when unknown
    public record Frame(String type, String method, String file, int line) {
        @Override
        public String toString() {
            return type + "." + method + "(" + file + (line > 0 ? ":" + line : "") + ")";
        }
    }

    /// The place of what the program has not called for.
    public static final CallPlace NONE = new CallPlace(List.of());

    private static final int DEPTH = 4;
    private static final List<String> BELOW =
            List.of("verbena.check.", "verbena.verbs.", "verbena.abi.", "java.", "jdk.", "sun.");

    /// Functions that find the places of a program that is not Java.
    private record Foreign(Supplier<long[]> here, LongFunction<Optional<StackTraceElement>> frame) {}

    /// Functions of this process; null for a program in Java.
    private static volatile @Nullable Foreign foreign;

    /// The stack of a thread, as the JVM notes it for exceptions.
    private static final class Stack extends Throwable {
        private static final long serialVersionUID = 1;

        Stack() {
            super(null, null, false, true);
        }
    }

    /// The stack as long as no rule has asked for frames; null otherwise.
    private @Nullable Stack unread;

    private List<Frame> frames;

    /// Addresses of a program that is not Java; null for one in Java.
    private final long @Nullable [] addresses;

    private CallPlace(Stack unread) {
        this.unread = unread;
        this.frames = List.of();
        this.addresses = null;
    }

    private CallPlace(long[] addresses) {
        this.frames = List.of();
        this.addresses = addresses;
    }

    /// @param frames innermost first; none when the program has not called
    public CallPlace(List<Frame> frames) {
        this.frames = List.copyOf(frames);
        this.addresses = null;
    }

    /// Learns that the program is not Java, and how to find its places
    /// ([verbena.verbs.internal.DeviceLayer#callFrom]).
    public static void callFrom(Supplier<long[]> here, LongFunction<Optional<StackTraceElement>> frame) {
        foreign = new Foreign(here, frame);
    }

    /// Returns where the program has called: the frames outside of this module and of the verbs.
    public static CallPlace here() {
        Foreign program = foreign;
        if (program != null) {
            long[] addresses = program.here().get();
            if (addresses.length > 0) {
                return new CallPlace(addresses);
            }
        }
        return new CallPlace(new Stack());
    }

    /// Returns the frames, innermost first; none when the program has not called.
    public synchronized List<Frame> frames() {
        Foreign program = foreign;
        if (addresses != null && frames.isEmpty() && program != null) {
            frames = Arrays.stream(addresses)
                    .mapToObj(program.frame())
                    .flatMap(Optional::stream)
                    .map(CallPlace::frame)
                    .toList();
        }
        Stack stack = unread;
        if (stack != null) {
            frames = Arrays.stream(stack.getStackTrace())
                    .dropWhile(frame -> isBelow(frame.getClassName()))
                    .limit(DEPTH)
                    .map(CallPlace::frame)
                    .toList();
            unread = null;
        }
        return frames;
    }

    private static Frame frame(StackTraceElement element) {
        return new Frame(
                element.getClassName(),
                element.getMethodName(),
                element.getFileName() == null ? "" : element.getFileName(),
                element.getLineNumber());
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof CallPlace place
                        && Arrays.equals(addresses, place.addresses)
                        && (addresses != null || frames().equals(place.frames())));
    }

    @Override
    public int hashCode() {
        return addresses == null ? frames().hashCode() : Arrays.hashCode(addresses);
    }

    private static boolean isBelow(String type) {
        return BELOW.stream().anyMatch(type::startsWith);
    }

    /// Returns the innermost frame in one line.
    @Override
    public String toString() {
        return frames().isEmpty()
                ? "(no place in the program)"
                : frames().getFirst().toString();
    }

    /// Returns all frames, each on a line of its own.
    ///
    /// @param indent in front of each line but the first
    public String stack(String indent) {
        return frames().isEmpty()
                ? toString()
                : frames().stream().map(Frame::toString).collect(Collectors.joining(System.lineSeparator() + indent));
    }
}
