package verbena.sim.model;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import verbena.nic.SoftContext;
import verbena.nic.link.Link;
import verbena.sim.NetworkFaults;
import verbena.sim.World;
import verbena.wire.Frame;

/// What the real devices of a [Lockstep] stand on, and the time in which they work.
interface WalkWorld {
    /// A device.
    ///
    /// @param memory for regions to be made from
    record Opened(String name, SoftContext context, MemorySegment memory) {}

    /// Opens the next device, whose link is wrapped.
    Opened open(UnaryOperator<Link> wrap);

    SplittableRandom random();

    long nowNanos();

    /// When something happens next; [verbena.transport.Protocol#NEVER] when nothing ever does.
    long nextNanos();

    /// Goes to that time and lets it happen.
    void step();

    /// Closes the devices, on which everything is closed.
    default void close() {}

    /// Gives back what the system would keep, whatever is open.
    default void abandon() {}

    /// Devices on the simulated network.
    static WalkWorld simulated(long seed, NetworkFaults faults) {
        var world = new World(seed);
        world.faults(faults);
        return new WalkWorld() {
            @Override
            public Opened open(UnaryOperator<Link> wrap) {
                var device = world.addDevice(Frame.PACKET_MAX, wrap);
                return new Opened(
                        device.name(), device.context(), Arena.ofAuto().allocate(Lockstep.MEMORY_BYTES, 4_096));
            }

            @Override
            public SplittableRandom random() {
                return world.random();
            }

            @Override
            public long nowNanos() {
                return world.nowNanos();
            }

            @Override
            public long nextNanos() {
                return world.nextNanos();
            }

            @Override
            public void step() {
                world.step();
            }
        };
    }
}
