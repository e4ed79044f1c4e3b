package verbena.check.litmus;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import verbena.check.litmus.Program.Word;
import verbena.check.litmus.Step.Verb;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.UnsupportedException;

/// A node of a program that runs: a device that is open, and one region with the node's words. Each array begins a
/// cache line. A value's two digits lie in the two halves of its word.
final class TrialNode implements AutoCloseable {
    private static final int LINE = 64;
    private static final int DIGIT = 4;
    private static final int HALF_BITS = 32;
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    final Context context;
    final ProtectionDomain domain;
    final MemoryRegion region;
    private final Map<String, Long> offsets = new HashMap<>();
    private final Map<String, Integer> initial = new LinkedHashMap<>();
    /// The offset behind the words, where requests have memory that nothing else uses.
    private final long spare;

    /// @param spareWords the words of memory for requests
    /// @param verbs of the program, each of which the device needs to have
    TrialNode(Device device, Program program, String node, int spareWords, Set<Verb> verbs) {
        String array = "";
        long end = 0;
        for (Word word : program.words().values()) {
            if (word.node().equals(node)) {
                end = word.array().equals(array) ? end : (end + LINE - 1) / LINE * LINE;
                array = word.array();
                offsets.put(word.name(), end);
                initial.put(word.name(), word.initial());
                end += Long.BYTES;
            }
        }
        spare = (end + LINE - 1) / LINE * LINE;
        Set<Access> access = EnumSet.copyOf(Access.remoteAll());
        if (verbs.contains(Verb.FLUSH)) {
            access.add(Access.FLUSH_GLOBAL);
        }
        if (program.queues().values().stream().anyMatch(Program.Queue::relaxed)) {
            access.add(Access.RELAXED_ORDERING);
        }
        context = device.open();
        try {
            verbs.forEach(verb -> require(verb, context));
            domain = context.allocateProtectionDomain();
        } catch (RuntimeException e) {
            throw after(e, context::close);
        }
        try {
            region = domain.allocate(spare + (long) Long.BYTES * spareWords, access);
        } catch (RuntimeException e) {
            throw after(e, domain::close, context::close);
        }
    }

    private static void require(Verb verb, Context context) {
        verb.capability().filter(each -> !context.attributes().has(each)).ifPresent(each -> {
            throw new UnsupportedException(
                    verb.toString(), each, context.device().name());
        });
    }

    /// Closes what was made before a failure.
    ///
    /// @return the failure, which has those of closing
    static RuntimeException after(RuntimeException failure, Runnable... closes) {
        for (Runnable each : closes) {
            try {
                each.run();
            } catch (RuntimeException e) {
                failure.addSuppressed(e);
            }
        }
        return failure;
    }

    void reset() {
        initial.forEach((word, value) -> WORD.setVolatile(region.segment(), offset(word), encoded(value)));
    }

    long offset(String word) {
        return Program.known(offsets, word);
    }

    long spareOffset(int word) {
        return spare + (long) Long.BYTES * word;
    }

    int load(String word, boolean plain) {
        MemorySegment memory = region.segment();
        long at = offset(word);
        return decoded(plain ? memory.get(ValueLayout.JAVA_LONG, at) : (long) WORD.getAcquire(memory, at));
    }

    void store(String word, int value, boolean plain) {
        MemorySegment memory = region.segment();
        long at = offset(word);
        if (plain) {
            memory.set(ValueLayout.JAVA_LONG, at, encoded(value));
        } else {
            WORD.setRelease(memory, at, encoded(value));
        }
    }

    int add(String word, int number) {
        return decoded((long) WORD.getAndAdd(region.segment(), offset(word), encoded(number)));
    }

    static long encoded(int value) {
        return ((long) (value >> DIGIT) << HALF_BITS) | (value & (Value.HALF - 1));
    }

    static int decoded(long word) {
        return ((int) (word >> HALF_BITS) << DIGIT) | (int) word;
    }

    @Override
    public void close() {
        region.close();
        domain.close();
        context.close();
    }
}
