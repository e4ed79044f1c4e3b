package verbena.check.litmus;

import java.util.List;
import java.util.Optional;

/// A page about one pattern: a program with a question, and its cures.
///
/// @param name by which a user chooses it
/// @param title what the program is, in a few words
/// @param question what is asked, as a sentence
/// @param why a student should care
/// @param variants the program first, then its cures
public record Litmus(String name, String title, String question, String why, List<Variant> variants) {
    /// A form of the program.
    ///
    /// @param title what the cure is; empty for the program itself
    /// @param program what runs
    /// @param allowed the lowest level at which what is asked can be; empty when it never can
    /// @param see what a student should see
    public record Variant(String title, Program program, Optional<Level> allowed, String see) {}

    public Litmus {
        variants = List.copyOf(variants);
    }
}
