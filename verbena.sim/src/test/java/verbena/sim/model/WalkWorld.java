package verbena.sim.model;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import verbena.nic.SoftContext;
import verbena.nic.link.Link;
import verbena.sim.NetworkFaults;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.transport.congestion.CongestionRule;
import verbena.wire.Frame;

/// What the real devices of a [Lockstep] stand on, and the time in which they work.
interface WalkWorld {
    /// The devices of one seed in so many send again only what is missing, where they can.
    int SELECTIVE_EACH = 2;

    CongestionRule BY_MARKS = CongestionRule.parse("dcqcn,rpg_min_rate:1000");
    CongestionRule BY_DELAY = CongestionRule.parse("swift").withMarks(true);

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

    /// Whether a device may tell a request of a stranger, a queue pair that it is not connected to, from one of its
    /// peer. A
    /// packet names no sender, so a stranger's draws a NAK for a gap.
    default boolean knowsStrangers() {
        return false;
    }

    /// Closes the devices, on which everything is closed.
    default void close() {}

    /// Gives back what the system would keep, whatever is open.
    default void abandon() {}

    /// Devices on the simulated network. If it marks packets, one device in two obeys marks, and the others delay.
    static WalkWorld simulated(long seed, NetworkFaults faults) {
        var world = new World(seed);
        world.faults(faults);
        return new WalkWorld() {
            @Override
            public Opened open(UnaryOperator<Link> wrap) {
                boolean isSelective = seed % SELECTIVE_EACH == 0;
                boolean isEven = world.devices().size() % 2 == 0;
                CongestionRule rule = faults.mark() == 0 ? CongestionRule.NONE : isEven ? BY_MARKS : BY_DELAY;
                var device = world.addDevice(Frame.PACKET_MAX, wrap, new SimDevice.Options(1, rule, isSelective));
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
