package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.CompletionQueue;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.XrcDomain;

/// A shared queue for targets of XRC has more receives than its completion queue has entries.
final class SmallQueueForExtended implements Program {
    private static final int RECEIVES = 32;

    @Override
    public Rule rule() {
        return Rule.QUEUE_SMALL;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var queue = scene.device.createCompletionQueue(8)) { // earlier
            serve(scene, queue);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var queue = scene.device.createCompletionQueue(RECEIVES)) {
            serve(scene, queue);
        }
    }

    private static void serve(TwoEnds scene, CompletionQueue queue) throws Exception {
        try (XrcDomain domain = scene.device.openXrcDomain();
                var shared = domain.createSharedReceiveQueue(scene.domain, queue, RECEIVES, 1);
                var target = domain.createTarget();
                var initiator = scene.domain.createQueuePair(QueuePairOptions.xrcInitiator(scene.sent))) {
            try (var batch = shared.receiveBatch()) {
                for (int i = 0; i < RECEIVES; i++) {
                    batch.receive(i).sge(scene.remote, 64L * i, 64);
                }
                batch.submit(); // here
            }
            initiator.connect(target.endpoint());
            target.connect(initiator.endpoint());
            int number = shared.number().orElseThrow();
            for (int i = 0; i < RECEIVES / 4; i++) {
                try (var batch = initiator.sendBatch()) {
                    batch.send(i).to(number).sge(scene.local, 0, 64).signaled();
                    batch.submit();
                }
                scene.take(scene.sent);
                scene.take(queue);
                long slot = scene.wc.wrId();
                shared.postReceive(slot, scene.remote.slice(64 * slot, 64));
            }
        }
    }
}
