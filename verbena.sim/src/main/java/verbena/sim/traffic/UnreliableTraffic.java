package verbena.sim.traffic;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.verbs.AsyncEvent;
import verbena.verbs.EndpointOptions;
import verbena.verbs.Gid;
import verbena.verbs.Mtu;
import verbena.verbs.QpType;

/// Messages over an unreliable connection, or datagrams among several ends and a multicast group. They go in epochs:
/// the ends send a number of messages, then everything comes to rest, then what was written is checked.
final class UnreliableTraffic implements Traffic {
    /// No packet is under way for longer, unless one of the devices sleeps.
    private static final long REST_NANOS = 5_000_000;

    /// The longest time between posts.
    private static final long POST_NANOS = 20_000;

    private static final int ENDS_MAX = 4;

    private final World world;
    private final SplittableRandom random;
    private final Hazards hazards;
    private final List<UnreliableEnd> ends = new ArrayList<>();
    private long toPost;
    private boolean calm;
    private boolean resting;
    private long restFrom;
    private long postFrom;

    /// @param type UC, between the first two of `devices`, or UD, among some ends on all of them
    UnreliableTraffic(World world, List<SimDevice> devices, QpType type, Hazards hazards, long operations) {
        this.world = world;
        this.random = world.random();
        this.hazards = hazards;
        this.toPost = operations;
        Mtu mtu = Mtu.values()[Math.min(random.nextInt(5), random.nextInt(5))]; // small ones more often
        var tape = new Tape(random);
        boolean ipv6 = random.nextBoolean();
        int n = type == QpType.UC ? 2 : 2 + random.nextInt(ENDS_MAX - 1);
        for (int i = 0; i < n; i++) {
            ends.add(new UnreliableEnd(world, devices.get(i % devices.size()), tape, type, mtu.bytes(), ipv6, i));
        }
        if (type == QpType.UC) {
            world.connect(
                    ends.get(0).qp, ends.get(1).qp, EndpointOptions.defaults().withMtu(mtu));
        } else {
            Gid group = Gid.parse((ipv6 ? "ff05::" : "239.1.1.") + (1 + random.nextInt(200)));
            int qkey = random.nextInt() & Integer.MAX_VALUE;
            ends.forEach(end -> end.open(ends, group, qkey));
        }
        ends.forEach(end -> end.postReceives(0));
    }

    @Override
    public void turn() {
        for (UnreliableEnd end : ends) {
            end.pollReceives(ends);
            end.pollSends();
            end.postReceives(calm ? 0 : hazards.slowReceiverNanos());
        }
        if (resting) {
            if (!hasRested()) {
                return;
            }
            ends.forEach(end -> end.settle(ends));
            ends.forEach(UnreliableEnd::clearBoard);
            resting = false;
        }
        post();
        if (toPost == 0 ? !isFresh() : ends.stream().allMatch(UnreliableEnd::hasPosted)) {
            rest();
        }
    }

    /// Posts from time to time: no end answers.
    private void post() {
        if (toPost == 0 || world.nowNanos() < postFrom) {
            return;
        }
        for (UnreliableEnd end : ends) {
            if (toPost > 0 && !end.hasPosted() && random.nextBoolean()) {
                toPost -= end.post(ends, (int) Math.min(toPost, 8));
            }
        }
        long pause = 1 + random.nextLong(POST_NANOS);
        postFrom = world.nowNanos() + pause;
        world.stepAfter(pause);
    }

    private boolean isFresh() {
        return ends.stream().allMatch(UnreliableEnd::isFresh);
    }

    private void rest() {
        resting = true;
        restFrom = world.nowNanos();
        world.stepAfter(REST_NANOS);
    }

    /// Returns whether all devices were awake for so long that nothing can be under way.
    private boolean hasRested() {
        long from = restFrom;
        for (UnreliableEnd end : ends) {
            from = Math.max(from, end.hasSent() ? end.device.awakeSinceNanos() : world.nowNanos());
        }
        if (world.nowNanos() - from >= REST_NANOS) {
            return true;
        }
        if (from != restFrom) {
            restFrom = from;
            world.stepAfter(from + REST_NANOS - world.nowNanos());
        }
        return false;
    }

    @Override
    public long toPost() {
        return toPost;
    }

    @Override
    public void stop() {
        toPost = 0;
        calm = true;
    }

    @Override
    public boolean isDone() {
        return toPost == 0 && !resting && isFresh();
    }

    /// Ignores events: none that this traffic raises matters.
    @Override
    public void onEvent(AsyncEvent event) {}

    @Override
    public void close() {
        ends.forEach(UnreliableEnd::close);
    }

    /// Does nothing: done is settled.
    @Override
    public void checkEnd() {}

    @Override
    public long completed() {
        return ends.stream().mapToLong(UnreliableEnd::completed).sum();
    }

    @Override
    public long failed() {
        return 0;
    }

    @Override
    public long broke() {
        return 0;
    }

    @Override
    public String toString() {
        return (resting ? "RESTING, " : "SENDING, ") + toPost + " to post; " + ends;
    }
}
