package verbena.check.device;

import verbena.check.TrackedPair;
import verbena.check.TrackedRequest.Flag;
import verbena.verbs.SendBatch;
import verbena.verbs.WcStatus;
import verbena.verbs.internal.FaultySends;

/// The layer in front of a batch that also posts requests which cannot be carried out.
final class FaultyCheckedSends extends CheckedSends implements FaultySends {
    private final FaultySends faulty;

    FaultyCheckedSends(Layer layer, SendBatch inner, FaultySends faulty, TrackedPair pair) {
        super(layer, inner, pair);
        this.faulty = faulty;
    }

    @Override
    public void fail(WcStatus status, String cause) {
        step(() -> faulty.fail(status, cause), request -> request.set(Flag.FAULTY));
    }
}
