package verbena.check.litmus;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/// A freedom of a device: something that the standard lets it do and that a program may not expect.
public enum ModelFreedom {
    /// The order of two queue pairs. Without it, what a thread posts takes effect in one order over all its queues.
    QUEUE_PAIRS("queue-pairs", Level.STRONG, "requests of two queue pairs take effect in any order"),
    /// The time of an acknowledgement: an answer of the peer's program may complete first.
    LATE_COMPLETIONS("late-completions", Level.STRONG, "the answer arrives before the request completes"),
    /// The use of local memory: it is read at any time until the completion, and READs land at any time before it.
    LOCAL_BUFFERS("local-buffers", Level.STRONG, "the device uses local memory at any time until the completion"),
    /// The order of a SEND or WRITE behind a READ or atomic without a fence.
    UNFENCED("unfenced", Level.STRONG, "a SEND or WRITE without a fence overtakes a READ or an atomic"),
    /// The repetition of a READ after a loss: it reads memory anew, perhaps after what was posted behind it.
    RESAMPLED("resampled", Level.STRONG, "a READ that is repeated after a loss reads the memory again"),
    /// The time between a WRITE's completion and its bytes' visibility to the peer's processor.
    LATE_VISIBILITY("late-visibility", Level.CARD, "a WRITE completes before the peer's processor sees the bytes"),
    /// The order of the words of one message.
    TORN("torn", Level.CARD, "the words of one message become visible in any order"),
    /// The steps of an atomic: the owner's processor, or a WRITE, may come between its read and its write.
    SPLIT_ATOMICS("split-atomics", Level.CARD, "an atomic is a single step only among atomics of the same device"),
    /// The order of WRITEs to a region with relaxed ordering.
    RELAXED_ORDERING(
            "relaxed-ordering", Level.CARD, "WRITEs to memory with RELAXED_ORDERING become visible in any order"),
    /// The order in which WRITEs of one queue pair become visible, in any region.
    UNORDERED_WRITES("unordered-writes", Level.STANDARD, "WRITEs of one queue pair become visible in any order"),
    /// The pieces of an aligned word.
    TORN_WORDS("torn-words", Level.STANDARD, "the bytes of one aligned word become visible in any order");

    private final String text;
    private final Level level;
    private final String meaning;

    ModelFreedom(String text, Level level, String meaning) {
        this.text = text;
        this.level = level;
        this.meaning = meaning;
    }

    /// Returns the name by which a user chooses it.
    public String text() {
        return text;
    }

    /// Returns the lowest level that has it.
    public Level level() {
        return level;
    }

    /// Returns in a few words what the device may do.
    public String meaning() {
        return meaning;
    }

    /// Returns the freedoms of a level.
    public static Set<ModelFreedom> of(Level level) {
        EnumSet<ModelFreedom> freedoms = EnumSet.allOf(ModelFreedom.class);
        freedoms.removeIf(each -> each.level.compareTo(level) > 0);
        return freedoms;
    }

    /// Returns the freedom of that name.
    ///
    /// @throws IllegalArgumentException when there is none
    public static ModelFreedom named(String text) {
        return Arrays.stream(values())
                .filter(each -> each.text.equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("freedom: none is named '" + text + "', of "
                        + Arrays.stream(values()).map(ModelFreedom::text).collect(Collectors.joining(", "))));
    }
}
