package verbena.check;

import java.util.List;
import java.util.stream.Collectors;

/// A place in the program: the innermost frames of it that called a verb. Two places with the same frames are equal.
///
/// @param frames innermost first; none when the program has not called
public record CallPlace(List<Frame> frames) {
    /// One frame of the program.
    ///
    /// @param type fully qualified name of the class
    /// @param method name
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
    private static final StackWalker WALKER = StackWalker.getInstance();

    public CallPlace {
        frames = List.copyOf(frames);
    }

    /// Returns where the program has called: the frames outside of this module and of the verbs.
    public static CallPlace here() {
        return new CallPlace(WALKER.walk(frames -> frames.dropWhile(frame -> isBelow(frame.getClassName()))
                .limit(DEPTH)
                .map(frame -> new Frame(
                        frame.getClassName(),
                        frame.getMethodName(),
                        frame.getFileName() == null ? "" : frame.getFileName(),
                        frame.getLineNumber()))
                .toList()));
    }

    private static boolean isBelow(String type) {
        return BELOW.stream().anyMatch(type::startsWith);
    }

    /// Returns the innermost frame in one line.
    @Override
    public String toString() {
        return frames.isEmpty()
                ? "(no place in the program)"
                : frames.getFirst().toString();
    }

    /// Returns all frames, each on a line of its own.
    ///
    /// @param indent in front of each line but the first
    public String stack(String indent) {
        return frames.isEmpty()
                ? toString()
                : frames.stream().map(Frame::toString).collect(Collectors.joining(System.lineSeparator() + indent));
    }
}
