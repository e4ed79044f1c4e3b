package verbena.sim.model;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.sim.model.ModelQueuePair.Waiting;
import verbena.verbs.AckTimeout;
import verbena.verbs.Gid;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpState;
import verbena.verbs.WcStatus;

/// Some devices and the network between them.
public final class Model {
    /// No retransmission timer of the devices is shorter than this, and none may run longer than four times its
    /// value (IBTA C9-141).
    private static final long ACK_TIMEOUT_NANOS_MIN = 2_000_000;

    private final List<ModelDevice> devices;
    private final RequestRules rules = new RequestRules(this);
    private final List<Nak> naks = new ArrayList<>();

    public Model(List<ModelDevice> devices) {
        this.devices = List.copyOf(devices);
    }

    /// Carries out everything that is posted, until nothing moves any more.
    ///
    /// @return how long devices may take to come as far, in nanoseconds; 0 when no wait is needed
    public long settle() {
        for (ModelDevice device : devices) {
            for (ModelQueuePair queuePair : device.queuePairs()) {
                if (queuePair.state() == QpState.ERR || queuePair.state() == QpState.SQE) {
                    queuePair.flush();
                }
                ModelQueuePair peer = find(queuePair.destination(), queuePair.number(QpAttribute.DEST_QPN));
                if (queuePair.waiting == Waiting.FOR_A_RECEIVE && peer != null) {
                    nak(peer, Nak.notReady(peer.attributes().rnrTimer().code()), true); // it may ask at any time
                }
            }
        }
        long patience = 0;
        while (true) {
            long waited = proceed();
            if (waited < 0) {
                waited = giveUp();
            }
            if (waited < 0) {
                return patience;
            }
            patience += waited;
        }
    }

    /// Whether a queue pair waits for what the application has to bring: a receive, or a peer.
    public boolean isSomebodyWaiting() {
        for (ModelDevice device : devices) {
            for (ModelQueuePair queuePair : device.queuePairs()) {
                if (queuePair.waiting != Waiting.FOR_NOTHING) {
                    return true;
                }
            }
        }
        return false;
    }

    /// One queue pair goes one request further: how long it has waited for it, or -1 when none can.
    private long proceed() {
        for (ModelDevice device : devices) {
            for (ModelQueuePair queuePair : device.queuePairs()) {
                long wait = queuePair.waiting == Waiting.FOR_A_RECEIVE ? rnrNanos(queuePair) : 0;
                if (rules.proceed(queuePair)) {
                    return wait;
                }
            }
        }
        return -1;
    }

    /// Time passes and a queue pair's retries run out: after how long, or -1 when all can wait.
    private long giveUp() {
        for (ModelDevice device : devices) {
            for (ModelQueuePair queuePair : device.queuePairs()) {
                int timeout = queuePair.attributes().ackTimeout().code();
                if (queuePair.waiting == Waiting.FOR_AN_ANSWER && timeout != 0) {
                    queuePair.fail(WcStatus.RETRY_EXC_ERR);
                    return (queuePair.number(QpAttribute.RETRY_CNT) + 1L)
                            * 4
                            * Math.max(new AckTimeout(timeout).duration().toNanos(), ACK_TIMEOUT_NANOS_MIN);
                }
                int retries = queuePair.number(QpAttribute.RNR_RETRY);
                if (queuePair.waiting == Waiting.FOR_A_RECEIVE && retries != 7) { // 7: without limit
                    long wait = (retries + 1L) * rnrNanos(queuePair);
                    queuePair.fail(WcStatus.RNR_RETRY_EXC_ERR);
                    return wait;
                }
            }
        }
        return -1;
    }

    /// How long the peer asks to wait for its receives; a little more, for the packets' way.
    private long rnrNanos(ModelQueuePair queuePair) {
        ModelQueuePair peer = find(queuePair.destination(), queuePair.number(QpAttribute.DEST_QPN));
        return peer == null ? 0 : peer.attributes().rnrTimer().nanos() + ACK_TIMEOUT_NANOS_MIN;
    }

    @Nullable
    ModelQueuePair find(Gid gid, int qpn) {
        for (ModelDevice device : devices) {
            if (device.gids().contains(gid)) {
                return device.queuePair(qpn);
            }
        }
        return null;
    }

    /// The receivers of a datagram: one queue pair, or all that are attached to the group (IBTA 10.5.2).
    List<ModelQueuePair> datagramReceivers(Gid gid, int qpn) {
        if (UnreliableRules.isMulticast(qpn)) {
            return devices.stream()
                    .flatMap(device -> device.attached(gid).stream())
                    .toList();
        }
        ModelQueuePair only = find(gid, qpn);
        return only == null ? List.of() : List.of(only);
    }

    void nak(ModelQueuePair from, int syndrome, boolean isRepeated) {
        naks.add(new Nak(from.number(QpAttribute.DEST_QPN), syndrome, isRepeated));
    }

    /// What has been refused on the wire since it was asked last; the same only once.
    public Set<Nak> takeNaks() {
        Set<Nak> taken = new LinkedHashSet<>(naks);
        naks.clear();
        return taken;
    }
}
