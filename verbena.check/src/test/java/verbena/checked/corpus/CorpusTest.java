package verbena.checked.corpus;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.check.CallPlace;
import verbena.check.Finding;
import verbena.check.Rule;
import verbena.verbs.QpState;
import verbena.verbs.RemoteMemory;
import verbena.verbs.Transition;

/// The corpus: each wrong program is told by its rule, with both places; each right one is told of nothing.
@Timeout(180)
class CorpusTest {
    static final Path SOURCES = Path.of("src/test/java/verbena/checked/corpus");

    static Stream<Program> programs() {
        return Corpus.PROGRAMS.stream();
    }

    @ParameterizedTest
    @MethodSource("programs")
    void theMistakeIsTold(Program program) throws Exception {
        List<Finding> found = wrong(program, Set.of());
        var here = new ArrayList<Integer>();
        var earlier = new ArrayList<Integer>();
        for (Finding each : found) {
            assertThat(each.rule()).as("%s", each).isEqualTo(program.rule());
            lineIn(program, each.noticed(), here);
            lineIn(program, each.earlier(), earlier);
        }
        assertThat(found).isNotEmpty();
        assertThat(here).isSubsetOf(marked(program, "here")).hasSameSizeAs(found(found, program, true));
        assertThat(earlier).isSubsetOf(marked(program, "earlier"));
        assertThat(here.size() + earlier.size()).as("places in the program").isPositive();
        if (!marked(program, "here").isEmpty()) {
            assertThat(here).isNotEmpty();
        }
        if (!marked(program, "earlier").isEmpty()) {
            assertThat(earlier).isNotEmpty();
        }
    }

    private static List<Finding> found(List<Finding> all, Program program, boolean isHere) {
        return all.stream()
                .filter(each -> isIn(program, isHere ? each.noticed() : each.earlier()))
                .toList();
    }

    private static boolean isIn(Program program, CallPlace place) {
        return frame(program, place).isPresent();
    }

    private static Optional<CallPlace.Frame> frame(Program program, CallPlace place) {
        return place.frames().stream()
                .filter(frame -> frame.type().equals(program.getClass().getName()))
                .findFirst();
    }

    private static void lineIn(Program program, CallPlace place, List<Integer> into) {
        frame(program, place).ifPresent(frame -> into.add(frame.line()));
    }

    /// Returns the lines with this mark.
    private static List<Integer> marked(Program program, String mark) throws IOException {
        List<String> lines =
                Files.readAllLines(SOURCES.resolve(program.getClass().getSimpleName() + ".java"));
        List<Integer> marked = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            int comment = lines.get(i).indexOf("// ");
            if (comment >= 0 && lines.get(i).substring(comment).contains(mark)) {
                marked.add(i + 1);
            }
        }
        return marked;
    }

    @ParameterizedTest
    @MethodSource("programs")
    void theRightProgramIsToldOfNothing(Program program) throws Exception {
        try (var scene = new TwoEnds(Set.of())) {
            scene.connect();
            program.right(scene);
            assertThat(found(scene)).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void withoutItsRuleNothingIsTold(Program program) throws Exception {
        assertThat(wrong(program, EnumSet.of(program.rule()))).isEmpty();
    }

    private static List<Finding> wrong(Program program, Set<Rule> off) throws Exception {
        try (var scene = new TwoEnds(off)) {
            scene.connect();
            program.wrong(scene);
            return found(scene);
        }
    }

    /// The scene itself is open when a program says that the process ends.
    private static List<Finding> found(TwoEnds scene) {
        return scene.checker.findings().all().stream()
                .filter(each -> each.rule() != Rule.LEAK
                        || !each.earlier().frames().getFirst().type().equals(TwoEnds.class.getName()))
                .toList();
    }

    /// As our libibverbs.so.1 does, which throws such completions away.
    @Test
    void aCompletionFromBeforeAResetIsNoFailureAfterIt() throws Exception {
        try (var scene = new TwoEnds(Set.of())) {
            scene.connect();
            scene.here.postWrite(1, scene.local.slice(0, 64), new RemoteMemory(scene.remote.address(), 0, 64));
            while (scene.here.state() != QpState.ERR) {
                Thread.onSpinWait();
            }
            scene.here.modify(new Transition.ToReset());
            scene.there.modify(new Transition.ToReset());
            while (scene.sent.poll(scene.wc)) {
                assertThat(scene.wc.ok()).isFalse();
            }
            scene.connect();
            scene.here.postWrite(2, scene.local.slice(0, 64), scene.remote.remote());
            scene.take(scene.sent);
            assertThat(found(scene)).extracting(Finding::rule).doesNotContain(Rule.STATUS_IGNORED);
        }
    }

    @Test
    void eachRuleHasAProgram() {
        Set<Rule> had = EnumSet.noneOf(Rule.class);
        Corpus.PROGRAMS.forEach(program -> had.add(program.rule()));
        assertThat(had).containsExactlyInAnyOrder(Rule.values());
    }
}
