package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.CompletionQueue;
import verbena.verbs.QueuePairOptions;

/// A server posts receives to a shared queue for all clients, and its completion queue is as long as one client needs.
final class SmallQueueForShared implements Program {
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
        try (var shared = scene.domain.createSharedReceiveQueue(RECEIVES, 1)) {
            try (var batch = shared.receiveBatch()) {
                for (int i = 0; i < RECEIVES; i++) {
                    batch.receive(i).sge(scene.remote, 64L * i, 64);
                }
                batch.submit();
            }
            shared.armLimit(RECEIVES / 2);
            var options = QueuePairOptions.rc(queue).withSharedReceiveQueue(shared);
            try (var client = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                    var server = scene.domain.createQueuePair(options)) { // here
                client.connect(server.endpoint());
                server.connect(client.endpoint());
                for (int i = 0; i < RECEIVES / 4; i++) {
                    client.postSend(i, scene.local.slice(0, 64));
                    scene.take(scene.sent);
                    scene.take(queue);
                    shared.postReceive(i, scene.remote.slice(64 * scene.wc.wrId(), 64));
                }
            }
        }
    }
}
