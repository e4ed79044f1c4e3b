package verbena.tools.weak;

import java.util.Set;
import verbena.check.Rule;

/// A short program of ours that checks what it gets.
///
/// @param name by which a user chooses it
/// @param meant the rules that it breaks on purpose
/// @param isEndless whether parts of it go on until their process ends, so that each run has a process of its own
record OwnProgram(String name, Set<Rule> meant, boolean isEndless, Body body) {
    OwnProgram {
        meant = Set.copyOf(meant);
    }

    OwnProgram(String name, Body body) {
        this(name, Set.of(), body);
    }

    OwnProgram(String name, Set<Rule> meant, Body body) {
        this(name, meant, false, body);
    }

    /// What it does.
    interface Body {
        /// Runs the program.
        ///
        /// @param seed draws what the program sends
        /// @throws AssertionError when something else came than was sent
        void run(long seed) throws Exception;
    }
}
