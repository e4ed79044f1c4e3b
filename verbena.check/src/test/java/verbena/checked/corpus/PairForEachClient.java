package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;

/// A server has a queue pair for each of six hundred clients.
final class PairForEachClient implements Program {
    @Override
    public Rule rule() {
        return Rule.PAIRS_MANY;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        for (int i = 0; i < 300; i++) {
            QueuePair server = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived));
            QueuePair client = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
            server.connect(client.endpoint()); // here
            client.connect(server.endpoint()); // here
            scene.closeLater(client, server);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        QueuePair server = scene.domain.createQueuePair(QueuePairOptions.ud(scene.arrived));
        for (int i = 0; i < 300; i++) {
            scene.closeLater(scene.domain.createQueuePair(QueuePairOptions.ud(scene.sent)));
        }
        scene.closeLater(server);
    }
}
