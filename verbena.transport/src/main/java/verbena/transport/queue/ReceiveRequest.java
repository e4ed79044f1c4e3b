package verbena.transport.queue;

import verbena.transport.memory.ScatterList;

/// A posted receive: a slot of a receive queue, or the copy that a message is being received into.
public final class ReceiveRequest {
    public long wrId;
    public final ScatterList scatter;

    public ReceiveRequest(int maxSge) {
        scatter = new ScatterList(maxSge);
    }
}
