package verbena.sim.explore;

import java.util.function.Supplier;

/// Something that may happen in a [SmallWorld].
///
/// @param name what happens, in words, as it stands in a schedule; asked before it is done
/// @param does it
public record Step(Kind kind, Supplier<String> name, Runnable does) {
    enum Kind {
        /// An end or a program goes on. In every order, as often as may be.
        USUAL("  "),
        /// Time passes to the next deadline. By itself, when nothing else can happen; otherwise it is a
        /// deviation: all that could happen was delayed past the timer.
        TIME("+ "),
        /// Something goes wrong: a deviation.
        FAULT("! ");

        final String mark;

        Kind(String mark) {
            this.mark = mark;
        }
    }

    public static Step usual(Supplier<String> name, Runnable does) {
        return new Step(Kind.USUAL, name, does);
    }

    public static Step time(Supplier<String> name, Runnable does) {
        return new Step(Kind.TIME, name, does);
    }

    public static Step fault(Supplier<String> name, Runnable does) {
        return new Step(Kind.FAULT, name, does);
    }
}
