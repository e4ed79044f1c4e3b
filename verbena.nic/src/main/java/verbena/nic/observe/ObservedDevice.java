package verbena.nic.observe;

import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.nic.capture.CaptureSource;
import verbena.nic.link.psp.PspStatus;
import verbena.verbs.Context;
import verbena.verbs.Mtu;

/// A device as JMX sees it. Any thread; the values may be a moment old.
public interface ObservedDevice extends Context, CaptureSource {
    /// Returns the open queue pairs.
    Collection<? extends ObservedQueuePair> queuePairs();

    /// Returns how packets of each peer are protected; nothing when the device does not protect any.
    List<PspStatus> peers();

    /// Returns the largest path MTU.
    Mtu mtu();

    /// Returns why it has stopped; null while it works.
    @Nullable
    Throwable failure();
}
