package verbena.checked.corpus;

import java.time.Duration;
import verbena.check.Rule;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.QueuePairOptions;

/// Two queues have one channel, and a thread takes each event for one of the first.
final class EventOfTheOther implements Program {
    @Override
    public Rule rule() {
        return Rule.ARM_LOST;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var channel = scene.device.createCompletionChannel();
                var queue = scene.device.createCompletionQueue(
                        CompletionQueueOptions.of(16).withChannel(channel));
                var second = scene.device.createCompletionQueue(
                        CompletionQueueOptions.of(16).withChannel(channel));
                var sender = scene.domain.createQueuePair(QueuePairOptions.rc(queue));
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(second))) {
            sender.connect(receiver.endpoint());
            receiver.connect(sender.endpoint());
            queue.arm();
            second.arm();
            queue.poll(scene.wc);
            second.poll(scene.wc);
            receiver.postReceive(1, scene.remote.slice(0, 64));
            sender.postSend(2, scene.local.slice(0, 64));
            channel.await(); // earlier
            channel.await(); // earlier
            queue.arm();
            scene.take(queue);
            channel.await(Duration.ofMillis(1)); // here
            scene.take(second);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var channel = scene.device.createCompletionChannel();
                var queue = scene.device.createCompletionQueue(
                        CompletionQueueOptions.of(16).withChannel(channel));
                var second = scene.device.createCompletionQueue(
                        CompletionQueueOptions.of(16).withChannel(channel));
                var sender = scene.domain.createQueuePair(QueuePairOptions.rc(queue));
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(second))) {
            sender.connect(receiver.endpoint());
            receiver.connect(sender.endpoint());
            queue.arm();
            second.arm();
            queue.poll(scene.wc);
            second.poll(scene.wc);
            receiver.postReceive(1, scene.remote.slice(0, 64));
            sender.postSend(2, scene.local.slice(0, 64));
            for (int i = 0; i < 2; i++) {
                CompletionQueue ready = channel.await();
                ready.arm();
                scene.take(ready);
            }
        }
    }
}
