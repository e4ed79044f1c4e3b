package verbena.sim.ethernet;

import java.util.function.Consumer;
import java.util.function.DoubleFunction;
import verbena.transport.congestion.CongestionControl;

/// The options of sending and answering.
///
/// @param recovery      what a sender sends again after a loss
/// @param payloadBytes  of a full packet
/// @param headerBytes   all else that a packet of data takes on the wire
/// @param answerBytes   of an answer on the wire
/// @param priority      of data, 0 to 6; answers have 7
/// @param ackEvery      a sender asks for an answer to one packet in so many, and whenever it would have to wait
///                      otherwise; with [Recovery#SELECTIVE_REPEAT] each packet behind a gap is answered, too
/// @param timeoutNanos  how long a sender waits for an answer before it sends again
/// @param fewTimeoutNanos the same while at most three packets are under way: nothing behind them could tell of a
///     loss
/// @param cnpNanos      at most one notification of marks to a sender in this time; 0: none at all
/// @param control       makes the sender's rule, for a line of so many bits per second
public record TransferOptions(
        Recovery recovery,
        int payloadBytes,
        int headerBytes,
        int answerBytes,
        int priority,
        int ackEvery,
        long timeoutNanos,
        long fewTimeoutNanos,
        long cnpNanos,
        DoubleFunction<CongestionControl> control) {
    /// Ethernet with preamble and gap (38), IPv4 (20), UDP (8), BTH (12) and ICRC (4).
    private static final int HEADER_BYTES = 82;
    /// The smallest frame, with preamble and gap.
    private static final int ANSWER_BYTES = 84;

    /// The packets that a sender sends again.
    public enum Recovery {
        /// Everything from the missing packet on, as the standard has it (IBTA 9.7.5).
        GO_BACK_N,
        /// The missing packets only (IRN, Mittal et al., SIGCOMM 2018).
        SELECTIVE_REPEAT
    }

    public TransferOptions {
        if (payloadBytes < 64 || payloadBytes > 8_192) {
            throw new IllegalArgumentException("payloadBytes: " + payloadBytes + " is not between 64 and 8,192");
        }
        if (headerBytes < 1 || headerBytes > 1_024 || answerBytes < 1 || answerBytes > 1_024) {
            throw new IllegalArgumentException("headerBytes, answerBytes: " + headerBytes + " and " + answerBytes
                    + " are not between 1 and 1,024");
        }
        if (priority < 0 || priority >= Host.ANSWERS) {
            throw new IllegalArgumentException("priority: " + priority + " is not between 0 and " + (Host.ANSWERS - 1));
        }
        if (ackEvery < 1 || timeoutNanos < 1 || fewTimeoutNanos < 1 || cnpNanos < 0) {
            throw new IllegalArgumentException("ackEvery, timeoutNanos, fewTimeoutNanos, cnpNanos: " + ackEvery + ", "
                    + timeoutNanos + ", " + fewTimeoutNanos + " and " + cnpNanos + "; the last may be 0, no other");
        }
    }

    /// Returns the options of cards without congestion control: `packets` under way at most, and go-back-N.
    public static TransferOptions window(int packets) {
        return new TransferOptions(
                Recovery.GO_BACK_N,
                1_000,
                HEADER_BYTES,
                ANSWER_BYTES,
                3,
                16,
                16_000_000,
                16_000_000,
                0,
                line -> new ConstantWindow(packets));
    }

    /// Returns these options with another rule and, when it needs them, notifications at most once in `cnpNanos`.
    public TransferOptions control(long cnpNanos, DoubleFunction<CongestionControl> control) {
        return with(changed -> {
            changed.cnpNanos = cnpNanos;
            changed.control = control;
        });
    }

    /// Returns these options with a window by telemetry ([Hpcc]): each packet is answered.
    ///
    /// @param baseNanos the longest round trip of the network while its queues are empty
    public TransferOptions hpcc(long baseNanos) {
        return answeringEach().control(0, line -> new Hpcc(line, baseNanos, payloadBytes));
    }

    /// Returns these options with another timeout.
    public TransferOptions timeout(long nanos) {
        return with(changed -> {
            changed.timeoutNanos = nanos;
            changed.fewTimeoutNanos = nanos;
        });
    }

    /// Returns these options with selective repeat and its two timeouts.
    public TransferOptions selective(long timeoutNanos, long fewTimeoutNanos) {
        return answeringEach().with(changed -> {
            changed.recovery = Recovery.SELECTIVE_REPEAT;
            changed.timeoutNanos = timeoutNanos;
            changed.fewTimeoutNanos = fewTimeoutNanos;
        });
    }

    /// Returns these options with another size of packets.
    public TransferOptions payload(int bytes) {
        return with(changed -> changed.payloadBytes = bytes);
    }

    /// Returns these options with other lengths of headers and answers.
    public TransferOptions headers(int ofData, int ofAnswer) {
        return with(changed -> {
            changed.headerBytes = ofData;
            changed.answerBytes = ofAnswer;
        });
    }

    /// Returns these options with an answer to each packet.
    public TransferOptions answeringEach() {
        return with(changed -> changed.ackEvery = 1);
    }

    private TransferOptions with(Consumer<Changed> change) {
        var changed = new Changed(this);
        change.accept(changed);
        return new TransferOptions(
                changed.recovery,
                changed.payloadBytes,
                changed.headerBytes,
                changed.answerBytes,
                changed.priority,
                changed.ackEvery,
                changed.timeoutNanos,
                changed.fewTimeoutNanos,
                changed.cnpNanos,
                changed.control);
    }

    /// Options on their way to others.
    private static final class Changed {
        private Recovery recovery;
        private int payloadBytes;
        private int headerBytes;
        private int answerBytes;
        private final int priority;
        private int ackEvery;
        private long timeoutNanos;
        private long fewTimeoutNanos;
        private long cnpNanos;
        private DoubleFunction<CongestionControl> control;

        private Changed(TransferOptions from) {
            recovery = from.recovery;
            payloadBytes = from.payloadBytes;
            headerBytes = from.headerBytes;
            answerBytes = from.answerBytes;
            priority = from.priority;
            ackEvery = from.ackEvery;
            timeoutNanos = from.timeoutNanos;
            fewTimeoutNanos = from.fewTimeoutNanos;
            cnpNanos = from.cnpNanos;
            control = from.control;
        }
    }
}
