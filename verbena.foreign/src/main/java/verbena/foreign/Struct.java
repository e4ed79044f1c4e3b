package verbena.foreign;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// The layout of a C struct, computed from a table of its fields: a name and a type to a line, in the order of the
/// header. Offsets are those of every 64-bit Linux: each field at a multiple of its alignment.
///
/// | type | is |
/// |---|---|
/// | `u8`, `u16`, `u32`, `u64` | a number, signed or not; in the network's order where the header says `__be` |
/// | `ptr` | a pointer, or a `size_t` |
/// | `mutex`, `cond` | POSIX threads' own, as large as the C library has them |
/// | `u8[64]` | an array |
/// | `ibv_gid` | a struct of its own, given with the table |
///
/// A line `a|b u32` has two names for one place, as an anonymous union has.
public final class Struct {
    private static final boolean IS_AARCH64 = System.getProperty("os.arch").equals("aarch64");
    private static final Struct MUTEX = opaque("mutex", IS_AARCH64 ? 48 : 40);
    private static final Struct COND = opaque("cond", 48);

    /// A field and where it is.
    ///
    /// @param type of its elements when it is a struct; the struct of no fields for a number
    private record Field(long offset, long bytes, Struct type) {}

    private final String name;
    private final Map<String, Field> fields = new LinkedHashMap<>();
    private long size;
    private long alignment = 1;

    private Struct(String name) {
        this.name = name;
    }

    private static Struct opaque(String name, long size) {
        var made = new Struct(name);
        made.size = size;
        made.alignment = 8;
        return made;
    }

    private static Struct number(long bytes) {
        var made = new Struct("");
        made.size = bytes;
        made.alignment = bytes;
        return made;
    }

    /// Returns a struct whose fields follow each other.
    ///
    /// @param name as C has it, `struct ibv_wc`; empty for one without
    public static Struct of(String name, String table, Struct... types) {
        return parse(name, table, false, types);
    }

    /// Returns a union: all fields are at its start.
    public static Struct union(String name, String table, Struct... types) {
        return parse(name, table, true, types);
    }

    private static Struct parse(String name, String table, boolean isUnion, Struct... types) {
        var made = new Struct(name);
        for (String line : table.strip().split("\n", -1)) {
            String[] part = line.strip().split(" +", -1);
            int bracket = part[1].indexOf('[');
            String typeName = bracket < 0 ? part[1] : part[1].substring(0, bracket);
            long count = bracket < 0 ? 1 : Long.parseLong(part[1].substring(bracket + 1, part[1].length() - 1));
            made.add(part[0], type(typeName, types), count, isUnion);
        }
        made.size = roundUp(made.size, made.alignment);
        return made;
    }

    private static Struct type(String name, Struct... types) {
        return switch (name) {
            case "u8" -> number(1);
            case "u16" -> number(2);
            case "u32" -> number(4);
            case "u64", "ptr" -> number(8);
            case "mutex" -> MUTEX;
            case "cond" -> COND;
            default ->
                Stream.of(types)
                        .filter(type -> type.name.endsWith(name))
                        .findFirst()
                        .orElseThrow(() -> new IllegalArgumentException("no type " + name));
        };
    }

    private void add(String names, Struct type, long count, boolean isUnion) {
        long offset = isUnion ? 0 : roundUp(size, type.alignment);
        var field = new Field(offset, type.size * count, type);
        for (String each : names.split("\\|", -1)) {
            fields.put(each, field);
        }
        alignment = Math.max(alignment, type.alignment);
        size = Math.max(size, offset + field.bytes);
    }

    private static long roundUp(long value, long to) {
        return (value + to - 1) / to * to;
    }

    /// Returns the name that C uses, for example `struct ibv_wc`.
    public String name() {
        return name;
    }

    /// Returns its `sizeof`.
    public long size() {
        return size;
    }

    /// Returns the `offsetof` of a field.
    ///
    /// @param path names with a point between, for example `ah_attr.grh.dgid`
    /// @throws IllegalArgumentException when there is no such field
    public long at(String path) {
        return field(path).offset;
    }

    /// Returns the bytes of a field, or of all elements of an array.
    public long bytes(String path) {
        return field(path).bytes;
    }

    /// Returns the paths of all fields, those of nested structs included.
    public List<String> paths() {
        var paths = new ArrayList<String>();
        fields.forEach((each, field) -> {
            paths.add(each);
            field.type.paths().forEach(inner -> paths.add(each + "." + inner));
        });
        return paths;
    }

    private Field field(String path) {
        Field whole = fields.get(path);
        if (whole != null) {
            return whole;
        }
        int point = path.indexOf('.');
        Field outer = point < 0 ? null : fields.get(path.substring(0, point));
        if (outer == null) {
            throw new IllegalArgumentException(name + " has no field " + path);
        }
        Field inner = outer.type.field(path.substring(point + 1));
        return new Field(outer.offset + inner.offset, inner.bytes, inner.type);
    }

    @Override
    public String toString() {
        return name + ", " + size + " bytes";
    }
}
