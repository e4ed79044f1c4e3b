package verbena.tools.weak;

import java.util.Set;
import verbena.check.Rule;

/// A short program of ours that checks what it gets.
///
/// @param name by which a user chooses it
/// @param isVirtual whether it runs in virtual time: all its threads wait for devices or for each other, and none is
///     the system's
/// @param meant the rules that it breaks on purpose
record OwnProgram(String name, boolean isVirtual, Set<Rule> meant, Body body) {
    OwnProgram {
        meant = Set.copyOf(meant);
    }

    OwnProgram(String name, boolean isVirtual, Body body) {
        this(name, isVirtual, Set.of(), body);
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
