package verbena.sim.model;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import verbena.sim.NetworkFaults;

/// Verbs calls by chance, legal and illegal, over two or three devices in lockstep with their model.
///
/// Each step draws from a source of its own, so that what a step does depends on little of what was left out
/// before it: that is what makes shortening a failure easy.
final class RandomWalk extends WalkSteps {
    private static final int FAULTY_EACH = 4;
    /// One seed in so many has a network that marks packets.
    private static final int MARKED_EACH = 3;
    private static final double MARKS = 0.3;
    private static final NetworkFaults FAULTS =
            NetworkFaults.of(0.02, 0.02, 0.005).withReorder(0.03, 4);

    private interface Step {
        void on(RandomWalk walk);
    }

    /// What can be done, and how often compared with the others.
    private record Action(int weight, Step step) {}

    private static final List<Action> ACTIONS = List.of(
            new Action(2, walk -> walk.objects.allocateDomain()),
            new Action(12, walk -> walk.objects.register()),
            new Action(2, walk -> walk.objects.allocate()),
            new Action(3, walk -> walk.objects.reregister()),
            new Action(6, walk -> walk.objects.allocateWindow()),
            new Action(1, walk -> walk.objects.createChannel()),
            new Action(3, walk -> walk.objects.createCompletionQueue()),
            new Action(2, walk -> walk.objects.createSharedReceiveQueue()),
            new Action(1, walk -> walk.objects.openXrcDomain()),
            new Action(2, walk -> walk.objects.createNumberedQueue()),
            new Action(3, walk -> walk.objects.createTarget()),
            new Action(8, walk -> walk.objects.createQueuePair()),
            new Action(25, walk -> walk.states.connect()),
            new Action(12, walk -> walk.states.modify()),
            new Action(6, walk -> walk.states.leave()),
            new Action(6, walk -> walk.states.query()),
            new Action(4, walk -> walk.objects.createAddressHandle()),
            new Action(4, walk -> walk.objects.takePart()),
            new Action(220, walk -> walk.requests.send()),
            new Action(90, walk -> walk.requests.receive()),
            new Action(30, walk -> walk.requests.receiveShared()),
            new Action(30, walk -> walk.requests.receiveNumbered()),
            new Action(4, walk -> walk.requests.armLimit()),
            new Action(30, RandomWalk::poll),
            new Action(30, RandomWalk::drain),
            new Action(12, RandomWalk::arm),
            new Action(10, RandomWalk::pollChannel),
            new Action(3, RandomWalk::resize),
            new Action(6, RandomWalk::scribble),
            new Action(10, walk -> walk.objects.close()),
            new Action(12, RandomWalk::compareMemory));
    /// What is done over shared memory too, where a request needs no packets when one before it has used its key.
    private static final List<Action> SHARED_ACTIONS = Stream.concat(
                    ACTIONS.stream(), Stream.of(new Action(200, walk -> walk.repeated.stayWithAKey())))
            .toList();

    private final WalkObjects objects;
    private final WalkStates states;
    private final WalkRequests requests;
    private final WalkRepeated repeated;
    private final List<Action> actions;
    private final int weights;

    private RandomWalk(WalkState state) {
        super(state);
        objects = new WalkObjects(walk);
        states = new WalkStates(walk);
        requests = new WalkRequests(walk);
        repeated = new WalkRepeated(walk, objects, states, requests);
        actions = walk.shared ? SHARED_ACTIONS : ACTIONS;
        weights = actions.stream().mapToInt(Action::weight).sum();
    }

    /// Over devices on the simulated network.
    static RandomWalk simulated(long seed, @Nullable List<String> log) {
        return over(WalkWorld.simulated(seed, faults(seed)), false, seed, log);
    }

    /// Over devices that share memory.
    static RandomWalk shared(WalkWorld world, long seed, @Nullable List<String> log) {
        return over(world, true, seed, log);
    }

    private static RandomWalk over(WalkWorld world, boolean shared, long seed, @Nullable List<String> log) {
        int devices = 2 + new SplittableRandom(seed).nextInt(2);
        var lockstep = new Lockstep(world, devices, isFaulty(seed), log);
        return new RandomWalk(new WalkState(seed, isFaulty(seed), shared, lockstep));
    }

    private static boolean isFaulty(long seed) {
        return seed % FAULTY_EACH == 0;
    }

    static boolean isMarked(long seed) {
        return seed % MARKED_EACH == 0;
    }

    /// What happens to packets.
    static NetworkFaults faults(long seed) {
        NetworkFaults faults = isFaulty(seed) ? FAULTS : NetworkFaults.NONE;
        return isMarked(seed) ? faults.withMarks(MARKS) : faults;
    }

    /// What it walks in.
    Lockstep lockstep() {
        return walk.lockstep;
    }

    // ---- the walk

    /// One step. The first ones are [#FURNISHING], twice, so that there is something to use.
    void step(int number) {
        walk.random = new SplittableRandom(walk.seed * 0x9E37_79B9_7F4A_7C15L + number);
        int furniture = FURNISHING.size() * walk.places.size();
        Step step = number < 2 * furniture ? FURNISHING.get(number / walk.places.size() % FURNISHING.size()) : draw();
        step.on(this);
        walk.lockstep.settle();
        walk.lockstep.takeOverUndefined();
    }

    private static final List<Step> FURNISHING = List.of(
            walk -> walk.objects.allocateDomain(),
            walk -> walk.objects.register(),
            walk -> walk.objects.createCompletionQueue(),
            walk -> walk.objects.createQueuePair(),
            walk -> walk.objects.openXrcDomain(),
            walk -> walk.objects.createNumberedQueue(),
            walk -> walk.objects.createTarget(),
            walk -> walk.objects.createQueuePair(),
            walk -> walk.objects.createAddressHandle(),
            walk -> walk.objects.allocateWindow(),
            walk -> walk.states.connect());

    /// The end of the walk: everything is closed, in any order that is allowed.
    void finish() {
        compareMemory();
        for (WalkPlace place : walk.places) {
            place.queues.stream().filter(queue -> !queue.isClosed()).forEach(queue -> {
                while (walk.lockstep.poll(queue)) {
                    // until there is none
                }
            });
            place.queuePairs.forEach(walk.lockstep::close);
            place.handles.forEach(walk.lockstep::close);
            place.windows.forEach(walk.lockstep::close);
            place.regions.forEach(walk.lockstep::close);
            place.shared.forEach(walk.lockstep::close);
            place.numbered.forEach(walk.lockstep::close);
            place.queues.forEach(walk.lockstep::close);
            place.channels.forEach(walk.lockstep::close);
            place.xrcDomains.forEach(walk.lockstep::close);
            place.domains.forEach(walk.lockstep::close);
        }
        walk.lockstep.settle();
        compareMemory();
    }

    private Step draw() {
        int left = walk.random.nextInt(weights);
        for (Action action : actions) {
            left -= action.weight;
            if (left < 0) {
                return action.step;
            }
        }
        throw new AssertionError("weights");
    }

    // ---- completions

    private void poll() {
        pick(place().queues).ifPresent(walk.lockstep::poll);
    }

    private void drain() {
        pick(place().queues).ifPresent(queue -> {
            while (walk.lockstep.poll(queue)) {
                // until there is none
            }
        });
    }

    private void arm() {
        pick(place().queues).ifPresent(queue -> walk.lockstep.arm(queue, chance(50)));
    }

    private void pollChannel() {
        pick(place().channels).ifPresent(walk.lockstep::poll);
    }

    private void resize() {
        WalkPlace place = place();
        pick(place.queues).ifPresent(queue -> {
            int entries = chance(20) ? walk.random.nextInt(-1, 4) : walk.random.nextInt(300);
            boolean refused = entries < queue.size() || entries < 1;
            if (refused
                    || (WalkPlace.isNarrow(queue)
                            ? entries < 10
                            : queue.capacity() - entries <= place.room(queue) && entries >= 10)) {
                walk.lockstep.resize(queue, entries);
            }
        });
    }

    // ---- memory

    private void scribble() {
        byte[] data = new byte[walk.random.nextInt(1, 500)];
        walk.random.nextBytes(data);
        walk.lockstep.scribble(place().pair, walk.random.nextInt(Lockstep.MEMORY_BYTES - data.length), data);
    }

    private void compareMemory() {
        walk.lockstep.compareMemory();
    }
}
