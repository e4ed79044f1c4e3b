package verbena.sim.traffic;

/// The requests that one end has posted, by number, in a ring; used again when they have ended. In this order:
/// succeeded <= ended <= posted.
final class RequestRing {
    private final Request[] requests;
    /// Messages posted, by number in this ring.
    private final Request[] messages;
    private long succeeded;
    private long ended;
    private long posted;
    private long messagesPosted;

    /// @param slots requests that can be outstanding
    RequestRing(int slots) {
        requests = new Request[slots];
        messages = new Request[slots];
        for (int i = 0; i < slots; i++) {
            requests[i] = new Request();
            messages[i] = requests[i];
        }
    }

    long succeeded() {
        return succeeded;
    }

    long ended() {
        return ended;
    }

    long posted() {
        return posted;
    }

    long messagesPosted() {
        return messagesPosted;
    }

    boolean hasRoom() {
        return posted - ended < requests.length;
    }

    /// Returns whether nothing is outstanding.
    boolean isEmpty() {
        return ended == posted;
    }

    /// Returns whether a request has failed; all later ones will.
    boolean hasFailed() {
        return succeeded != ended;
    }

    Request at(long number) {
        return requests[(int) (number % requests.length)];
    }

    Request message(long number) {
        return messages[(int) (number % messages.length)];
    }

    Request oldest() {
        return at(ended);
    }

    /// Returns the request that is posted next, to be filled.
    Request next() {
        Request request = at(posted);
        request.number = posted;
        return request;
    }

    /// Registers the next request as a message.
    void nameMessage(Request request) {
        request.message = messagesPosted;
        messages[(int) (messagesPosted++ % messages.length)] = request;
    }

    /// Counts the next request as posted.
    void post() {
        posted++;
        assert posted - ended <= requests.length;
    }

    void succeed() {
        assert succeeded == ended && ended < posted;
        succeeded++;
        ended++;
    }

    void fail() {
        assert ended < posted;
        ended++;
    }

    void forgetAll() {
        succeeded = ended = posted = 0;
        messagesPosted = 0;
    }

    /// Returns whether an outstanding request carries this key of a window.
    boolean names(int key) {
        for (long i = ended; i < posted; i++) {
            if (at(i).key == key) {
                return true;
            }
        }
        return false;
    }
}
