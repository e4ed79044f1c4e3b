package verbena.messages;

/// The tags of messages that a receive takes. Immutable; one value serves any number of receives.
///
/// @param tag that a message's tag has to equal, in the bits of `mask`; the other bits are 0
/// @param mask the bits that are compared
/// @since 0.1
public record TagFilter(long tag, long mask) {
    private static final TagFilter ANY = new TagFilter(0, 0);

    /// Clears the bits of `tag` that are not compared, so that filters for the same tags are equal.
    public TagFilter {
        tag &= mask;
    }

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
