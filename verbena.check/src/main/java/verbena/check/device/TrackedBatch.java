package verbena.check.device;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import verbena.check.CallPlace;
import verbena.check.Checker;
import verbena.check.TrackedRequest;

/// The requests of a batch that is being written. By the thread that has begun the batch.
final class TrackedBatch {
    private final Checker checker;
    private final List<TrackedRequest> requests = new ArrayList<>(1);

    TrackedBatch(Checker checker) {
        this.checker = checker;
    }

    void begin(TrackedRequest request) {
        requests.add(request);
    }

    /// Returns the requests so far.
    List<TrackedRequest> all() {
        return List.copyOf(requests);
    }

    /// Takes a step on the request that was begun last, and notes it. A device that refuses a step drops the request,
    /// and so does the batch. When no request was begun there is nothing to note: the device has said so.
    void step(Runnable below, Consumer<TrackedRequest> note) {
        boolean done = false;
        try {
            below.run();
            done = true;
        } finally {
            if (!done && !requests.isEmpty()) {
                requests.removeLast();
            }
        }
        if (!requests.isEmpty()) {
            note.accept(requests.getLast());
        }
    }

    /// Hands the requests over.
    ///
    /// @param begin notes them at their queue
    /// @param below hands them to the device
    /// @param withdraw takes the note back when the device refuses them
    int submit(
            Consumer<List<TrackedRequest>> begin,
            ToIntFunction<List<TrackedRequest>> below,
            Consumer<List<TrackedRequest>> withdraw) {
        List<TrackedRequest> posted = all();
        CallPlace place = CallPlace.here();
        posted.forEach(request -> request.place(place));
        begin.accept(posted);
        checker.onPost(posted);
        boolean done = false;
        try {
            int handed = below.applyAsInt(posted);
            done = true;
            return handed;
        } finally {
            requests.clear();
            if (!done) {
                withdraw.accept(posted);
                checker.onDrop(posted);
            }
        }
    }

    /// Forgets the requests that were not handed over.
    void clear() {
        requests.clear();
    }
}
