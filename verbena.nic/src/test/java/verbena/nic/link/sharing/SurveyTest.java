package verbena.nic.link.sharing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// Surveys of an address, in virtual time: this link has slot 5.
class SurveyTest {
    private static final int OWN = 5;

    /// Slots and their indexes in the kernel's group.
    private final Map<Integer, Integer> kernel = new TreeMap<>(Map.of(OWN, 0));

    private final Set<Integer> busy = new TreeSet<>();
    private final List<Map<Integer, Integer>> steered = new ArrayList<>();
    private boolean isSteered = true;
    private boolean mayAttach = true;
    private int probes;
    private long lastCookie;
    private long cookies;
    private long now = Long.MAX_VALUE - 1_000; // the clock overflows
    private final Survey survey = new Survey(new Address(), () -> now);

    /// Answers a probe at once, like a process that is not busy.
    private final class Address implements Survey.Ground {
        @Override
        public boolean isTaken(int slot) {
            return kernel.containsKey(slot);
        }

        @Override
        public int neighbours() {
            return kernel.size() - 1;
        }

        @Override
        public long cookie() {
            return ++cookies;
        }

        @Override
        public void probe(int index, long cookie) {
            probes++;
            lastCookie = cookie;
            int whose = OWN; // where no program names a socket, a hash chooses one: always the same
            for (Map.Entry<Integer, Integer> one : kernel.entrySet()) {
                if (isSteered && one.getValue() == index) {
                    whose = one.getKey();
                }
            }
            if (!busy.contains(whose)) {
                survey.onLocated(whose, index, cookie);
            }
        }

        @Override
        public boolean steer(int[] indexOf) {
            isSteered = mayAttach;
            var known = new TreeMap<Integer, Integer>();
            for (int slot = 0; slot < indexOf.length; slot++) {
                if (indexOf[slot] != Steering.UNKNOWN) {
                    known.put(slot, indexOf[slot]);
                }
            }
            steered.add(known);
            return mayAttach;
        }

        @Override
        public void hurry() {}
    }

    private void after(long nanos) {
        now += nanos;
        survey.tick();
    }

    @Test
    void aLinkThatIsAloneNeedsNone() {
        survey.begin();
        after(0);
        assertThat(probes).isZero();
        assertThat(survey.due()).isEqualTo(Survey.NEVER);
    }

    @Test
    void allAreFoundAtOnceWhenAllAnswer() {
        kernel.put(9, 1);
        kernel.put(200, 2);
        survey.begin();
        after(0);
        assertThat(steered).containsExactly(Map.of(OWN, 0, 9, 1, 200, 2));
        assertThat(survey.due()).isEqualTo(Survey.NEVER);
        assertThat(survey.surveys()).isEqualTo(1);
    }

    /// The first link of a group finds no program: the kernel's hash sends all probes to the same socket.
    @Test
    void aGroupWithoutAProgramGetsOneBeforeItIsSurveyed() {
        isSteered = false;
        kernel.put(9, 1);
        survey.begin();
        after(0);
        assertThat(steered).containsExactly(Map.of(), Map.of(OWN, 0, 9, 1));
    }

    @Test
    void aBusyLinkIsAskedAgainAndTheOthersAreSteeredMeanwhile() {
        kernel.put(9, 1);
        kernel.put(200, 2);
        busy.add(9);
        survey.begin();
        after(0);
        assertThat(steered).isEmpty();
        after(Survey.SURVEY_NANOS); // incomplete: repeated later
        after(Survey.AGAIN_NANOS);
        after(Survey.SURVEY_NANOS);
        assertThat(steered).containsExactly(Map.of(OWN, 0, 200, 2));
        busy.clear();
        after(2 * Survey.AGAIN_NANOS);
        assertThat(steered.getLast()).isEqualTo(Map.of(OWN, 0, 9, 1, 200, 2));
        assertThat(survey.due()).isEqualTo(Survey.NEVER);
    }

    private void surveyUntilItGivesUp() {
        kernel.put(9, 1);
        busy.add(9);
        survey.begin();
        for (int i = 0; i < 100; i++) {
            after(Survey.AGAIN_NANOS);
        }
    }

    @Test
    void aLinkThatNeverAnswersIsNotAskedForEver() {
        surveyUntilItGivesUp();
        assertThat(survey.surveys()).isEqualTo(1 + Survey.AGAIN_MAX);
        assertThat(survey.due()).isEqualTo(Survey.NEVER);
    }

    @Test
    void aLateAnswerOfAnUnknownLinkBeginsASurvey() {
        surveyUntilItGivesUp();
        busy.clear();
        survey.onLocated(9, 1, lastCookie);
        after(0);
        assertThat(steered.getLast()).isEqualTo(Map.of(OWN, 0, 9, 1));
    }

    /// Another user may forge a probe (decision 48), but does not know the cookie.
    @Test
    void anAnswerWithAnotherCookieCountsForNothing() {
        kernel.put(9, 1);
        busy.add(9);
        survey.begin();
        after(0);
        survey.onLocated(9, 77, lastCookie + 1);
        after(Survey.SURVEY_NANOS);
        assertThat(steered).isEmpty();
    }

    @Test
    void misdirectedPacketsAreAReasonAndLessOftenWhenNothingNewComesOut() {
        kernel.put(9, 1);
        survey.begin();
        after(0);
        long before = survey.surveys();
        for (int i = 0; i < 100; i++) { // for ten seconds
            survey.onMisdirected(Survey.MISDIRECTED_MAX);
            after(100_000_000);
        }
        assertThat(survey.surveys() - before).isBetween(4L, 8L);
    }

    @Test
    void whereTheSystemForbidsItNothingIsSurveyedAnyMore() {
        mayAttach = false;
        kernel.put(9, 1);
        survey.begin();
        after(0);
        assertThat(survey.due()).isEqualTo(Survey.NEVER);
        survey.begin();
        assertThat(survey.due()).isEqualTo(Survey.NEVER);
    }
}
