package verbena.check.litmus;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import verbena.check.litmus.Litmus.Variant;

/// The outcomes of a program by the model, and who allows each.
///
/// @param names the registers and words that are asked for
/// @param rows the outcomes at the level of the standard, in order
public record Answer(List<String> names, List<Row> rows) {
    /// An outcome.
    ///
    /// @param text with the names, as `r == 0`
    /// @param isAsked whether it is what the program asks for
    /// @param level the lowest level that has it
    /// @param needs the freedoms of that level without which the outcome is lost; empty when every device
    ///     has it, or when one of several is enough
    /// @param isOfAll whether a device that takes no freedom has it
    public record Row(
            Ending ending, String text, boolean isAsked, Level level, Set<ModelFreedom> needs, boolean isOfAll) {}

    public Answer {
        names = List.copyOf(names);
        rows = List.copyOf(rows);
    }

    /// Asks the model.
    public static Answer of(Variant variant) {
        Program program = variant.program();
        Map<Level, SortedSet<Ending>> byLevel = new EnumMap<>(Level.class);
        for (Level level : Level.values()) {
            byLevel.put(level, Model.explore(program, ModelFreedom.of(level)).outcomes());
        }
        SortedSet<Ending> ofAll = Model.explore(program, Set.of()).outcomes();
        Map<Level, Map<ModelFreedom, SortedSet<Ending>>> without = new EnumMap<>(Level.class);
        List<String> names = List.copyOf(program.condition().names());
        var rows = new ArrayList<Row>();
        for (Ending ending : Program.known(byLevel, Level.STANDARD)) {
            Level least = Level.STANDARD;
            for (Level level : List.of(Level.CARD, Level.STRONG)) {
                least = Program.known(byLevel, level).contains(ending) ? level : least;
            }
            boolean isOfAll = ofAll.contains(ending);
            Set<ModelFreedom> needs = EnumSet.noneOf(ModelFreedom.class);
            if (!isOfAll) {
                without.computeIfAbsent(least, level -> withoutEach(program, level))
                        .forEach((freedom, outcomes) -> {
                            if (!outcomes.contains(ending)) {
                                needs.add(freedom);
                            }
                        });
            }
            rows.add(new Row(ending, ending.text(names), program.condition().holds(ending), least, needs, isOfAll));
        }
        return new Answer(names, rows);
    }

    private static Map<ModelFreedom, SortedSet<Ending>> withoutEach(Program program, Level level) {
        Map<ModelFreedom, SortedSet<Ending>> without = new EnumMap<>(ModelFreedom.class);
        for (ModelFreedom freedom : ModelFreedom.of(level)) {
            Set<ModelFreedom> fewer = EnumSet.copyOf(ModelFreedom.of(level));
            fewer.remove(freedom);
            without.put(freedom, Model.explore(program, fewer).outcomes());
        }
        return without;
    }

    /// Returns the lowest level at which what is asked can be; empty when it never can.
    public Optional<Level> level() {
        return rows.stream().filter(Row::isAsked).map(Row::level).sorted().findFirst();
    }

    /// Returns the outcomes on devices that take these freedoms.
    public static SortedSet<Ending> outcomes(Variant variant, Set<ModelFreedom> freedoms) {
        return new TreeSet<>(Model.explore(variant.program(), freedoms).outcomes());
    }
}
