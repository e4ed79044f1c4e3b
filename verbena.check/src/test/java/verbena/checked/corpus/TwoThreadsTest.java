package verbena.checked.corpus;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import verbena.check.Checker;
import verbena.check.Rule;
import verbena.check.TrackedRequest;
import verbena.check.Watcher;
import verbena.check.rules.Watchers;

/// The peer posts its message while a receive is being posted, before the rules have heard of that.
class TwoThreadsTest {
    private static final class Intruder extends Watcher {
        private Runnable step = () -> {};

        private Intruder() {
            super(Set.of(Event.POST));
        }

        @Override
        public void onPost(TrackedRequest request) {
            if (request.isReceive()) {
                step.run();
            }
        }
    }

    @Test
    void aReceiveThatIsBeingPostedHasNotChanged() throws Exception {
        var intruder = new Intruder();
        var checker = new Checker(EnumSet.of(Rule.TARGET_WRITTEN), (on, of) -> {
            List<Watcher> all = new ArrayList<>(List.of(intruder));
            all.addAll(Watchers.of(on, of));
            return all;
        });
        try (var scene = new TwoEnds(checker)) {
            scene.connect();
            scene.remote.segment().fill((byte) 9);
            intruder.step = () -> scene.here.postSend(1, scene.local.slice(0, 64));
            scene.there.postReceive(2, scene.remote.slice(0, 64));
            scene.take(scene.sent);
            scene.take(scene.arrived);
            assertThat(checker.findings().all()).isEmpty();
        }
    }
}
