package verbena.sim.traffic;

import org.jspecify.annotations.Nullable;
import verbena.sim.traffic.Request.Kind;

/// A message of an unreliable service as the model keeps it for one epoch; used again and again.
final class Message {
    /// The number of the message among those of an end within the epoch.
    final int index;
    Kind kind = Kind.SEND;
    int place;
    int length;
    int immediate;
    /// The end that is to receive it; null for all that are attached to the group.
    @Nullable
    UnreliableEnd to;
    /// The ends that have received it: a bit for each.
    int receivedBy;

    Message(int index) {
        this.index = index;
    }

    @Override
    public String toString() {
        return "message " + index + " (" + kind + ", " + length + " bytes of the tape from " + place + ")";
    }
}
