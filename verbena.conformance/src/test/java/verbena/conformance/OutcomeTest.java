package verbena.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import verbena.conformance.fixture.Expect;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.Device;

/// What the suite makes of a case: cases of this test's own, over a real device.
class OutcomeTest {
    private static Result run(String kind, Case each) throws InterruptedException {
        return new Suite(Device.named("iwarp"), kind).run(each);
    }

    private static Case tried(Case.Body body, Capability... needs) {
        return new Case("regions", "regions.aClosedArenaIsAStatusAndNoCrash", Set.of(needs), body);
    }

    @Test
    void aPromiseThatIsNotKeptIsToldWithItsStory() throws InterruptedException {
        Result result = run("iwarp", tried(fixture -> {
            fixture.tell("this was done");
            Expect.equal("the answer", 42, 41);
        }));

        assertThat(result.isGreen()).isFalse();
        assertThat(result.outcome())
                .isEqualTo(new Outcome.Broken("the answer: expected 42, was 41", List.of("this was done")));
    }

    @Test
    void anExceptionThatNobodyExpectedIsToldWithItsPlace() throws InterruptedException {
        Result result = run("iwarp", tried(fixture -> fixture.a().port(7)));

        assertThat(result.outcome())
                .isInstanceOfSatisfying(
                        Outcome.Broken.class,
                        broken -> assertThat(broken.what())
                                .startsWith("java.lang.IllegalArgumentException")
                                .contains("    at "));
    }

    @Test
    void whatIsDeclaredNotToBeKeptIsGreenAndToldWhenItIs() throws InterruptedException {
        Result broken = run("rxe", tried(fixture -> Expect.equal("the answer", 42, 41)));
        Result kept = run("rxe", tried(fixture -> Expect.equal("the answer", 42, 42)));

        assertThat(broken.isGreen()).isTrue();
        assertThat(broken.outcome()).isInstanceOf(Outcome.Deviates.class);
        assertThat(kept.outcome()).isEqualTo(new Outcome.Kept(true));
    }

    @Test
    void whatTheDeviceDoesNotDeclareIsNotTried() throws InterruptedException {
        var ran = new ArrayList<String>();
        Result result = run("iwarp", tried(fixture -> ran.add("ran"), Capability.UD, Capability.RC));

        assertThat(result.outcome()).isEqualTo(new Outcome.NotSupported(Set.of(Capability.UD)));
        assertThat(ran).isEmpty();
    }

    @Test
    void whatACaseLeavesOpenIsClosed() throws InterruptedException {
        var left = new ArrayList<verbena.verbs.MemoryRegion>();
        Result result = run(
                "iwarp",
                tried(fixture -> left.add(fixture.own(fixture.end().domain.allocate(8, Access.local())))));

        assertThat(result.outcome()).isEqualTo(new Outcome.Kept(false));
        assertThat(left.getFirst().isClosed()).isTrue();
    }

    @Test
    void everyCaseHasItsOwnNameAndASentence() {
        assertThat(Suite.cases()).hasSizeGreaterThan(350).extracting(Case::name).doesNotHaveDuplicates();
        assertThat(Suite.cases("fetchAddReturns").getFirst().sentence()).isEqualTo("Fetch add returns what was there.");
        assertThat(Suite.cases("ATOMICS.*unchanged*nothing")).isEmpty();
        assertThat(Suite.cases("atomics.*swap"))
                .hasSizeGreaterThan(2)
                .allMatch(each -> each.topic().equals("atomics"));
    }
}
