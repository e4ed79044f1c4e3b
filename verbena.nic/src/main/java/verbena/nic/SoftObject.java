package verbena.nic;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.VerbsObject;

/// A node of the ownership tree: knows what it was made from and what was made from it. Safe for use by any thread.
abstract class SoftObject implements VerbsObject {
    /// One lock for all trees: held for moments only, and never while anything else happens.
    private static final Object TREE = new Object();

    private final String label;
    private final List<SoftObject> parents = new ArrayList<>();
    private final Set<SoftObject> children = new LinkedHashSet<>();
    private volatile boolean closed;

    /// @param label how messages call it, for example `queue pair 0x123456`
    SoftObject(String label) {
        this.label = label;
    }

    /// Says what this object was made from, and what then stays open as long as this.
    ///
    /// @throws InvalidStateException when one of them is closed; nothing was said then
    final void madeFrom(List<? extends SoftObject> from) {
        synchronized (TREE) {
            from.forEach(SoftObject::checkOpen);
            for (SoftObject parent : from) {
                if (parent.children.add(this)) {
                    parents.add(parent);
                }
            }
        }
    }

    final void madeFrom(SoftObject parent) {
        madeFrom(List.of(parent));
    }

    /// Exchanges a parent.
    final void moveTo(SoftObject from, SoftObject to) {
        synchronized (TREE) {
            to.checkOpen();
            from.children.remove(this);
            parents.remove(from);
            if (to.children.add(this)) {
                parents.add(to);
            }
        }
    }

    final void checkOpen() {
        if (closed) {
            throw new InvalidStateException(label + " is closed");
        }
    }

    final void checkOpen(String verb) {
        if (closed) {
            throw new InvalidStateException(verb + ": " + label + " is closed");
        }
    }

    final String label() {
        return label;
    }

    @Override
    public final boolean isClosed() {
        return closed;
    }

    @Override
    public final void close() {
        synchronized (TREE) {
            if (closed) {
                return;
            }
            if (!children.isEmpty()) {
                throw new InUseException(
                        label, children.stream().map(SoftObject::label).toList());
            }
            closed = true; // whoever posts or polls already sees it
        }
        boolean released = false;
        try {
            release();
            released = true;
        } finally {
            closed = released;
        }
        abandon();
    }

    /// Nothing that it was made from has to wait for it any more.
    final void abandon() {
        synchronized (TREE) {
            for (SoftObject parent : parents) {
                parent.children.remove(this);
            }
            parents.clear();
        }
    }

    /// Gives back what it holds. What it throws says why the object cannot be closed; it then stays open.
    abstract void release();

    @Override
    public String toString() {
        return label;
    }
}
