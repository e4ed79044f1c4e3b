package verbena.check.races;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.Findings;
import verbena.check.Rule;

/// Two steps that access the same bytes with no order between them.
public final class Race {
    private final Rule rule;
    private final RaceStep.Access earlier;
    private final RaceStep.Access later;
    private final @Nullable RaceStep announcement;

    /// @param later what was posted second
    /// @param announcement the message of another queue pair that told of the first; null when none did
    Race(Rule rule, RaceStep.Access earlier, RaceStep.Access later, @Nullable RaceStep announcement) {
        this.rule = rule;
        this.earlier = earlier;
        this.later = later;
        this.announcement = announcement;
    }

    private static String verb(RaceStep.Access access) {
        String name = access.step().name();
        return switch (access.kind()) {
            case READ -> "a " + name + " reads";
            case WRITE -> "a " + name + " writes";
            case ATOMIC -> "a " + name + " changes";
            case GATHER -> "a " + name + " sends";
            case FILL -> "the result of a " + name + " fills";
            case LOAD -> "the program reads";
            case STORE -> "the program writes";
        };
    }

    /// Returns it in one sentence, with the bytes.
    public String detail() {
        long from = Math.max(earlier.from(), later.from());
        long to = Math.min(earlier.to(), later.to());
        // The region of the side that is reached from afar says where the bytes are.
        RaceStep.Memory memory = later.kind().isRemote() ? later.memory() : earlier.memory();
        String text = String.format(
                Locale.ROOT,
                "%s %d bytes from byte %d of %s; %s them too, and nothing orders the two.",
                verb(later),
                to - from,
                from - memory.base(),
                memory.label(),
                verb(earlier));
        return announcement == null
                ? text
                : text + " A " + announcement.name() + " of another queue pair has announced them: "
                        + announcement.place() + ".";
    }

    /// Returns where the second step was.
    public CallPlace here() {
        return later.step().place();
    }

    /// Returns where the first step was.
    public CallPlace before() {
        return earlier.step().place();
    }

    /// Tells it. Another rule would tell that the bytes of a request have changed, which is the same mistake.
    public void tell(Findings findings) {
        share(earlier.step());
        share(later.step());
        findings.tell(rule, detail(), here(), "the other was", before());
    }

    private static void share(RaceStep step) {
        if (step.request != null) {
            step.request.share();
        }
    }

    /// Takes it back.
    public void retract(Findings findings) {
        findings.retract(rule, here(), before());
    }
}
