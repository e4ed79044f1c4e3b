package verbena.sim.model;

import java.util.ArrayList;
import java.util.List;
import verbena.sim.model.Refusal.Reasons;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;

/// What every verbs object has in common: it keeps in use what it was made from, until it is closed.
public abstract class ModelObject {
    private final List<ModelObject> madeFrom = new ArrayList<>();
    private int users;
    private boolean closed;

    ModelObject(ModelObject... madeFrom) {
        for (ModelObject parent : madeFrom) {
            use(parent);
        }
    }

    final void use(ModelObject parent) {
        if (!madeFrom.contains(parent)) {
            madeFrom.add(parent);
            parent.users++;
        }
    }

    final void release(ModelObject parent) {
        if (madeFrom.remove(parent)) {
            parent.users--;
        }
    }

    public final boolean isClosed() {
        return closed;
    }

    /// Nothing can be done with a closed object.
    final List<Refusal> mayBeUsed() {
        return new Reasons().when(closed, InvalidStateException.class, "closed").list();
    }

    /// Closing twice is allowed; closing what others need is not.
    public List<Refusal> mayClose() {
        return new Reasons()
                .when(!closed && users > 0, InUseException.class, "in use")
                .list();
    }

    /// Gives the object back.
    public final void close() {
        if (!closed) {
            closed = true;
            end();
            List.copyOf(madeFrom).forEach(this::release);
        }
    }

    /// What else ends with it.
    abstract void end();
}
