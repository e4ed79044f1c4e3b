package verbena.checked.corpus;

import java.time.Duration;
import verbena.check.Rule;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.QueuePairOptions;

/// A thread takes one completion before it waits, and two may have come.
final class OneOfTwoTaken implements Program {
    @Override
    public Rule rule() {
        return Rule.ARM_LOST;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var channel = scene.device.createCompletionChannel();
                var queue = scene.device.createCompletionQueue(
                        CompletionQueueOptions.of(16).withChannel(channel));
                var sender = scene.domain.createQueuePair(QueuePairOptions.rc(queue));
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            sender.connect(receiver.endpoint());
            receiver.connect(sender.endpoint());
            sender.postWrite(1, scene.local.slice(0, 64), scene.remote.remote());
            sender.postWrite(2, scene.local.slice(64, 64), scene.remote.remote().slice(64, 64));
            queue.arm(); // earlier
            scene.take(queue);
            channel.await(Duration.ofMillis(1)); // here
            scene.take(queue);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var channel = scene.device.createCompletionChannel();
                var queue = scene.device.createCompletionQueue(
                        CompletionQueueOptions.of(16).withChannel(channel));
                var sender = scene.domain.createQueuePair(QueuePairOptions.rc(queue));
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            sender.connect(receiver.endpoint());
            receiver.connect(sender.endpoint());
            sender.postWrite(1, scene.local.slice(0, 64), scene.remote.remote());
            sender.postWrite(2, scene.local.slice(64, 64), scene.remote.remote().slice(64, 64));
            queue.arm();
            int taken = 0;
            while (taken < 2) {
                if (queue.poll(scene.wc)) {
                    taken++;
                } else {
                    channel.await(Duration.ofSeconds(10));
                    queue.arm();
                }
            }
        }
    }
}
