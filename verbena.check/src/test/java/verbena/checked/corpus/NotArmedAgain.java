package verbena.checked.corpus;

import java.time.Duration;
import verbena.check.Rule;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.QueuePairOptions;

/// A thread arms its queue once, although each event disarms it.
final class NotArmedAgain implements Program {
    @Override
    public Rule rule() {
        return Rule.ARM_LOST;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var channel = scene.device.createCompletionChannel();
                var queue = scene.device.createCompletionQueue( // earlier
                        CompletionQueueOptions.of(16).withChannel(channel));
                var sender = scene.domain.createQueuePair(QueuePairOptions.rc(queue));
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            sender.connect(receiver.endpoint());
            receiver.connect(sender.endpoint());
            queue.arm();
            sender.postWrite(1, scene.local.slice(0, 64), scene.remote.remote());
            channel.await(Duration.ofSeconds(10));
            scene.take(queue);
            sender.postWrite(2, scene.local.slice(0, 64), scene.remote.remote());
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
            queue.arm();
            sender.postWrite(1, scene.local.slice(0, 64), scene.remote.remote());
            channel.await(Duration.ofSeconds(10));
            scene.take(queue);
            queue.arm();
            sender.postWrite(2, scene.local.slice(0, 64), scene.remote.remote());
            channel.await(Duration.ofSeconds(10));
            scene.take(queue);
        }
    }
}
