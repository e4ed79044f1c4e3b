package verbena.check.rules;

import java.util.List;
import java.util.Set;
import verbena.check.CallPlace;
import verbena.check.Checker;
import verbena.check.Findings;
import verbena.check.Rule;
import verbena.check.TrackedDevice;
import verbena.check.TrackedObject;
import verbena.check.Watcher;

/// The rule on objects that are open at the end.
final class Leaks extends Watcher {
    private final Findings findings;

    Leaks(Checker checker) {
        super(Set.of(Event.EXIT));
        this.findings = checker.findings();
    }

    @Override
    public void onExit(List<TrackedDevice> open) {
        for (TrackedDevice device : open) {
            // The device itself may be one that the process shares between connections, and never closes.
            for (TrackedObject each : device.objects()) {
                tell(each + " is open at the end of the process.", each.made());
            }
        }
    }

    private void tell(String what, CallPlace made) {
        findings.tell(Rule.LEAK, what, CallPlace.NONE, "it was made", made);
    }
}
