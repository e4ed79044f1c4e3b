package verbena.nic.ib;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.nic.ManagementAgent;
import verbena.nic.link.ib.IbLink;
import verbena.nic.roce.RoceKind;
import verbena.verbs.Gid;
import verbena.wire.mad.Mad;
import verbena.wire.mad.Sa;

/// The questions of a device to the subnet administration (IBTA 15.2): each is sent until it is answered, or was
/// sent [#TIMES] times. Engine-confined.
final class SubnetQuestions implements ManagementAgent {
    /// The number of times that a question is sent.
    static final int TIMES = 4;

    private static final long TIMEOUT_NANOS = 500_000_000L;

    /// A receiver of the answer: the whole datagram, whatever its status; null when none has come.
    interface Answered {
        void on(@Nullable MemorySegment mad, long nowNanos);
    }

    private static final class Question {
        final MemorySegment mad;
        final Gid local;
        final Answered answered;
        int sent;
        long dueNanos;

        Question(MemorySegment mad, Gid local, Answered answered) {
            this.mad = mad;
            this.local = local;
            this.answered = answered;
        }
    }

    private final IbLink link;
    private final RoceKind roce;
    private final Map<Long, Question> open = new HashMap<>();
    private long transactionId;
    private boolean isRegistered;

    /// @param roce sends them, on queue pair 1
    SubnetQuestions(IbLink link, RoceKind roce, long firstTransactionId) {
        this.link = link;
        this.roce = roce;
        this.transactionId = firstTransactionId;
    }

    /// Returns a question whose attribute is still to be written, behind [Sa#data].
    MemorySegment question(int method, int attribute, long components) {
        MemorySegment mad = Mad.allocate();
        transactionId++;
        Sa.write(mad, method, transactionId, attribute, components);
        return mad;
    }

    /// Sends a question, and calls `answered` with the answer, or with null.
    void ask(MemorySegment question, Gid local, Answered answered, long nowNanos) {
        if (!isRegistered) {
            isRegistered = true;
            roce.serve(Mad.CLASS_SUBNET_ADMINISTRATION, this);
        }
        var asked = new Question(question, local, answered);
        open.put(Mad.transactionId(question), asked);
        send(asked, nowNanos);
    }

    private void send(Question question, long nowNanos) {
        question.sent++;
        question.dueNanos = nowNanos + TIMEOUT_NANOS;
        int manager = link.port().subnetManagerLid();
        if (manager != 0) {
            roce.send(Mad.copyOf(question.mad), question.local, new Gid(0, manager));
        } else {
            roce.look(); // for the deadline
        }
    }

    @Override
    public void onMad(MemorySegment mad, Gid local, Gid remote, long nowNanos) {
        Question asked = open.get(Mad.transactionId(mad));
        boolean isAnswer = asked != null
                && (Mad.method(mad) & Mad.RESPONSE) != 0
                && Mad.attributeId(mad) == Mad.attributeId(asked.mad)
                && remote.equals(new Gid(0, link.port().subnetManagerLid()));
        if (asked != null && isAnswer) {
            open.remove(Mad.transactionId(mad));
            asked.answered.on(mad, nowNanos);
        }
    }

    @Override
    public long deadlineNanos() {
        long first = Long.MAX_VALUE;
        for (Question question : open.values()) {
            first = Math.min(first, question.dueNanos);
        }
        return first;
    }

    @Override
    public void onDeadline(long nowNanos) {
        for (Question question : List.copyOf(open.values())) {
            if (question.dueNanos > nowNanos) {
                continue;
            }
            if (question.sent < TIMES) {
                send(question, nowNanos);
            } else {
                open.remove(Mad.transactionId(question.mad));
                question.answered.on(null, nowNanos);
            }
        }
    }
}
