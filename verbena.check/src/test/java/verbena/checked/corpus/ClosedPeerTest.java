package verbena.checked.corpus;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.RemoteMemory;
import verbena.verbs.Transition;

/// Requests to a peer that has ended its queue pair before its memory. They reach no memory, whatever their key.
class ClosedPeerTest {
    private static void write(Consumer<QueuePair> end, boolean isTold) {
        try (var scene = new TwoEnds(Set.of())) {
            scene.connect();
            MemoryRegion region = scene.domain.allocate(64, Access.remoteAll());
            RemoteMemory target = region.remote();
            end.accept(scene.there);
            region.close();
            scene.here.postWrite(1, scene.local.slice(0, 64), target);
            assertThat(scene.checker.findings().all().stream().anyMatch(each -> each.rule() == Rule.KEY_CLOSED))
                    .isEqualTo(isTold);
        }
    }

    @Test
    void aClosedKeyIsToldWhileThePeersQueuePairWorks() {
        write(_ -> {}, true);
    }

    @Test
    void aClosedKeyIsNotToldWhenThePeersQueuePairWasClosedOrIsInErr() {
        write(QueuePair::close, false);
        write(there -> there.modify(new Transition.ToError()), false);
    }
}
