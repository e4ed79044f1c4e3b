package verbena.provider;

import java.util.Optional;
import java.util.Set;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;

/// The parts that an XRC target does not use: it is a queue pair like others, over queues that stay empty.
/// All targets of an XRC domain share them.
public final class TargetParts {
    private final ProtectionDomain domain;
    private final CompletionQueue completions;

    /// Makes them; to be closed with the XRC domain.
    public TargetParts(Context context) {
        this.domain = context.allocateProtectionDomain();
        boolean made = false;
        try {
            this.completions = context.createCompletionQueue(1);
            made = true;
        } finally {
            if (!made) {
                domain.close();
            }
        }
    }

    public ProtectionDomain domain() {
        return domain;
    }

    public CompletionQueue completions() {
        return completions;
    }

    /// Returns the options of a queue pair that is a target.
    public QueuePairOptions options() {
        return new QueuePairOptions(
                QpType.XRC_TARGET,
                completions,
                completions,
                Optional.empty(),
                new QueuePairOptions.Sizes(0, 0, 0, 0, 0),
                false,
                Set.of());
    }

    /// Closes the parts, when no target is left.
    public void close() {
        completions.close();
        domain.close();
    }
}
