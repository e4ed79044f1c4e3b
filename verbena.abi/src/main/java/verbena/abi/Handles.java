package verbena.abi;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.verbs.VerbsObject;

/// The objects of this library by the pointers that the program has for them. A pointer may stand for nothing,
/// because the program has destroyed the object or invented the pointer; or it stands for an object of another type.
/// Both are found out: `EINVAL`. Looking up takes no lock and allocates nothing. Any thread.
public final class Handles {
    /// No pointer has this value: a place that was never taken, and one that is free again.
    private static final long FREE = 0;

    private static final long GONE = 1;
    private static final VarHandle KEYS = MethodHandles.arrayElementVarHandle(long[].class);

    /// Open addressing with linear probing. An object is written before its key.
    private static final class Table {
        final long[] keys;
        final @Nullable Object[] objects;

        Table(int slots) {
            keys = new long[slots];
            objects = new @Nullable Object[slots];
        }

        int slot(long key) {
            int at = (int) ((key * 0x9E37_79B9_7F4A_7C15L) >>> 32) & (keys.length - 1);
            while (true) {
                long found = (long) KEYS.getAcquire(keys, at);
                if (found == key || found == FREE) {
                    return at;
                }
                at = (at + 1) & (keys.length - 1);
            }
        }

        void put(long key, Object object) {
            int at = slot(key);
            assert objects[at] == null : "0x" + Long.toHexString(key) + " stands for " + objects[at];
            objects[at] = object;
            KEYS.setRelease(keys, at, key);
        }
    }

    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final ConcurrentHashMap<VerbsObject, Long> POINTERS = new ConcurrentHashMap<>();
    private static volatile Table table = new Table(1_024);
    // Places that are not FREE, and how many of them are in use.
    private static int taken;
    private static int used;

    private Handles() {}

    /// Registers a handle by its pointer, and the pointer by the handle's object.
    public static <H extends Handle> H put(H handle) {
        handle.putNumber();
        put(handle.pointer, handle);
        POINTERS.put(handle.object(), handle.pointer);
        return handle;
    }

    /// Registers a handle by its pointer, as a further one of its object.
    public static <H extends Handle> H putOther(H handle) {
        handle.putNumber();
        put(handle.pointer, handle);
        return handle;
    }

    public static void remove(Handle handle) {
        POINTERS.remove(handle.object(), handle.pointer);
        remove(handle.pointer);
    }

    /// Returns the pointer that stands for an object; 0 when none does.
    public static long pointerOf(@Nullable VerbsObject object) {
        return object == null ? 0 : POINTERS.getOrDefault(object, 0L);
    }

    public static void put(long pointer, Object object) {
        assert pointer > GONE : pointer + " is no pointer";
        LOCK.lock();
        try {
            if ((taken + 1) * 2 > table.keys.length) {
                rebuild(used * 4 > table.keys.length ? table.keys.length * 2 : table.keys.length);
            }
            table.put(pointer, object);
            taken++;
            used++;
        } finally {
            LOCK.unlock();
        }
    }

    private static void rebuild(int slots) {
        assert LOCK.isHeldByCurrentThread();
        var next = new Table(slots);
        for (int i = 0; i < table.keys.length; i++) {
            Object object = table.objects[i];
            if (object != null) {
                next.put(table.keys[i], object);
            }
        }
        taken = used;
        assert taken * 2 < slots : taken + " of " + slots + " places are taken";
        table = next;
    }

    /// Removes a pointer, which stands for nothing from now on.
    public static void remove(long pointer) {
        LOCK.lock();
        try {
            int at = table.slot(pointer);
            if (table.objects[at] != null) {
                table.objects[at] = null;
                KEYS.setRelease(table.keys, at, GONE);
                used--;
                assert used >= 0;
            }
        } finally {
            LOCK.unlock();
        }
    }

    /// Returns all objects of a type that exist now.
    public static <T> List<T> all(Class<T> type) {
        return Arrays.stream(table.objects)
                .filter(type::isInstance)
                .map(type::cast)
                .toList();
    }

    /// Returns the object of a pointer.
    ///
    /// @throws IllegalArgumentException when that is nothing, or no `type`
    public static <T> T get(long pointer, Class<T> type) {
        T object = find(pointer, type);
        if (object == null) {
            throw new IllegalArgumentException(
                    "0x" + Long.toHexString(pointer) + " is no " + type.getSimpleName() + ", or not any more");
        }
        return object;
    }

    /// Returns the same, for calls that the kernel carries out for a card.
    ///
    /// @throws OverwrittenException when the program has changed what the kernel goes by
    public static <H extends Handle> H byNumber(long pointer, Class<H> type) {
        H handle = get(pointer, type);
        handle.checkNumber();
        return handle;
    }

    /// Returns the same; null when it stands for nothing, or no `type`.
    public static <T> @Nullable T find(long pointer, Class<T> type) {
        Table now = table;
        Object object = now.objects[now.slot(pointer)];
        return pointer > GONE && type.isInstance(object) ? type.cast(object) : null;
    }
}
