package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.QueuePairOptions;

/// A counter is registered with two devices, and two peers count through different devices.
final class CounterOfTwoDevices implements Program {
    @Override
    public Rule rule() {
        return Rule.ATOMIC_DEVICES;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var second = scene.open("rocev2@127.0.0.2");
                var domain = second.allocateProtectionDomain();
                var queue = second.createCompletionQueue(16);
                var counter = domain.register(scene.remote.segment(), Access.remoteAll());
                var result = domain.allocate(8, Access.local());
                var one = domain.createQueuePair(QueuePairOptions.rc(queue));
                var other = domain.createQueuePair(QueuePairOptions.rc(queue))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            scene.here.postFetchAdd(1, scene.remote.remote(), 1, scene.local.slice(0, 8)); // earlier
            one.postFetchAdd(2, counter.remote(), 1, result.slice(0, 8)); // here
            scene.take(queue);
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            scene.here.postFetchAdd(1, scene.remote.remote(), 1, scene.local.slice(0, 8));
            one.postFetchAdd(2, scene.remote.remote(), 1, scene.local.slice(64, 8));
            scene.take(scene.arrived);
            scene.take(scene.sent);
        }
    }
}
