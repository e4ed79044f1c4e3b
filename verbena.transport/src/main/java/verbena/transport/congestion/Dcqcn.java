package verbena.transport.congestion;

/// The reaction point of DCQCN (Zhu et al., SIGCOMM 2015, section 3.1): a sender's rate by the notifications of its
/// receiver.
///
/// A notification cuts the rate in proportion to `alpha`, an estimate of how congested the path is. Without
/// notifications `alpha` falls, and the rate rises: after each period of time, and after each number of bytes. The
/// first rises go half of the distance back to the target, the rate before the cut. Later ones raise the target too,
/// by a little, and by more when both time and bytes have counted many.
///
/// No timer calls it. A sender that asks for the rate passes the time, and what was due by then happens first.
public final class Dcqcn implements CongestionControl {
    private final DcqcnOptions options;
    private final double lineRate;
    private final int limit;

    private double rate;
    private double target;
    private double alpha;
    /// Whether the rate was cut and has not come back to that of the line.
    private boolean limited;
    private long alphaDueNanos;
    private long riseDueNanos;
    private long bytesLeft;
    private int risesByTime;
    private int risesByBytes;
    private long cutNanos;
    private boolean wasCut;

    /// @param lineRate the rate of the link, in bits per second; no sender is faster
    /// @param limit    how many PSNs may be under way, whatever the rate
    public Dcqcn(DcqcnOptions options, double lineRate, int limit) {
        this.options = options;
        this.lineRate = lineRate;
        this.limit = limit;
        this.rate = lineRate;
        this.target = lineRate;
        this.alpha = options.initialAlpha();
    }

    @Override
    public int limit() {
        return limit;
    }

    @Override
    public double bitsPerSecond(long now) {
        if (limited) {
            advance(now);
        }
        return rate;
    }

    /// Returns the estimate of congestion, from 0 to 1.
    public double alpha(long now) {
        if (wasCut) {
            advance(now);
        }
        return alpha;
    }

    @Override
    public void sent(int bytes, long now) {
        if (!limited) {
            return;
        }
        advance(now);
        bytesLeft -= bytes;
        while (bytesLeft <= 0) {
            bytesLeft += options.byteReset();
            risesByBytes++;
            rise();
        }
    }

    @Override
    public void notified(long now) {
        if (wasCut) {
            advance(now);
        }
        double before = alpha;
        alpha += options.gd() * (1 - alpha);
        alphaDueNanos = now + options.alphaNanos();
        if (wasCut && now - cutNanos < options.monitorNanos()) {
            return;
        }
        if (!wasCut || options.clampTargetRate() || risesByTime > 0 || risesByBytes > 0) {
            target = rate;
        }
        rate = Math.max(options.minRate(), rate * Math.max(options.minDecFac(), 1 - before / 2));
        wasCut = true;
        limited = true;
        cutNanos = now;
        risesByTime = 0;
        risesByBytes = 0;
        bytesLeft = options.byteReset();
        riseDueNanos = now + options.timeResetNanos();
    }

    /// Carries out all changes that were due by now, in their order.
    private void advance(long now) {
        while (alphaDueNanos <= now) {
            alpha *= 1 - options.gd();
            alphaDueNanos += options.alphaNanos();
            if (alpha < 1e-12) { // as good as none; spares a long silence its many steps
                alpha = 0;
                alphaDueNanos = Math.max(alphaDueNanos, now + 1);
            }
        }
        while (limited && riseDueNanos <= now) {
            riseDueNanos += options.timeResetNanos();
            risesByTime++;
            rise();
        }
    }

    private void rise() {
        int least = Math.min(risesByTime, risesByBytes);
        int most = Math.max(risesByTime, risesByBytes);
        if (least > options.threshold()) {
            target = Math.min(lineRate, target + (least - options.threshold()) * options.haiRate());
        } else if (most > options.threshold()) {
            target = Math.min(lineRate, target + options.aiRate());
        }
        rate = Math.min(lineRate, (target + rate) / 2);
        if (target >= lineRate && rate > 0.999 * lineRate) {
            rate = lineRate;
            limited = false;
        }
    }
}
