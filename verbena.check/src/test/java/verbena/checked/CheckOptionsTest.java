package verbena.checked;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.check.CallPlace;
import verbena.check.CheckOptions;
import verbena.check.Checker;
import verbena.check.Rule;
import verbena.check.rules.Watchers;

class CheckOptionsTest {
    @TempDir
    private Path folder;

    private static Checker found(Rule... rules) {
        var checker = new Checker(EnumSet.allOf(Rule.class), Watchers::of);
        for (Rule each : rules) {
            checker.findings().tell(each, "a \"detail\" <1>.", CallPlace.here(), "it was posted", CallPlace.here());
        }
        return checker;
    }

    private static String report(CheckOptions options, Checker checker, int status) {
        var out = new StringWriter();
        assertThat(options.report(checker.findings(), new PrintWriter(out))).isEqualTo(status);
        return out.toString();
    }

    @Test
    void namesTheRulesThatAreOn() {
        assertThat(CheckOptions.of("on").rules()).containsExactly(Rule.values());
        assertThat(CheckOptions.of("only=V-LEAK+V-RNR-WAIT").rules())
                .containsExactlyInAnyOrder(Rule.LEAK, Rule.RNR_WAIT);
        assertThat(CheckOptions.of("on,without=V-LEAK").rules())
                .hasSize(Rule.values().length - 1)
                .doesNotContain(Rule.LEAK);
        assertThat(CheckOptions.of("on").areThreadsApart()).isFalse();
        assertThat(CheckOptions.of("threads").areThreadsApart()).isTrue();
    }

    @Test
    void refusesWhatItDoesNotKnow() {
        assertThatThrownBy(() -> CheckOptions.of("on,loud")).hasMessageContaining("\"loud\"");
        assertThatThrownBy(() -> CheckOptions.of("json")).hasMessageContaining("json needs a value");
        assertThatThrownBy(() -> CheckOptions.of("only=V-NONE").rules()).hasMessageContaining("V-NONE");
    }

    @Test
    void theStatusIsThatOfTheWorstGradeWhenFailureIsAskedFor() {
        assertThat(report(CheckOptions.of("on"), found(Rule.SEND_CHANGED), 0))
                .contains("V-SEND-CHANGED error", "1 errors, 0 by luck, 0 costs", "CheckOptionsTest.java");
        report(CheckOptions.of("fail"), found(Rule.LEAK), 0);
        report(CheckOptions.of("fail"), found(Rule.LEAK, Rule.RETRY_ZERO), 1);
        report(CheckOptions.of("fail"), found(Rule.SEND_CHANGED, Rule.RETRY_ZERO), 2);
        assertThat(report(CheckOptions.of("quiet"), found(), 0)).isEmpty();
    }

    @Test
    void suppressesFindingsWithAReason() throws Exception {
        Path file = folder.resolve("known");
        Files.writeString(file, "# known\nV-LEAK CheckOptionsTest*found # the test's own\nV-RNR-WAIT # slow\n");

        String text =
                report(CheckOptions.of("fail,suppress=" + file), found(Rule.LEAK, Rule.RNR_WAIT, Rule.RETRY_ZERO), 1);

        assertThat(text)
                .contains("V-RETRY-ZERO", "0 errors, 1 by luck, 0 costs")
                .doesNotContain("V-LEAK", "V-RNR");
    }

    @Test
    void refusesASuppressionWithoutAReason() throws Exception {
        Path file = folder.resolve("known");
        Files.writeString(file, "V-LEAK # fine\nV-RNR-WAIT\n");

        assertThatThrownBy(() -> CheckOptions.of("suppress=" + file)).hasMessageContaining("line 2 has no reason");
    }

    @Test
    void writesJsonSarifAndAPage() throws Exception {
        Path json = folder.resolve(ProcessHandle.current().pid() + ".json");
        Path sarif = folder.resolve("f.sarif");
        Path html = folder.resolve("f.html");

        report(
                CheckOptions.of("json=" + folder.resolve("%p.json") + ",sarif=" + sarif + ",html=" + html),
                found(Rule.SEND_CHANGED),
                0);

        assertThat(Files.readString(json))
                .contains("\"rule\":\"V-SEND-CHANGED\"", "\"grade\":\"error\"", "a \\\"detail\\\" <1>.");
        assertThat(Files.readString(sarif))
                .contains(
                        "\"version\":\"2.1.0\"",
                        "\"ruleId\":\"V-SEND-CHANGED\"",
                        "\"level\":\"error\"",
                        "\"uri\":\"verbena/checked/CheckOptionsTest.java\"",
                        "\"startLine\":");
        assertThat(Files.readString(html)).contains("<h2>V-SEND-CHANGED (error)", "&lt;1&gt;");
        for (String text : List.of(Files.readString(json), Files.readString(sarif))) {
            assertThat(text.chars().filter(c -> c == '{').count())
                    .isEqualTo(text.chars().filter(c -> c == '}').count());
        }
    }

    @Test
    void aRecordingHasNoRulesUnlessSomeAreNamed() {
        assertThat(CheckOptions.of("record=folder").rules()).isEmpty();
        assertThat(CheckOptions.of("record=folder").recording()).contains(Path.of("folder"));
        assertThat(CheckOptions.of("record=folder,only=V-LEAK").rules()).containsExactly(Rule.LEAK);
        assertThat(CheckOptions.of("on").recording()).isEmpty();
        assertThatThrownBy(() -> CheckOptions.of("record")).hasMessageContaining("record needs a value");
    }
}
