package verbena.check.litmus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.check.litmus.Litmus.Variant;

/// The model against outcomes that were derived by hand, and each freedom by what is lost without it.
class ModelTest {
    /// The outcomes of each program and of its cures, in order: of strong devices, then what cards add, then what
    /// the standard adds. They were derived from the table of freedoms, not from the model.
    private static final String BY_HAND = """
            message-passing     1                                  | -             | 0
            message-passing     1                                  | -             | -
            message-passing     1                                  | -             | -
            store-buffering     0 0, 0 1, 1 0, 1 1                 | -             | -
            store-buffering     0 1, 1 0, 1 1                      | 0 0           | -
            store-buffering     0 1, 1 0, 1 1                      | -             | -
            load-buffering      0 0, 0 1, 1 0, 1 1                 | -             | -
            load-buffering      0 0, 0 1, 1 0                      | -             | -
            two-queues          0, 1                               | -             | -
            two-queues          1                                  | 0             | -
            two-queues          1                                  | -             | -
            write-then-look     1                                  | 0             | -
            write-then-look     1                                  | -             | -
            write-then-look     1                                  | -             | -
            read-then-write     0, 1                               | -             | -
            read-then-write     0                                  | -             | -
            atomic-then-write   0, 4                               | -             | -
            atomic-then-write   0                                  | -             | -
            read-then-forward   0, 1                               | -             | -
            read-then-forward   1                                  | -             | -
            read-then-forward   1                                  | -             | -
            read-then-atomic    0, 1                               | -             | -
            read-then-atomic    0                                  | -             | -
            buffer-reuse        1, 2                               | -             | -
            buffer-reuse        1                                  | -             | -
            atomic-and-local    2                                  | 1             | -
            atomic-and-local    2                                  | -             | -
            atomic-and-write    0 4, 4 5                           | 0 1           | -
            atomic-and-write    0 5, 1 1                           | -             | -
            seqlock             0 0 0, 0 0 1, 0 1 0, 0 1 1, 1 0 0, 1 0 1, 1 1 0, 1 1 1, 2 1 1 | 2 0 0, 2 0 1, 2 1 0 | -
            seqlock             0 0 0 0, VERSIONS 2 2 1 1          | 2 2 0 0, 2 2 0 1, 2 2 1 0 | -
            seqlock             0 0 0 0, VERSIONS 2 2 1 1          | -             | -
            publish             0, 1                               | -             | -
            publish             1                                  | -             | -
            ring                1                                  | 0             | -
            ring                1                                  | -             | 0
            ring                1                                  | -             | -
            ticket-lock         2                                  | -             | 1
            ticket-lock         2                                  | -             | -
            lease               1, 2                               | -             | -
            lease               2                                  | -             | -
            torn-write          0 0, 0 1, 1 1                      | 1 0           | -
            torn-write          1 1                                | -             | -
            torn-word           0, 0x11                            | -             | 1, 0x10
            torn-word           0, 0x11                            | -             | -
            early-answer        0, 1                               | -             | -
            early-answer        1                                  | -             | -
            relaxed             1                                  | 0             | -
            relaxed             1                                  | -             | -
            plain-stores        0 0, 0 1, 1 0, 1 1                 | -             | -
            plain-stores        0 0, 0 1, 1 1                      | -             | -
            """;

    /// A reader that saw two versions of which one is old, or that is being made, may have any words of the data.
    private static final String VERSIONS = Stream.of("0 1", "0 2", "1 1", "1 2")
            .flatMap(versions -> Stream.of("0 0", "0 1", "1 0", "1 1").map(data -> versions + " " + data + ", "))
            .collect(Collectors.joining());

    private static final List<Litmus> ALL = Litmuses.all();
    private static final Map<Asked, Model.Result> RESULTS = new HashMap<>();

    private record Asked(Variant variant, Set<ModelFreedom> freedoms) {}

    static Stream<Litmus> litmuses() {
        return ALL.stream();
    }

    private static Model.Result explore(Variant variant, Set<ModelFreedom> freedoms) {
        return RESULTS.computeIfAbsent(
                new Asked(variant, Set.copyOf(freedoms)), asked -> Model.explore(variant.program(), asked.freedoms()));
    }

    private static Set<String> outcomes(Variant variant, Set<ModelFreedom> freedoms) {
        return explore(variant, freedoms).outcomes().stream()
                .map(Ending::toString)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void theOutcomesAreThoseDerivedByHand() {
        var names = new ArrayList<String>();
        var variants = new ArrayList<Variant>();
        for (Litmus litmus : ALL) {
            litmus.variants().forEach(_ -> names.add(litmus.name()));
            variants.addAll(litmus.variants());
        }
        List<String> rows = BY_HAND.replace("VERSIONS ", VERSIONS).lines().toList();
        assertThat(rows.stream().map(row -> row.split(" ", 2)[0])).containsExactlyElementsOf(names);
        for (int i = 0; i < rows.size(); i++) {
            var expected = new TreeSet<String>();
            String[] columns = rows.get(i).replaceFirst("\\S+", "").split("\\|", -1);
            for (Level level : Level.values()) {
                Stream.of(columns[level.ordinal()].split(",", -1))
                        .map(String::strip)
                        .filter(each -> !each.equals("-"))
                        .forEach(expected::add);
                assertThat(outcomes(variants.get(i), ModelFreedom.of(level)))
                        .as("row %d, %s: %s", i, level, variants.get(i).title())
                        .isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("litmuses")
    void whatIsAskedCanBeFromTheLevelOnThatTheFileSays(Litmus litmus) {
        for (Variant variant : litmus.variants()) {
            for (Level level : Level.values()) {
                Model.Result result = explore(variant, ModelFreedom.of(level));
                assertThat(result.outcomes().stream().anyMatch(variant.program().condition()::holds))
                        .as("%s, %s", variant.title(), level)
                        .isEqualTo(variant.allowed()
                                .filter(least -> least.compareTo(level) <= 0)
                                .isPresent());
                assertThat(result.isStuck())
                        .as("%s can wait for ever", variant.title())
                        .isFalse();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("litmuses")
    void theProgramItselfIsWrongSomewhereAndItsLastCureNever(Litmus litmus) {
        assertThat(litmus.variants().getFirst().allowed()).isPresent();
        assertThat(litmus.variants().getLast().allowed()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void withoutAFreedomAnOutcomeOfItsLevelIsLost(ModelFreedom freedom) {
        Set<ModelFreedom> with = ModelFreedom.of(freedom.level());
        Set<ModelFreedom> without = EnumSet.copyOf(with);
        without.remove(freedom);
        Map<String, Set<String>> lost = new LinkedHashMap<>();
        for (Litmus litmus : ALL) {
            for (Variant variant : litmus.variants()) {
                Set<String> outcomes = outcomes(variant, with);
                Set<String> fewer = outcomes(variant, without);
                assertThat(outcomes).as(litmus.name()).containsAll(fewer);
                if (fewer.size() < outcomes.size()) {
                    lost.computeIfAbsent(litmus.name(), _ -> new TreeSet<>()).addAll(outcomes);
                }
            }
        }
        assertThat(lost).as("litmus programs that show %s", freedom.text()).isNotEmpty();
    }

    @Test
    void aRequestThatNobodyPostsIsNotWaitedFor() {
        Litmus litmus = LitmusParser.parse("page", """
                title: T
                question: Q?
                why: W
                memory
                  A: m = 0
                  B: inbox = 0
                queues
                  q: A B
                receives
                  q at B: inbox
                thread B
                  take q
                can: inbox == 1
                allowed: never
                """);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Model.explore(litmus.variants().getFirst().program(), Set.of()))
                .withMessage("'take q': waits for a request that nobody posts");
    }

    @Test
    void anEndlessWaitIsFound() {
        Litmus litmus = LitmusParser.parse("page", """
                title: T
                question: Q?
                why: W
                memory
                  A: flag = 0
                thread A
                  await flag == 1
                can: flag == 1
                allowed: never
                """);
        Model.Result result = Model.explore(litmus.variants().getFirst().program(), Set.of());
        assertThat(result.isStuck()).isTrue();
        assertThat(result.outcomes()).isEmpty();
    }
}
