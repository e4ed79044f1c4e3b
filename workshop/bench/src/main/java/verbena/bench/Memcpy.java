package verbena.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.stream.Stream;
import verbena.tools.report.Result;

/// The bound of all copies: memcpy(3) by one thread, from one buffer to another, both in its caches as far as they
/// fit.
final class Memcpy implements Contender {
    static final String NAME = "memcpy by one thread";
    private static final int PAGE = 4_096;
    private static final int FIRST = 1_000;
    private static final int TURNS = 16;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<Entry> start() {
        MethodHandle memcpy = Linker.nativeLinker()
                .downcallHandle(
                        Linker.nativeLinker().defaultLookup().findOrThrow("memcpy"),
                        FunctionDescriptor.of(
                                ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG),
                        Linker.Option.critical(false));
        return Stream.of(Sizes.LARGE, Sizes.HUGE)
                .map(size -> new Entry(NAME, size, FIRST, (seconds, _) -> copy(memcpy, size, seconds)))
                .toList();
    }

    private static Result copy(MethodHandle memcpy, int size, double seconds) throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(size, PAGE).fill((byte) 1);
            MemorySegment to = arena.allocate(size, PAGE).fill((byte) 2);
            long start = System.nanoTime();
            long end = start + (long) (seconds * 1e9);
            long copies = 0;
            do {
                for (int i = 0; i < TURNS; i++) {
                    MemorySegment _ = (MemorySegment) memcpy.invokeExact(to, from, (long) size);
                }
                copies += TURNS;
            } while (System.nanoTime() < end);
            return Figures.stream(size, copies, (System.nanoTime() - start) / 1e9);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new Child.Failed("memcpy: " + e);
        }
    }

    @Override
    public void close() {}
}
