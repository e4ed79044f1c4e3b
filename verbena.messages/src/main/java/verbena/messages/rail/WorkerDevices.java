package verbena.messages.rail;

import java.util.ArrayList;
import java.util.List;
import verbena.verbs.Context;

/// The devices of a worker, a rail for each, and what they share: the memory to send from, and the memory of long
/// messages. All is claimed when it is made.
public final class WorkerDevices {
    public final Slots slots;
    public final List<Rail> rails = new ArrayList<>();
    public final LongMessages longMessages;
    public final FrameInHand frame = new FrameInHand();

    /// @param toucher the thread that touches the memory of programs
    public WorkerDevices(List<Context> devices, int maxPeers, int window, int frameBytes, Thread toucher) {
        int count = devices.size();
        int told = count > 1 ? count + 1 : 0; // of lost rails, and of the token
        int requests = Remote.SENDS + Transfers.REQUESTS + Operations.UNDER_WAY + told + 1; // and of the end
        var sizes = new Rail.Sizes(maxPeers, window, requests);
        this.slots = new Slots(maxPeers * window + Rail.SPARE, frameBytes);
        boolean done = false;
        try {
            for (Context each : devices) {
                rails.add(new Rail(rails.size(), count, each, slots, sizes));
            }
            done = true;
        } finally {
            if (!done) {
                closeQueues();
                free();
            }
        }
        this.longMessages = new LongMessages(rails, toucher);
    }

    /// Ends the waits at the completion queues for ever. After all connections.
    public void closeQueues() {
        rails.forEach(Rail::closeQueues);
    }

    /// Gives everything back, when no thread reads any more.
    public void close() {
        longMessages.close();
        free();
    }

    private void free() {
        rails.forEach(Rail::closeMemory);
        rails.forEach(Rail::free);
        slots.close();
    }
}
