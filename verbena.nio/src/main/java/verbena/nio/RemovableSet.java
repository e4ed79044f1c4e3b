package verbena.nio;

import java.util.AbstractSet;
import java.util.Collection;
import java.util.Iterator;
import java.util.Set;

/// A view of a set from which elements may be removed, but to which none may be added: a selected-key set.
final class RemovableSet<E> extends AbstractSet<E> {
    private final Set<E> set;

    RemovableSet(Set<E> set) {
        this.set = set;
    }

    @Override
    public int size() {
        return set.size();
    }

    @Override
    public boolean contains(Object element) {
        return set.contains(element);
    }

    @Override
    public Iterator<E> iterator() {
        return set.iterator();
    }

    @Override
    public boolean remove(Object element) {
        return set.remove(element);
    }

    @Override
    public void clear() {
        set.clear();
    }

    @Override
    public boolean add(E element) {
        throw new UnsupportedOperationException("add");
    }

    @Override
    public boolean addAll(Collection<? extends E> elements) {
        throw new UnsupportedOperationException("addAll");
    }
}
