package verbena.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The table by itself, without a lab.
class TableTest {
    private static final List<String> NAMES =
            Table.checks().stream().map(Check::name).toList();

    @Test
    void everyNameIsThereOnce() {
        assertThat(NAMES).doesNotHaveDuplicates().hasSize(264);
    }

    @Test
    void aPatternIsAnyPartOfANameWithStarsAndQuestionMarks() {
        assertThat(matching("conform")).containsExactly("conform, rxe0", "conform, siw0");
        assertThat(matching("litmus")).containsExactly("litmus, rxe0", "litmus, siw0");
        assertThat(matching("iwarp rping, IPv?, CRC")).hasSize(4);
        assertThat(matching("we serve: abi: ib_*_bw -R")).hasSize(4);
        assertThat(matching("UD, send-lat -R")).hasSize(2);
        assertThat(matching("(")).isEmpty();
        assertThat(matching("")).isEqualTo(NAMES);
    }

    /// Whatever is drawn, each kind of check has some, and what judges the losses has had checks before it.
    @Test
    void eachCheckIsInOneShareAndEachShareHasAllKinds() {
        var all = new ArrayList<String>();
        for (int share = 0; share < 6; share++) {
            List<String> names = Table.share(share, 6).stream().map(Check::name).toList();
            assertThat(names).hasSizeBetween(40, 50);
            for (String kind : List.of(
                    "cm, we connect: ",
                    "cm, we serve: ",
                    "perf, we connect: ",
                    "perf, we serve: ",
                    "iwarp rping, ",
                    "iwarp we ",
                    "ibverbs, ",
                    "abi, with its twin: ",
                    "rc: we ",
                    "link=raw",
                    "link=xdp",
                    "every operation and error, ")) {
                assertThat(names).as(kind).anyMatch(name -> name.contains(kind));
            }
            for (String judge : List.of("what they sent was lost", "what we sent was lost")) {
                int at = names.indexOf(judge);
                assertThat(at < 0 || names.get(at - 1).contains("is lost"))
                        .as(judge)
                        .isTrue();
            }
            all.addAll(names);
        }
        assertThat(all).containsExactlyInAnyOrderElementsOf(NAMES);
    }

    /// Each change of the weather costs commands in the guest, and the counters of what was lost begin anew.
    @Test
    void theWeatherChangesOnlyWhereItHasTo() {
        List<Weather> weathers = Table.checks().stream().map(Check::weather).toList();
        long changes = 0;
        for (int i = 1; i < weathers.size(); i++) {
            changes += weathers.get(i) == weathers.get(i - 1) ? 0 : 1;
        }
        assertThat(changes).isEqualTo(7);
    }

    @Test
    void onlyServicesThatMayLoseHaveMoreThanOneAttempt() {
        List<String> more = Table.checks().stream()
                .filter(check -> check.attempts() > 1)
                .map(Check::name)
                .toList();
        assertThat(more).isNotEmpty().allMatch(name -> name.matches("(?i).*(uc|ud|ud_.*|udaddy)\\b.*"));
    }

    private static List<String> matching(String pattern) {
        return NAMES.stream().filter(Table.matching(pattern)).toList();
    }
}
