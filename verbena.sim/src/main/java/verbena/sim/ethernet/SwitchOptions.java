package verbena.sim.ethernet;

import java.util.function.Consumer;

/// The options of a [Switch].
///
/// @param bufferBytes   what all its ports share
/// @param headroomBytes what each way in keeps for packets that come after it has asked for a pause; 0 without pauses
/// @param alpha         how much one way in, or without pauses one way out, may take up, as a multiple of what is
///                      free (dynamic thresholds, Choudhury and Hahne 1998)
/// @param pauses        whether it asks for a pause before it drops (priority flow control, IEEE 802.1Qbb)
/// @param markFrom      bytes in the queue of a way out above which packets are marked at random (RED); 0: never
/// @param markAll       bytes above which each packet is marked
/// @param markChance    the chance of a mark just below `markAll`, 0 to 1
/// @param marksLeaving  whether a packet is marked by the queue that it leaves behind (Zhu et al., "ECN or Delay",
///                      CoNEXT 2016), and not by the one that it finds
/// @param cutsThrough   whether a packet goes on as soon as its headers are there, where that can be (cut-through),
///                      and not when the whole of it is (store and forward)
/// @param sprays        whether each packet chooses anew among equal ways, and may overtake others of its flow; if
///                      not, a flow keeps its way (ECMP)
/// @param watchdogNanos how long a paused queue may stand still before it is emptied; 0: for ever
public record SwitchOptions(
        long bufferBytes,
        long headroomBytes,
        double alpha,
        boolean pauses,
        long markFrom,
        long markAll,
        double markChance,
        boolean marksLeaving,
        boolean cutsThrough,
        boolean sprays,
        long watchdogNanos) {
    /// 12 MB with pauses and without marks.
    public static final SwitchOptions LOSSLESS =
            new SwitchOptions(12_000_000, 100_000, 1.0 / 8, true, 0, 0, 0, false, false, false, 0);
    /// 12 MB that drops what does not fit.
    public static final SwitchOptions LOSSY =
            new SwitchOptions(12_000_000, 0, 1, false, 0, 0, 0, false, false, false, 0);

    public SwitchOptions {
        if (bufferBytes <= 0 || headroomBytes < 0 || !(alpha > 0)) {
            throw new IllegalArgumentException("bufferBytes, headroomBytes, alpha: " + bufferBytes + ", "
                    + headroomBytes + " and " + alpha + "; a buffer and alpha are more than 0, headroom no less");
        }
        if (markFrom < 0 || markAll < markFrom || !(markChance >= 0 && markChance <= 1)) {
            throw new IllegalArgumentException("markFrom, markAll, markChance: " + markFrom + ", " + markAll + " and "
                    + markChance + "; 0 <= markFrom <= markAll, and the chance is 0 to 1");
        }
        if (watchdogNanos < 0) {
            throw new IllegalArgumentException("watchdogNanos: " + watchdogNanos + " is negative");
        }
    }

    /// Returns these options with marks: none below `from` bytes, all from `all` bytes on, and a growing chance in
    /// between.
    public SwitchOptions marking(long from, long all, double chance) {
        return with(changed -> {
            changed.markFrom = from;
            changed.markAll = all;
            changed.markChance = chance;
        });
    }

    /// Returns these options with marks by the queue that a packet leaves behind.
    public SwitchOptions markingLeaving() {
        return with(changed -> changed.marksLeaving = true);
    }

    /// Returns these options with cut-through.
    public SwitchOptions cuttingThrough() {
        return with(changed -> changed.cutsThrough = true);
    }

    /// Returns these options with packets sprayed over equal paths.
    public SwitchOptions spraying() {
        return with(changed -> changed.sprays = true);
    }

    /// Returns these options with another buffer.
    public SwitchOptions buffer(long bytes) {
        return with(changed -> changed.bufferBytes = bytes);
    }

    /// Returns these options with another headroom.
    public SwitchOptions headroom(long bytes) {
        return with(changed -> changed.headroomBytes = bytes);
    }

    /// Returns these options with another share of the free buffer.
    public SwitchOptions alpha(double share) {
        return with(changed -> changed.alpha = share);
    }

    /// Returns these options without pauses and headroom: a port takes up at most as much as is free.
    public SwitchOptions dropping() {
        return with(changed -> {
            changed.headroomBytes = 0;
            changed.alpha = 1;
            changed.pauses = false;
        });
    }

    /// Returns these options with a watchdog.
    public SwitchOptions watchdog(long nanos) {
        return with(changed -> changed.watchdogNanos = nanos);
    }

    boolean marks() {
        return markAll > 0;
    }

    private SwitchOptions with(Consumer<Changed> change) {
        var changed = new Changed(this);
        change.accept(changed);
        return new SwitchOptions(
                changed.bufferBytes,
                changed.headroomBytes,
                changed.alpha,
                changed.pauses,
                changed.markFrom,
                changed.markAll,
                changed.markChance,
                changed.marksLeaving,
                changed.cutsThrough,
                changed.sprays,
                changed.watchdogNanos);
    }

    /// Options on their way to others.
    private static final class Changed {
        private long bufferBytes;
        private long headroomBytes;
        private double alpha;
        private boolean pauses;
        private long markFrom;
        private long markAll;
        private double markChance;
        private boolean marksLeaving;
        private boolean cutsThrough;
        private boolean sprays;
        private long watchdogNanos;

        private Changed(SwitchOptions from) {
            bufferBytes = from.bufferBytes;
            headroomBytes = from.headroomBytes;
            alpha = from.alpha;
            pauses = from.pauses;
            markFrom = from.markFrom;
            markAll = from.markAll;
            markChance = from.markChance;
            marksLeaving = from.marksLeaving;
            cutsThrough = from.cutsThrough;
            sprays = from.sprays;
            watchdogNanos = from.watchdogNanos;
        }
    }
}
