package verbena.check.device;

import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import verbena.check.CheckOptions;
import verbena.check.Checker;
import verbena.check.Finding;
import verbena.check.Grade;
import verbena.check.Rule;
import verbena.check.rules.Watchers;
import verbena.verbs.Device;

/// The checks of one part of a process, such as a test. All rules are on but that for leaks, which looks at the end
/// of the process. Any thread.
public final class CheckSession {
    private final Checker checker;

    /// @param areThreadsApart whether threads are ordered only by what can be seen, as with the option `threads`
    public CheckSession(boolean areThreadsApart) {
        CheckOptions options = CheckOptions.of(areThreadsApart ? "threads" : "on");
        checker = new Checker(EnumSet.complementOf(EnumSet.of(Rule.LEAK)), (on, by) -> Watchers.of(on, by, options));
    }

    /// Returns a device with the layer of this session in front.
    public Device over(Device device) {
        return CheckProvider.over(device.name(), CheckProvider.below(device), checker);
    }

    /// Returns the findings that are no mere costs, as text for people; empty when there are none.
    public Optional<String> faults() {
        List<Finding> faults = checker.findings().all().stream()
                .filter(finding -> finding.rule().grade() != Grade.COST)
                .toList();
        return faults.isEmpty()
                ? Optional.empty()
                : Optional.of(faults.stream().map(Finding::text).collect(Collectors.joining(System.lineSeparator())));
    }
}
