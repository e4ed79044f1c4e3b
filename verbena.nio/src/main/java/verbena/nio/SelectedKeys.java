package verbena.nio;

import java.nio.channels.SelectionKey;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/// The keys that a selector has found: keys may be removed, but only the selector adds them. A key knows its place,
/// so that no object is made for a key that comes and goes. By one thread at a time.
final class SelectedKeys extends AbstractSet<SelectionKey> {
    private final List<RdmaKey> all = new ArrayList<>();

    /// Adds a key, by the selector; false when it is there.
    boolean find(RdmaKey key) {
        if (key.place >= 0) {
            return false;
        }
        key.place = all.size();
        return all.add(key);
    }

    @Override
    public int size() {
        return all.size();
    }

    @Override
    public boolean contains(Object element) {
        return element instanceof RdmaKey key && key.place >= 0 && key.place < all.size() && all.get(key.place) == key;
    }

    /// Removes a key. The last key takes its place.
    @Override
    public boolean remove(Object element) {
        if (!contains(element)) {
            return false;
        }
        int place = ((RdmaKey) element).place;
        ((RdmaKey) element).place = -1;
        RdmaKey last = all.removeLast();
        if (place < all.size()) {
            all.set(place, last);
            last.place = place;
        }
        return true;
    }

    @Override
    public void clear() {
        for (int i = 0; i < all.size(); i++) {
            all.get(i).place = -1;
        }
        all.clear();
    }

    @Override
    public boolean add(SelectionKey element) {
        throw new UnsupportedOperationException("add");
    }

    /// Iterates from the last key to the first, so that a removal moves no key that is still to come.
    @Override
    public Iterator<SelectionKey> iterator() {
        return new Iterator<>() {
            private int next = all.size() - 1;
            private boolean isGiven;

            @Override
            public boolean hasNext() {
                return next >= 0;
            }

            @Override
            public SelectionKey next() {
                if (next < 0) {
                    throw new NoSuchElementException();
                }
                isGiven = true;
                return all.get(next--);
            }

            @Override
            public void remove() {
                if (!isGiven) {
                    throw new IllegalStateException("remove: no key was given");
                }
                isGiven = false;
                boolean _ = SelectedKeys.this.remove(all.get(next + 1));
            }
        };
    }
}
