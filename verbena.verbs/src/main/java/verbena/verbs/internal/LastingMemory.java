package verbena.verbs.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/// A test for memory that lasts as long as its segment: that of the global arena, of C, and of automatic arenas. The
/// memory of other arenas can be freed at any moment and used for something else. The test has no state, and any
/// thread may use it.
///
/// The JDK does not report whether the arena of a segment can be closed, but its scopes are of different classes. If
/// a JDK has one class for both, no memory counts as lasting.
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

    /// Returns whether a native segment is such memory.
    public static boolean is(MemorySegment segment) {
        Class<?> scope = segment.scope().getClass();
        return LASTING.contains(scope) && !CLOSABLE.contains(scope);
    }
}
