package verbena.messages;

/// The tags of messages that a receive takes. A value of it can be made once and used by any number of receives.
///
/// @param tag that the bits of a message's tag have to equal
/// @param mask the bits that count
public record TagFilter(long tag, long mask) {
    private static final TagFilter ANY = new TagFilter(0, 0);

    /// Takes messages of any tag.
    public static TagFilter any() {
        return ANY;
    }

    /// Takes messages of this tag only.
    public static TagFilter exactly(long tag) {
        return new TagFilter(tag, -1);
    }

    /// Takes messages whose tag equals `tag` in the bits of `mask`.
    public static TagFilter masked(long tag, long mask) {
        return new TagFilter(tag, mask);
    }
}
