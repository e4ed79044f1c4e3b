package verbena.sim.explore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedCollection;
import java.util.SequencedMap;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import verbena.transport.EngineCounters;
import verbena.wire.Frame;

/// The state of a [SmallWorld] as 64 bits: all fields of its objects, and of those behind them. An object
/// counts by what is in it and by where it was met first, so two worlds that were made apart are equal. Times
/// count from now on, so that an hour later is the same state.
///
/// What no behaviour depends on can be left out, by name. That is for the world to say, because states that
/// differ only there are taken for one.
public final class Fingerprint {
    /// When worlds begin: far from all other numbers, so that a time can be told from them.
    public static final long BEGINNING = 1L << 60;

    /// What lies so near to now is a time: 19 hours.
    private static final long TIMES = 1L << 46;

    private static final long PRIME = 0x9E37_79B9_7F4A_7C15L;

    private final Set<Class<?>> ignored = new HashSet<>(Set.of(EngineCounters.class));
    private final Map<Class<?>, Set<String>> ignoredFields = new HashMap<>();
    /// How to read the objects of a class.
    private final Map<Class<?>, FieldReader> readers = new HashMap<>();

    private final IdentityHashMap<Object, Integer> met = new IdentityHashMap<>();
    private long now;
    private long hash;

    /// Leaves out fields of a class; all objects of the class when none is named.
    ///
    /// @param type by name, because it may be of another package
    public Fingerprint without(String type, String... names) {
        try {
            Class<?> named = Class.forName(type);
            for (String name : names) {
                var _ = named.getDeclaredField(name); // or throws
            }
            if (names.length == 0) {
                ignored.add(named);
            } else {
                ignoredFields.put(named, Set.of(names));
            }
            return this;
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(e);
        }
    }

    long of(SmallWorld world) {
        met.clear();
        hash = 0;
        now = world.now();
        object(world);
        return hash;
    }

    // ---- what readers show

    /// A number, which may be a time.
    public void number(long value) {
        long fromNow = value - now;
        if (fromNow > -TIMES && fromNow < TIMES) {
            mix(PRIME);
            mix(fromNow);
        } else {
            mix(value);
        }
    }

    /// An object; null is none.
    public void object(@Nullable Object object) {
        if (object == null) {
            mix(1);
            return;
        }
        FieldReader reader = readers.get(object.getClass());
        if (reader == null) {
            reader = reader(object);
            readers.put(object.getClass(), reader);
        }
        reader.read(object, this);
    }

    private void mix(long value) {
        long mixed = (hash ^ value) * PRIME;
        hash = mixed ^ mixed >>> 29;
    }

    // ---- kinds of objects

    /// What reads an object, and all others of its class.
    private FieldReader reader(Object object) {
        if (ignored.contains(object.getClass())) {
            return value(_ -> {});
        }
        return switch (object) {
            case Double _ -> value(value -> mix(Double.doubleToLongBits((double) value)));
            case Number _ -> value(value -> number(((Number) value).longValue()));
            case Boolean _, Character _, String _ -> value(value -> mix(value.hashCode()));
            case InetSocketAddress _ -> value(value -> mix(value.hashCode()));
            case AtomicBoolean _ -> value(value -> mix(((AtomicBoolean) value).get() ? 1 : 0));
            case AtomicReference<?> _ -> value(value -> object(((AtomicReference<?>) value).get()));
            case Enum<?> _ -> value(value -> mix(((Enum<?>) value).ordinal()));
            case Class<?> _ -> value(value -> mix(((Class<?>) value).getName().hashCode()));
            case Arena _, Thread _, ByteBuffer _ -> value(_ -> {}); // the buffer is that of a frame, which is read
            case MemorySegment _ -> once(memory -> bytes((MemorySegment) memory));
            case Frame _ -> once(frame -> frame((Frame) frame));
            case Map<?, ?> _ -> once(map -> map((Map<?, ?>) map));
            case Collection<?> _ -> once(all -> all(inOrder((Collection<?>) all)));
            case Object[] _ -> once(all -> all(Arrays.asList((Object[]) all)));
            case long[] _ -> once(all -> Arrays.stream((long[]) all).forEach(this::number));
            case int[] _ -> once(all -> mix(Arrays.hashCode((int[]) all)));
            case short[] _ -> once(all -> mix(Arrays.hashCode((short[]) all)));
            case byte[] _ -> once(all -> mix(Arrays.hashCode((byte[]) all)));
            case boolean[] _ -> once(all -> mix(Arrays.hashCode((boolean[]) all)));
            default -> fields(object.getClass());
        };
    }

    private interface Reading {
        void read(Object object);
    }

    /// Reads values: it does not matter which object has them.
    private static FieldReader value(Reading reading) {
        return new FieldReader() {
            @Override
            public void read(Object object, Fingerprint to) {
                reading.read(object);
            }
        };
    }

    /// Reads objects, each when it is met first.
    private FieldReader once(Reading reading) {
        return value(object -> {
            if (isNew(object)) {
                reading.read(object);
            }
        });
    }

    private boolean isNew(Object object) {
        Integer before = met.putIfAbsent(object, met.size());
        mix(before == null ? 2 : 3 + before);
        return before == null;
    }

    private FieldReader fields(Class<?> type) {
        var parts = new ArrayList<FieldReader>();
        for (Class<?> each = type; each != Object.class && each != Record.class; each = each.getSuperclass()) {
            if (!each.getName().startsWith("verbena.")) {
                throw new IllegalStateException("no way to read " + type + ": leave it out, or teach it here");
            }
            Set<String> without = ignoredFields.getOrDefault(each, Set.of());
            List<Field> fields = Arrays.stream(each.getDeclaredFields())
                    .filter(field -> !Modifier.isStatic(field.getModifiers()) && !without.contains(field.getName()))
                    .toList();
            parts.add(FieldReader.of(each, fields));
        }
        int name = type.getName().hashCode();
        FieldReader[] all = parts.toArray(FieldReader[]::new);
        return once(object -> {
            mix(name);
            for (FieldReader part : all) {
                part.read(object, this);
            }
        });
    }

    // ---- what is in them

    private void frame(Frame frame) {
        mix(frame.length);
        bytes(frame.packet());
    }

    private void bytes(MemorySegment memory) {
        long size = memory.byteSize();
        mix(size);
        if (!memory.scope().isAlive()) {
            return;
        }
        long at = 0;
        for (; at + Long.BYTES <= size; at += Long.BYTES) {
            mix(memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at));
        }
        for (; at < size; at++) {
            mix(memory.get(ValueLayout.JAVA_BYTE, at));
        }
    }

    private void all(Collection<?> all) {
        mix(all.size());
        for (Object each : all) {
            object(each);
        }
    }

    private void map(Map<?, ?> map) {
        mix(map.size());
        if (map instanceof SequencedMap<?, ?>) {
            map.forEach((key, value) -> { // to get a value might change the order
                object(key);
                object(value);
            });
            return;
        }
        for (Object key : sorted(map.keySet())) {
            object(key);
            object(map.get(key));
        }
    }

    private static Collection<?> inOrder(Collection<?> all) {
        return all instanceof Set<?> && !(all instanceof SequencedCollection<?>) ? sorted(all) : all;
    }

    /// What stands in an order of hashes, in another one.
    private static List<Object> sorted(Collection<?> all) {
        List<Object> sorted = new ArrayList<>(all);
        sorted.sort(Comparator.comparing(Fingerprint::text));
        return sorted;
    }

    private static String text(Object key) {
        String text = key.toString();
        if (text.endsWith("@" + Integer.toHexString(System.identityHashCode(key)))) {
            throw new IllegalStateException("no order among keys such as " + text);
        }
        return text;
    }
}
