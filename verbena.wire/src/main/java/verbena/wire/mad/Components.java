package verbena.wire.mad;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// The components of a record in the order of its component mask (IBTA 15.2.1.1): bit n of the mask is row n.
public final class Components {
    private final List<List<Field>> rows = new ArrayList<>();

    Components() {}

    /// Adds the next component: these fields together. A component without fields is reserved, and matches
    /// anything.
    Components row(Field... fields) {
        rows.add(List.of(fields));
        return this;
    }

    /// Adds the next component, which is wider than a number.
    Components row(List<Field> fields) {
        rows.add(fields);
        return this;
    }

    /// Returns the number of components.
    public int size() {
        return rows.size();
    }

    /// Returns whether the record matches the query in the components of the mask. Bits of the mask that no
    /// component has are ignored.
    public boolean matches(long mask, MemorySegment query, MemorySegment record) {
        for (int bit = 0; bit < rows.size(); bit++) {
            if ((mask >>> bit & 1) != 0) {
                for (Field field : rows.get(bit)) {
                    if (field.get(query) != field.get(record)) {
                        return false;
                    }
                }
            }
        }
        return true;
    }
}
