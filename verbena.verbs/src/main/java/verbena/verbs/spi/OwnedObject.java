package verbena.verbs.spi;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Preview;
import verbena.verbs.VerbsObject;

/// The base of a provider's objects. Each knows its parents, from which it was made, and its children. It cannot be
/// closed while a child is open. Any thread may use it.
///
/// # Closing
///
/// One thread closes an object: it calls [#release()]. From that moment no verb of the object begins, and nothing is
/// made from it ([#checkOpen()]). It counts as closed when `release` has returned, and then its parents can be
/// closed. A thread that closes it meanwhile waits. If `release` throws, the object is open again, and the waiting
/// thread closes it itself.
///
/// # Order of locks
///
/// The lock of the trees is the innermost of all. A thread holds it briefly, and calls and waits for nothing under
/// it. A thread that waits for another one to close an object keeps its own locks. The closing thread may need them;
/// [#help()] resolves that.
///
/// @since 0.1
@Preview
public abstract class OwnedObject implements VerbsObject {
    /// One lock for all trees. A thread holds it briefly, and calls and waits for nothing meanwhile.
    private static final Object TREE = new Object();
    /// Children in a list. More are in a set, because each leaves by itself.
    private static final int FEW = 8;
    /// The time that a thread which has to help waits before it looks again.
    private static final long HELP_MILLIS = 1;

    /// One attempt to close an object.
    private record Closing(Thread by, CountDownLatch ended) {}

    private volatile String label;
    // Changed under TREE. Lists that are replaced are smaller than lists that grow.
    private List<OwnedObject> parents = List.of();
    private Collection<OwnedObject> children = List.of();
    private @Nullable Closing closing;
    /// Returns whether it is neither closed nor being closed.
    private volatile boolean open = true;
    private volatile boolean closed;
    private volatile @Nullable Object attachment;

    /// @param label name of the object in messages, for example `queue pair 0x123456`
    protected OwnedObject(String label) {
        this.label = label;
    }

    /// Adds parents, which cannot be closed before this object. Earlier parents stay.
    ///
    /// @throws InvalidStateException when one of them is closed; nothing was added
    protected final void madeFrom(List<? extends OwnedObject> from) {
        synchronized (TREE) {
            from.forEach(OwnedObject::checkOpen);
            for (OwnedObject parent : from) {
                if (parent.adopt(this)) {
                    parents = with(parents, parent);
                }
            }
        }
    }

    /// Returns whether `child` was not one before.
    private boolean adopt(OwnedObject child) {
        if (children.contains(child)) {
            return false;
        }
        if (children instanceof List<OwnedObject> few && few.size() < FEW) {
            children = with(few, child);
            return true;
        }
        if (children instanceof List<OwnedObject>) {
            children = new LinkedHashSet<>(children);
        }
        return children.add(child);
    }

    private void dismiss(OwnedObject child) {
        if (children instanceof List<OwnedObject> few) {
            children = without(few, child);
        } else {
            boolean _ = children.remove(child);
        }
    }

    private static List<OwnedObject> with(List<OwnedObject> all, OwnedObject more) {
        OwnedObject[] longer = all.toArray(new OwnedObject[all.size() + 1]);
        longer[all.size()] = more;
        return List.of(longer);
    }

    private static List<OwnedObject> without(List<OwnedObject> all, OwnedObject one) {
        var left = new ArrayList<>(all);
        boolean _ = left.remove(one);
        return List.copyOf(left);
    }

    /// Adds a parent, which cannot be closed before this object.
    ///
    /// @throws InvalidStateException when it is closed
    protected final void madeFrom(OwnedObject parent) {
        madeFrom(List.of(parent));
    }

    /// Removes a parent, which need not wait for this object any more.
    protected final void leave(OwnedObject parent) {
        synchronized (TREE) {
            parent.dismiss(this);
            parents = without(parents, parent);
        }
    }

    /// Checks that the object is open.
    ///
    /// @throws InvalidStateException when it is closed or being closed
    public final void checkOpen() {
        if (!open) {
            throw new InvalidStateException(label + " is closed");
        }
    }

    /// Checks that the object is open.
    ///
    /// @param verb that was called, for the message
    /// @throws InvalidStateException when it is closed or being closed
    public final void checkOpen(String verb) {
        if (!open) {
            throw new InvalidStateException(verb + ": " + label + " is closed");
        }
    }

    /// Stores an object of the program's, as [verbena.verbs.QueuePair#attach] does.
    public final void attach(@Nullable Object to) {
        attachment = to;
    }

    /// Returns the object that was attached last; null when there is none.
    public final @Nullable Object attachment() {
        return attachment;
    }

    /// Returns the name of the object in messages.
    public final String label() {
        return label;
    }

    /// Sets the name of the object in messages, once its number is known.
    protected final void label(String to) {
        label = to;
    }

    /// Returns whether the object is neither closed nor being closed.
    public final boolean isOpen() {
        return open;
    }

    @Override
    public final boolean isClosed() {
        return closed;
    }

    /// Closes the object as [VerbsObject#close()] says. A call from within [#release()] returns at once, before the
    /// object is closed.
    @Override
    public final void close() {
        var mine = new Closing(Thread.currentThread(), new CountDownLatch(1));
        for (Closing others = begin(mine); others != mine; others = begin(mine)) {
            if (others == null || others.by.equals(mine.by)) {
                return; // closed, or this thread is in the middle of it
            }
            await(others.ended);
        }
        boolean released = false;
        try {
            release();
            released = true;
        } finally {
            end(released);
            mine.ended.countDown();
        }
    }

    /// Returns the attempt that is under way: `mine` when there was none; null when the object is closed.
    private @Nullable Closing begin(Closing mine) {
        synchronized (TREE) {
            if (closed || closing != null) {
                return closed ? null : closing;
            }
            if (!children.isEmpty()) {
                throw new InUseException(
                        "close",
                        label,
                        children.stream().map(OwnedObject::label).toList());
            }
            open = false; // threads that post or poll see it from now on
            closing = mine;
            return mine;
        }
    }

    private void end(boolean released) {
        synchronized (TREE) {
            closing = null;
            closed = released;
            open = !released;
            if (released) {
                abandon();
            }
        }
    }

    private void await(CountDownLatch ended) {
        boolean interrupted = false;
        while (ended.getCount() > 0) {
            try {
                if (help()) {
                    ended.await(HELP_MILLIS, TimeUnit.MILLISECONDS);
                } else {
                    ended.await();
                }
            } catch (InterruptedException e) {
                interrupted = true; // closing is not interrupted, but the thread is to know
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// Called when this thread waits for another one that closes the object. A device that calls the program back
    /// does here what the other thread may be waiting for this one to do.
    ///
    /// @return whether there may be more to do in a moment; false when nothing of the device waits for this thread
    /// @throws InvalidStateException when this thread must not wait, because the other needs it to return first
    protected boolean help() {
        return false;
    }

    /// Detaches the object from all its parents, so that they can be closed.
    protected final void abandon() {
        synchronized (TREE) {
            for (OwnedObject parent : parents) {
                parent.dismiss(this);
            }
            parents = List.of();
        }
    }

    /// Frees the resources of the object. Called by one thread, once for each attempt to close. An exception means
    /// that the object cannot be closed, and it stays open.
    protected abstract void release();

    @Override
    public String toString() {
        return label;
    }
}
