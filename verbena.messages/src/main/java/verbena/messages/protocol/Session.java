package verbena.messages.protocol;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The frames of a [Peer] over [Rails]: what an end does with a frame that has come, without input and output.
/// Guarded by the worker.
public final class Session {
    private final Peer peer;
    private final Rails rails;
    /// The rails that the other end has told to be lost, a bit for each, until they are taken.
    private int told;

    public Session(Peer peer, Rails rails) {
        this.peer = peer;
        this.rails = rails;
    }

    /// Takes a frame that has come by a rail; its memory can be used again when this returns. What is wrong with it
    /// is the answer, and ends the peer; null when all is well. Of a lost rail, or of a lost peer, it means
    /// nothing.
    ///
    /// @param behind the frame without the header that it has when there are several rails
    /// @param bytes of the frame; the memory may be longer
    public @Nullable String onFrame(int rail, MemorySegment whole, MemorySegment behind, long bytes) {
        if (peer.isLost() || !rails.isUsable(rail)) {
            return null;
        }
        if (!rails.areSeveral()) {
            return peer.onFrame(whole, bytes);
        }
        if (Rails.isTold(whole, bytes)) {
            return onTold(whole);
        }
        String wrong = rails.onFrame(rail, whole, bytes);
        return wrong == null ? peer.onFrame(behind, bytes - Rails.HEADER_BYTES) : wrong;
    }

    private @Nullable String onTold(MemorySegment frame) {
        int before = usable();
        String wrong = rails.onTold(frame);
        if (wrong == null) {
            told |= before & ~usable();
        }
        return wrong;
    }

    private int usable() {
        int usable = 0;
        for (int i = 0; i < rails.count(); i++) {
            usable |= rails.isUsable(i) ? 1 << i : 0;
        }
        return usable;
    }

    /// Takes the rails that were lost because the other end has listed them: a bit for each, each once.
    public int takeTold() {
        int taken = told;
        told = 0;
        return taken;
    }
}
