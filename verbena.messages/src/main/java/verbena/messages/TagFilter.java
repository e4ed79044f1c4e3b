package verbena.messages;

/// The tags of messages that a receive takes. Immutable; one value serves any number of receives.
///
/// @param tag that the bits of a message's tag have to equal
/// @param mask the bits that count
/// @since 0.1
public record TagFilter(long tag, long mask) {
    private static final TagFilter ANY = new TagFilter(0, 0);

    /// Returns a filter for messages of any tag.
    public static TagFilter any() {
        return ANY;
    }

    /// Returns a filter for messages of this tag only.
    public static TagFilter exactly(long tag) {
        return new TagFilter(tag, -1);
    }

    /// Returns a filter for messages whose tag equals `tag` in the bits of `mask`.
    public static TagFilter masked(long tag, long mask) {
        return new TagFilter(tag, mask);
    }
}
