package verbena.transport.rc;

import org.jspecify.annotations.Nullable;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.spi.SendOperation;
import verbena.wire.ib.Psn;

/// The position of a [Requester] in its send queue, and in the sequence of PSNs. Engine-confined.
///
/// Positions and PSNs stand in this order, oldest first ([#assertOrder()]):
///
/// ```
/// head        oldest request of the application that is not done
/// oldest      the same, or the keep-alive before it    unacked    oldest PSN without an answer; lies in oldest
/// current     request that is being sent               next       PSN that is sent next
/// started     first request without PSNs               sent       PSN after the last that was ever sent
/// ```
///
/// A request gets its PSNs when its first packet is written, not earlier: a request that waits has none, so that no
/// answer can be meant for it. Going back is nothing but setting `current` to `oldest` and `next` to `unacked`.
///
/// A keep-alive is a WRITE of no bytes in a slot of its own, at the position before `head`. It begins only when no
/// request is under way, so it is always the oldest; all other rules are those of any WRITE.
final class SendCursor {
    private static final long NOWHERE = -1;

    private final SendQueue sends;
    /// The request of keep-alives; made for the first.
    private @Nullable SendRequest keepAlive;

    private long head;
    private long oldest;
    private long current;
    private long started;
    /// Packets of `current` that this pass has sent.
    private int packet;

    private int unacked;
    private int next;
    private int sent;

    /// The request that failed on this side and waits for those before it.
    private long stalled = NOWHERE;

    SendCursor(SendQueue sends) {
        this.sends = sends;
    }

    // ---- life

    /// Begins: the first packet has this PSN.
    void start(int psn) {
        unacked = next = sent = psn;
    }

    /// Stops: nothing is under way any more.
    void stop() {
        unacked = next = sent;
        moveTo(head);
    }

    /// Moves to `position`: all requests before it are done, and nothing is under way.
    void moveTo(long position) {
        head = oldest = current = started = position;
        packet = 0;
        stalled = NOWHERE;
    }

    // ---- requests

    /// Returns the position of the oldest request of the application that is not done: all before it leave the
    /// queue.
    long head() {
        return head;
    }

    /// Returns whether the application has posted a request that is not done.
    boolean hasHead() {
        return head < sends.published();
    }

    /// Returns the oldest request of the application that is not done.
    SendRequest headRequest() {
        return sends.at(head);
    }

    /// Returns whether a request of the application has PSNs and is not done.
    boolean hasStarted() {
        return head != started;
    }

    /// Returns whether a request, or a keep-alive, has PSNs and is not done.
    boolean hasOldest() {
        return oldest < started;
    }

    SendRequest oldest() {
        return at(oldest);
    }

    long oldestPosition() {
        return oldest;
    }

    /// Returns whether there is a request to be sent, and none before it has failed.
    boolean hasCurrent() {
        return current < sends.published() && (stalled == NOWHERE || current < stalled);
    }

    SendRequest current() {
        return at(current);
    }

    long currentPosition() {
        return current;
    }

    /// Returns whether the current request has no PSNs yet.
    boolean isCurrentNew() {
        return current == started;
    }

    boolean isCurrentOldest() {
        return current == oldest;
    }

    /// Returns the position of the request whose packet was sent last.
    long newestPosition() {
        return packet > 0 ? current : current - 1;
    }

    /// Returns the request at a position from `oldest` on.
    SendRequest at(long position) {
        assert position >= oldest && position < sends.published() : "inside the queue";
        SendRequest own = keepAlive;
        return isKeepAlive(position) && own != null ? own : sends.at(position);
    }

    /// Returns the position of the request with PSNs that has `psn` among them; negative when none has.
    long find(int psn) {
        for (long position = oldest; position < started; position++) {
            SendRequest request = at(position);
            if (Psn.isWithin(psn, request.firstPsn, request.psnCount)) {
                return position;
            }
        }
        return NOWHERE;
    }

    /// Returns whether the request at this position is the keep-alive.
    boolean isKeepAlive(long position) {
        return position < head;
    }

    // ---- packets

    int unacked() {
        return unacked;
    }

    int next() {
        return next;
    }

    /// Returns the index of the current request's packet that is sent next.
    int packet() {
        return packet;
    }

    /// Returns the number of PSNs that this pass has sent and that have no answer.
    int underWay() {
        return Psn.distance(unacked, next);
    }

    /// Returns whether everything that was ever sent has its answer.
    boolean isAllAnswered() {
        return unacked == sent;
    }

    /// Returns whether the next packet was sent before.
    boolean isSendingAgain() {
        return next != sent;
    }

    /// Returns whether a packet with this PSN was ever sent.
    boolean wasSent(int psn) {
        return Psn.isBefore(psn, sent);
    }

    /// Returns whether the PSN belongs to the oldest request.
    boolean isWithinOldest(int psn) {
        return hasOldest() && Psn.isWithin(psn, oldest().firstPsn, oldest().psnCount);
    }

    // ---- moving on

    /// Moves on, because the next packet of the current request has been sent.
    ///
    /// @param psns how many PSNs it takes
    void advance(int psns) {
        SendRequest request = current();
        if (current == started) {
            request.firstPsn = next;
            started++;
        }
        assert next == Psn.add(request.firstPsn, packet) : "a packet has the PSN of its place in the request";
        next = Psn.add(next, psns);
        sent = Psn.max(sent, next);
        packet += psns;
        if (packet == request.psnCount) {
            current++;
            packet = 0;
        }
        assertOrder();
    }

    /// Moves past the current request, which is done without a packet. Nothing else is under way.
    void skip() {
        assert current == oldest && current == started : "what never leaves this side waits for all before it";
        current = oldest = head = ++started;
    }

    /// Moves past the oldest request, which is done.
    ///
    /// @return whether it is the application's, so that it has to complete
    boolean finishOldest() {
        assert oldest < started : "there is one";
        oldest++;
        if (oldest <= head) {
            return false;
        }
        head = oldest;
        return true;
    }

    /// Moves past the application's oldest request, which has failed.
    void dropHead() {
        head++;
    }

    /// Notes that all PSNs before `psn` have their answers. Sending never stands before it: an old answer may
    /// come after going back.
    void answeredBefore(int psn) {
        unacked = psn;
        if (Psn.isBefore(next, unacked)) {
            goBack();
        }
        assertOrder();
    }

    /// Goes back to the oldest PSN without an answer, to send again from there.
    void goBack() {
        current = oldest;
        next = unacked;
        packet = hasOldest() ? Psn.distance(oldest().firstPsn, unacked) : 0;
    }

    /// Puts a keep-alive in front of all posted requests. It needs no key (IBTA C9-88), and every peer that
    /// allows remote writing acknowledges it.
    void beginKeepAlive() {
        assert isAllAnswered() && oldest == started && current == started : "nothing is under way";
        SendRequest question = keepAlive;
        if (question == null) {
            question = SendRequest.ofNoBytes(SendOperation.WRITE);
            keepAlive = question;
        }
        question.firstPsn = next;
        question.psnCount = 1;
        oldest = current = head - 1;
        assertOrder();
    }

    // ---- failing on this side

    /// Stops at the request at `position`, which cannot go on. It fails when all before it are done, so that
    /// completions stay in order.
    void stall(long position) {
        stalled = position;
    }

    /// Returns whether a request cannot go on, and all before it are done.
    boolean isHeadStalled() {
        return stalled == head;
    }

    // ---- order

    private void assertOrder() {
        assert oldest == head || (oldest == head - 1 && keepAlive != null) : "a keep-alive is just before head";
        assert oldest <= current && current <= started && started <= sends.published() : "order of positions";
        assert !Psn.isAfter(unacked, next) && !Psn.isAfter(next, sent) : "order of PSNs";
        assert oldest < started ? isWithinOldest(unacked) : unacked == sent : "what has no answer lies in oldest";
    }
}
