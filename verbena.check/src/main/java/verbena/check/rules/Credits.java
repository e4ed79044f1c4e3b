package verbena.check.rules;

import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import verbena.check.Checker;
import verbena.check.Findings;
import verbena.check.Rule;
import verbena.check.TrackedPair;
import verbena.check.TrackedReceives;
import verbena.check.TrackedRequest;
import verbena.check.TrackedRequest.Destination;
import verbena.check.Watcher;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairAttributes;

/// Watches whether messages meet receives that have room.
final class Credits extends Watcher {
    private static final int GRH_BYTES = 40;
    /// Attempts after an RNR NAK without limit.
    private static final int FOR_EVER = 7;

    private final Checker checker;
    private final Findings findings;

    Credits(Checker checker) {
        super(Set.of(Event.POST, Event.SUBMIT));
        this.checker = checker;
        this.findings = checker.findings();
    }

    @Override
    public void onPost(TrackedRequest request) {
        TrackedPair pair = TrackedPair.of(request);
        if (request.isReceive() && pair != null && pair.options().type() == QpType.UD && request.bytes() < GRH_BYTES) {
            findings.tell(
                    Rule.UD_SHORT,
                    "a receive for datagrams has " + request.bytes() + " bytes; the first 40 are not the message's.",
                    request.place(),
                    "the queue pair was made",
                    pair.made());
        }
        if (request.detail() instanceof Destination to) {
            checkDatagram(request, to);
        }
    }

    /// Tells of a datagram for which each of the posted receives is too short: which of them it takes is not known.
    private void checkDatagram(TrackedRequest request, Destination to) {
        List<TrackedPair> all = checker.at(to.path(), to.qpn());
        long bytes = GRH_BYTES + request.bytes();
        TrackedRequest longest =
                all.size() == 1 ? all.getFirst().queues().receives().longestBelow(bytes) : null;
        if (longest != null) {
            findings.tell(
                    Rule.UD_SHORT,
                    "a datagram of " + request.bytes() + " bytes takes " + bytes + ", and the longest receive has "
                            + longest.bytes() + ".",
                    request.place(),
                    "the receive was posted",
                    longest.place());
        }
    }

    @Override
    public void onSubmit(TrackedPair pair, List<TrackedRequest> requests) {
        QpType type = pair.options().type();
        if ((type != QpType.RC && type != QpType.UC) || !hasMessage(requests)) {
            return;
        }
        TrackedPair peer = checker.peer(pair).orElse(null);
        QueuePairAttributes attributes = pair.attributes();
        if (peer == null || attributes == null || pair.queuePair().state() == QpState.ERR) {
            return; // what is posted in ERR comes back, and so shows that all before it has
        }
        TrackedReceives receives = peer.queues().receives();
        if (receives.isShared()) {
            checkShared(receives, peer, requests);
            return;
        }
        if (type == QpType.UC) {
            checkUnreliable(receives, peer, requests);
            return;
        }
        long messages = pair.messages();
        eachMet(receives, requests, messages, this::checkLength);
        if (messages > receives.total()) {
            findings.tell(
                    attributes.sending().rnrRetry() == FOR_EVER ? Rule.RNR_WAIT : Rule.NO_RECEIVE,
                    "message " + messages + " of a queue pair was posted when its peer had posted " + receives.total()
                            + " receives; it tries again "
                            + attempts(attributes.sending().rnrRetry()) + ".",
                    requests.getLast().place(),
                    "the peer was made",
                    peer.made());
        }
    }

    /// Returns whether one of the requests takes a receive of the peer.
    static boolean hasMessage(List<TrackedRequest> requests) {
        for (TrackedRequest each : requests) {
            if (TrackedPair.takesReceive(each)) {
                return true;
            }
        }
        return false;
    }

    /// Calls `met` with each message and the receive that it meets, where that is posted already.
    ///
    /// @param last the place of the last of these messages among all of their queue pair
    static void eachMet(
            TrackedReceives receives,
            List<TrackedRequest> requests,
            long last,
            BiConsumer<TrackedRequest, TrackedRequest> met) {
        long place = last;
        for (TrackedRequest each : requests.reversed()) {
            if (TrackedPair.takesReceive(each)) {
                TrackedRequest receive = each.bytes() == 0 || Regions.isRemote(each) ? null : receives.at(place);
                if (receive != null) {
                    met.accept(each, receive);
                }
                place--;
            }
        }
    }

    private void checkLength(TrackedRequest message, TrackedRequest receive) {
        if (message.bytes() > receive.bytes()) {
            findings.tell(
                    Rule.RECEIVE_SHORT,
                    "a message of " + message.bytes() + " bytes meets a receive of " + receive.bytes() + ".",
                    message.place(),
                    "the receive was posted",
                    receive.place());
        }
    }

    /// Tells of an empty queue without a limit, and of messages that are longer than each of the receives: which of
    /// them a message takes is not known.
    private void checkShared(TrackedReceives receives, TrackedPair peer, List<TrackedRequest> requests) {
        TrackedRequest request = requests.getLast();
        checkLengths(receives, requests);
        if (receives.isEmpty() && !receives.hasLimit()) {
            findings.tell(
                    Rule.SRQ_UNARMED,
                    "a message was posted for a shared receive queue that is empty and has no limit.",
                    request.place(),
                    "the peer was made",
                    peer.made());
        }
    }

    private void checkLengths(TrackedReceives receives, List<TrackedRequest> requests) {
        for (TrackedRequest each : requests) {
            if (TrackedPair.takesReceive(each) && !Regions.isRemote(each)) {
                TrackedRequest longest = receives.longestBelow(each.bytes());
                if (longest != null) {
                    checkLength(each, longest);
                }
            }
        }
    }

    /// Tells of a message on an unreliable connection that finds no receive, or none that is long enough. Messages may
    /// be lost there, so it is not known which receive the others take.
    private void checkUnreliable(TrackedReceives receives, TrackedPair peer, List<TrackedRequest> requests) {
        checkLengths(receives, requests);
        if (receives.isEmpty()) {
            findings.tell(
                    Rule.NO_RECEIVE,
                    "a message of an unreliable connection was posted when its peer had no receive; it is lost.",
                    requests.getLast().place(),
                    "the peer was made",
                    peer.made());
        }
    }

    private static String attempts(int retries) {
        return retries == FOR_EVER ? "without limit" : retries + " times";
    }
}
