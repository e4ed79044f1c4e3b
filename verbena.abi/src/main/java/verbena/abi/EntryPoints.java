package verbena.abi;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The calls of C that a package answers: the static methods of some of its classes, without the private ones.
public final class EntryPoints {
    private final MethodHandles.Lookup lookup;
    private final Map<String, Method> byName = new HashMap<>();

    /// @param lookup of the package
    public EntryPoints(MethodHandles.Lookup lookup, Class<?>... types) {
        this.lookup = lookup;
        for (Class<?> type : types) {
            for (Method method : type.getDeclaredMethods()) {
                if (Modifier.isStatic(method.getModifiers()) && !Modifier.isPrivate(method.getModifiers())) {
                    byName.put(method.getName(), method);
                }
            }
        }
    }

    /// Returns the method of this name; null when there is none.
    @Nullable
    public MethodHandle find(String name) throws IllegalAccessException {
        Method method = byName.get(name);
        return method == null ? null : lookup.unreflect(method);
    }
}
