package verbena.verbs.spi;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.VerbsObject;

/// What a provider's objects have in common: each knows what it was made from and what was made from it, and is not
/// closed while that is open. Safe for use by any thread.
public abstract class OwnedObject implements VerbsObject {
    /// One lock for all trees: held for moments only, and never while anything else happens.
    private static final Object TREE = new Object();

    private volatile String label;
    private final List<OwnedObject> parents = new ArrayList<>();
    private final Set<OwnedObject> children = new LinkedHashSet<>();
    private volatile boolean closed;

    /// @param label how messages call it, for example `queue pair 0x123456`
    protected OwnedObject(String label) {
        this.label = label;
    }

    /// Says what this object was made from, and what then stays open as long as this.
    ///
    /// @throws InvalidStateException when one of them is closed; nothing was said then
    protected final void madeFrom(List<? extends OwnedObject> from) {
        synchronized (TREE) {
            from.forEach(OwnedObject::checkOpen);
            for (OwnedObject parent : from) {
                if (parent.children.add(this)) {
                    parents.add(parent);
                }
            }
        }
    }

    /// The same of one.
    protected final void madeFrom(OwnedObject parent) {
        madeFrom(List.of(parent));
    }

    /// Exchanges a parent.
    protected final void moveTo(OwnedObject from, OwnedObject to) {
        synchronized (TREE) {
            to.checkOpen();
            from.children.remove(this);
            parents.remove(from);
            if (to.children.add(this)) {
                parents.add(to);
            }
        }
    }

    /// Nothing when it is open.
    ///
    /// @throws InvalidStateException when it is closed
    public final void checkOpen() {
        if (closed) {
            throw new InvalidStateException(label + " is closed");
        }
    }

    /// The same.
    ///
    /// @param verb that was called, for the message
    /// @throws InvalidStateException when it is closed
    public final void checkOpen(String verb) {
        if (closed) {
            throw new InvalidStateException(verb + ": " + label + " is closed");
        }
    }

    /// How messages call it.
    public final String label() {
        return label;
    }

    /// Messages call it so from now on: its number is known.
    protected final void label(String to) {
        label = to;
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
                        label, children.stream().map(OwnedObject::label).toList());
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
    protected final void abandon() {
        synchronized (TREE) {
            for (OwnedObject parent : parents) {
                parent.children.remove(this);
            }
            parents.clear();
        }
    }

    /// Gives back what it holds. What it throws says why the object cannot be closed; it then stays open.
    protected abstract void release();

    @Override
    public String toString() {
        return label;
    }
}
