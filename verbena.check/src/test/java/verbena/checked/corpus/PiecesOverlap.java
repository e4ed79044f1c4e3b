package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// The header and the payload of a receive have bytes in common.
final class PiecesOverlap implements Program {
    @Override
    public Rule rule() {
        return Rule.TARGET_SHARED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var receiver =
                scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived).withSge(2, 2))) {
            receiver.modify(new Transition.ToInit(1, 0, Access.remoteAll()));
            try (var batch = receiver.receiveBatch()) {
                batch.receive(1).sge(scene.remote, 0, 64).sge(scene.remote, 32, 1_024);
                batch.submit(); // here, earlier
            }
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var receiver =
                scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived).withSge(2, 2))) {
            receiver.modify(new Transition.ToInit(1, 0, Access.remoteAll()));
            try (var batch = receiver.receiveBatch()) {
                batch.receive(1).sge(scene.remote, 0, 64).sge(scene.remote, 64, 1_024);
                batch.submit();
            }
        }
    }
}
