package verbena.verbs.spi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import verbena.verbs.Preview;

/// Memory that lasts as long as its segment: of the global arena, which is also that of a C
/// program's memory, and of automatic arenas. The memory of other arenas can be gone at any moment, and used for
/// something else.
///
/// The JDK does not say whether the arena of a segment can be closed. Its scopes are of different classes, though;
/// if a JDK has the same class for both, no memory is called lasting.
@Preview
public final class LastingMemory {
    private static final Set<Class<?>> CLOSABLE = closable();
    private static final Set<Class<?>> LASTING =
            Set.of(Arena.global().scope().getClass(), Arena.ofAuto().scope().getClass());

    private LastingMemory() {}

    private static Set<Class<?>> closable() {
        try (Arena shared = Arena.ofShared();
                Arena confined = Arena.ofConfined()) {
            return Set.of(shared.scope().getClass(), confined.scope().getClass());
        }
    }

    /// Returns whether a native segment is such memory. Any thread.
    public static boolean is(MemorySegment segment) {
        Class<?> scope = segment.scope().getClass();
        return LASTING.contains(scope) && !CLOSABLE.contains(scope);
    }
}
