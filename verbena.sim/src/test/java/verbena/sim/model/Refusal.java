package verbena.sim.model;

import java.util.ArrayList;
import java.util.List;

/// One reason why a verb has to be refused.
///
/// @param type the exception it is refused with
/// @param words what the message has to name: the argument, the limit or the attributes
public record Refusal(Class<? extends RuntimeException> type, List<String> words) {
    /// Whether this exception tells of this reason.
    public boolean isToldBy(RuntimeException thrown) {
        String message = String.valueOf(thrown.getMessage());
        return type.isInstance(thrown) && words.stream().allMatch(message::contains);
    }

    /// A list of reasons that reads like a list of rules.
    static final class Reasons {
        private final List<Refusal> list = new ArrayList<>();

        /// `broken`: the rule is broken, and this is how it has to be told.
        Reasons when(boolean broken, Class<? extends RuntimeException> type, String... words) {
            if (broken) {
                list.add(new Refusal(type, List.of(words)));
            }
            return this;
        }

        Reasons and(List<Refusal> more) {
            list.addAll(more);
            return this;
        }

        List<Refusal> list() {
            return List.copyOf(list);
        }
    }
}
