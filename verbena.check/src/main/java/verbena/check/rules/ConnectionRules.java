package verbena.check.rules;

import java.util.List;
import java.util.Set;
import verbena.check.CallPlace;
import verbena.check.Checker;
import verbena.check.Findings;
import verbena.check.Rule;
import verbena.check.TrackedDevice;
import verbena.check.TrackedObject;
import verbena.check.TrackedPair;
import verbena.check.TrackedRequest;
import verbena.check.TrackedRequest.Destination;
import verbena.check.TrackedRequest.Flag;
import verbena.check.Watcher;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairAttributes;
import verbena.verbs.spi.SendOperation;

/// Watches the attributes of connections, and how queue pairs end.
final class ConnectionRules extends Watcher {
    private final Checker checker;
    private final Findings findings;

    ConnectionRules(Checker checker) {
        super(Set.of(Event.POST, Event.HANDLE_CLOSED, Event.PRIVATE_DATA, Event.MODIFY, Event.CLOSE));
        this.checker = checker;
        this.findings = checker.findings();
    }

    @Override
    public void onModify(TrackedPair pair, QpState before, List<TrackedRequest> lost) {
        QueuePairAttributes own = pair.attributes();
        if (own == null) {
            return;
        }
        if (own.state() == QpState.RESET) {
            tellLost(Rule.RESET_BUSY, "reset", lost, lost.size());
        }
        boolean isConnected = own.state() == QpState.RTR || own.state() == QpState.RTS;
        // Only packets have these attributes: where there is a path.
        if (!isConnected || own.peer().path().isEmpty() || pair.options().type() == QpType.UD) {
            return;
        }
        if (own.state() == QpState.RTS
                && before != QpState.RTS
                && pair.options().type() == QpType.RC) {
            checkRetries(pair, own);
        }
        checker.peer(pair).ifPresent(peer -> checkPeer(pair, own, peer));
    }

    private void checkRetries(TrackedPair pair, QueuePairAttributes own) {
        if (own.sending().ackTimeout().code() == 0) {
            findings.tell(
                    Rule.TIMEOUT_NEVER,
                    "a connection was brought to RTS with timeout 0.",
                    pair.connected(),
                    "the queue pair was made",
                    pair.made());
        }
        if (own.sending().retryCount() == 0) {
            findings.tell(
                    Rule.RETRY_ZERO,
                    "a connection was brought to RTS with retry_cnt 0.",
                    pair.connected(),
                    "the queue pair was made",
                    pair.made());
        }
    }

    private void checkPeer(TrackedPair pair, QueuePairAttributes own, TrackedPair peer) {
        QueuePairAttributes its = peer.attributes();
        if (its == null || (its.state() != QpState.RTR && its.state() != QpState.RTS)) {
            return;
        }
        if (own.peer().pathMtu() != its.peer().pathMtu()) {
            findings.tell(
                    Rule.MTU_MISMATCH,
                    "one end of a connection has path MTU " + own.peer().pathMtu() + ", the other "
                            + its.peer().pathMtu() + ".",
                    pair.connected(),
                    "the peer was set",
                    peer.connected());
        }
        boolean hears = its.state() != QpState.RTS
                || own.receiving().rqPsn() == its.sending().sqPsn();
        boolean isHeard = own.state() != QpState.RTS
                || its.receiving().rqPsn() == own.sending().sqPsn();
        if (!hears || !isHeard) {
            findings.tell(
                    Rule.PSN_MISMATCH,
                    "an end of a connection begins with another PSN than its peer expects.",
                    pair.connected(),
                    "the peer was set",
                    peer.connected());
        }
    }

    private void checkQkey(TrackedPair pair, TrackedRequest request, Destination to) {
        for (TrackedPair each : checker.at(to.path(), to.qpn())) {
            QueuePairAttributes its = each.attributes();
            QueuePairAttributes own = pair.attributes();
            // With the highest bit the queue pair's own is taken, IBTA 10.2.5.
            int sent = to.qkey() < 0 && own != null ? own.qkey() : to.qkey();
            if (each.options().type() == QpType.UD && its != null && its.qkey() != sent) {
                findings.tell(
                        Rule.QKEY_MISMATCH,
                        "a datagram has Q_Key " + sent + "; its queue pair has " + its.qkey() + ".",
                        request.place(),
                        "the queue pair was set",
                        each.connected());
            }
        }
    }

    @Override
    public void onPost(TrackedRequest request) {
        SendOperation operation = request.operation();
        TrackedPair pair = TrackedPair.of(request);
        if (pair == null || operation == null) {
            return;
        }
        if (request.detail() instanceof Destination to) {
            checkQkey(pair, request, to);
        }
        QueuePairAttributes own = pair.attributes();
        TrackedPair peer = checker.peer(pair).orElse(null);
        if (peer == null && own != null && own.peer().path().isPresent()) {
            checkReady(request, pair, own);
        } else if (peer != null && peer.options().type() != pair.options().type()) {
            tellOther(request, "is " + peer.options().type(), peer);
        }
        if (operation != SendOperation.READ && !operation.isAtomic()) {
            return;
        }
        QueuePairAttributes its = peer == null ? null : peer.attributes();
        if (own != null
                && its != null
                && own.sending().maxReadAtomic() > its.receiving().maxDestinationReadAtomic()) {
            findings.tell(
                    Rule.READ_DEPTH,
                    "a " + operation + " was posted with max_rd_atomic "
                            + own.sending().maxReadAtomic() + "; the peer serves "
                            + its.receiving().maxDestinationReadAtomic() + ".",
                    request.place(),
                    "the queue pair was set",
                    pair.connected());
        }
    }

    /// Tells of a request for a queue pair of this process that has not come to RTR, or is another's peer. The number
    /// may stand for a queue pair of another device too.
    private void checkReady(TrackedRequest request, TrackedPair pair, QueuePairAttributes own) {
        int number = own.peer().destinationQpn();
        List<TrackedPair> all = checker.at(own.peer().path().orElseThrow(), number);
        for (TrackedPair each : all) {
            QueuePairAttributes its = each.attributes();
            if (its == null || its.state() == QpState.RESET || its.state() == QpState.INIT) {
                findings.tell(
                        Rule.PEER_UNREADY,
                        "a request was posted when its peer was in " + (its == null ? QpState.RESET : its.state())
                                + ".",
                        request.place(),
                        "the peer was made",
                        each.made());
            } else if (all.size() == 1 && isOther(each, its, pair)) {
                tellOther(request, "is connected with number " + its.peer().destinationQpn(), each);
            }
        }
    }

    private static boolean isOther(TrackedPair each, QueuePairAttributes its, TrackedPair pair) {
        boolean isOfSameDevice =
                each.device().context().device().equals(pair.device().context().device());
        return isOfSameDevice
                && its.state() != QpState.ERR
                && its.peer().path().isPresent()
                && its.peer().destinationQpn() != pair.qpn();
    }

    private void tellOther(TrackedRequest request, String what, TrackedPair peer) {
        findings.tell(
                Rule.PEER_OTHER,
                "a request is for number " + peer.qpn() + ", which " + what + ".",
                request.place(),
                "that one was set",
                peer.connected());
    }

    @Override
    public void onPrivateData(TrackedDevice device, String verb, int bytes, int most) {
        if (bytes > most) {
            findings.tell(
                    Rule.PRIVATE_LONG,
                    verb + " with " + bytes + " bytes of private data; InfiniBand and RoCE carry " + most + ".",
                    CallPlace.here(),
                    "the device was opened",
                    device.opened());
        }
    }

    @Override
    public void onHandleClosed(TrackedDevice device, Object handle) {
        for (TrackedObject object : device.objects()) {
            if (object instanceof TrackedPair pair) {
                for (TrackedRequest each : pair.sendsUnderWay()) {
                    if (each.detail() instanceof Destination to && to.handle() == handle) {
                        findings.tell(
                                Rule.HANDLE_BUSY,
                                "an address handle was closed that an outstanding datagram names.",
                                CallPlace.here(),
                                "the datagram was posted",
                                each.place());
                        return;
                    }
                }
            }
        }
    }

    @Override
    public void onClose(TrackedPair pair, QpState before, List<TrackedRequest> lost) {
        if (before == QpState.RTS || before == QpState.SQD) {
            List<TrackedRequest> awaited = lost.stream()
                    .filter(request -> !request.isReceive() && request.has(Flag.SIGNALED))
                    .toList();
            tellLost(Rule.CLOSE_BUSY, "closed", awaited, awaited.size());
        }
    }

    private void tellLost(Rule rule, String verb, List<TrackedRequest> lost, int count) {
        if (!lost.isEmpty()) {
            findings.tell(
                    rule,
                    "a queue pair was " + verb + " with " + count + " requests whose completions nobody has taken.",
                    CallPlace.here(),
                    "the oldest was posted",
                    lost.getFirst().place());
        }
    }
}
