package verbena.abi.entry;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import verbena.abi.Native;
import verbena.abi.Operations;
import verbena.foreign.SystemFunction;
import verbena.verbs.internal.Providers;

/// Places in the program, for a layer that checks it. A place is an address; its file, function and line come from
/// the program's debugging information by addr2line(1). Without one of them it is an offset in a file, which
/// addr2line takes elsewhere.
final class ProgramPlaces {
    private static final Map<Long, Optional<StackTraceElement>> KNOWN = new ConcurrentHashMap<>();
    /// Line that addr2line prints of a place.
    private static final Pattern SOURCE = Pattern.compile("(.*/)?(?<file>[^/]+):(?<line>\\d+).*");

    /// Headers whose inline functions are verbs.
    private static final Pattern HEADERS = Pattern.compile("/(infiniband|rdma)/[^/]+\\.h:");

    /// Frames that C keeps (`call.c`).
    private static final int DEPTH = 4;

    /// Offset of `e_type` in an ELF header, and its value for a program that is not moved when it is loaded.
    private static final int ELF_TYPE = 16;

    private static final short ELF_FIXED = 2;

    /// Bytes of an answer of addr2line, with the names of all functions that are inline at a place.
    private static final long ANSWER = 1 << 16;

    private ProgramPlaces() {}

    /// Tells the layer of them, when there is one.
    static void begin() {
        SystemFunction at = SystemFunction.at(Operations.address("call_place"));
        if (Providers.callFrom(() -> here(at), place -> KNOWN.computeIfAbsent(place, ProgramPlaces::at))) {
            long _ = SystemFunction.at(Operations.address("keep_places")).call(0);
        }
    }

    private static long[] here(SystemFunction at) {
        long[] places = new long[DEPTH];
        int depth = 0;
        while (depth < DEPTH && (places[depth] = at.call(depth)) != 0) {
            depth++;
        }
        return Arrays.copyOf(places, depth);
    }

    /// @param next address of the instruction behind the call
    private static Optional<StackTraceElement> at(long next) {
        long call = next - 1;
        String file = "(unknown)";
        String function = "";
        long offset = call;
        try (var arena = Arena.ofConfined()) {
            MemorySegment info = arena.allocate(JAVA_LONG, 4); // Dl_info: file, where it is, symbol, where it is
            if ((int) SystemFunction.named("dladdr").call(call, info.address()) != 0) {
                file = Native.string(info.getAtIndex(JAVA_LONG, 0));
                long base = info.getAtIndex(JAVA_LONG, 1);
                long symbol = info.getAtIndex(JAVA_LONG, 2);
                function = symbol == 0 ? "" : Native.string(symbol);
                offset = Native.at(base + ELF_TYPE, JAVA_SHORT.byteSize()).get(JAVA_SHORT, 0) == ELF_FIXED
                        ? call
                        : call - base;
            }
        }
        String where = file.substring(file.lastIndexOf('/') + 1);
        String offsetText = "0x" + Long.toHexString(offset);
        List<String> lines = addr2line(file, offsetText);
        boolean isNamed = false;
        for (int i = 0; i + 1 < lines.size(); i += 2) { // inline functions first
            Matcher source = SOURCE.matcher(lines.get(i + 1));
            if (source.matches()) {
                isNamed = true;
                if (!HEADERS.matcher(lines.get(i + 1)).find()) {
                    int line = Integer.parseInt(source.group("line"));
                    return Optional.of(new StackTraceElement(where, lines.get(i), source.group("file"), line));
                }
            }
        }
        return isNamed
                ? Optional.empty()
                : Optional.of(new StackTraceElement(where, function.isEmpty() ? offsetText : function, offsetText, -1));
    }

    /// Returns pairs of lines, a function and its place in a source; none when addr2line is not installed. The program
    /// does not notice the child (`call.c`).
    private static List<String> addr2line(String file, String offset) {
        List<String> command = List.of("addr2line", "-f", "-i", "-C", "-e", file, offset);
        try (var arena = Arena.ofConfined()) {
            MemorySegment arguments = arena.allocate(JAVA_LONG, command.size() + 1L); // the last is NULL
            for (int i = 0; i < command.size(); i++) {
                arguments.setAtIndex(
                        JAVA_LONG, i, arena.allocateFrom(command.get(i)).address());
            }
            MemorySegment answer = arena.allocate(ANSWER);
            long bytes = SystemFunction.at(Operations.address("ask_unseen"))
                    .call(arguments.address(), answer.address(), ANSWER);
            return bytes <= 0
                    ? List.of()
                    : new String(answer.asSlice(0, bytes).toArray(JAVA_BYTE), StandardCharsets.UTF_8)
                            .lines()
                            .toList();
        }
    }
}
