package verbena.sim.weak;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.transport.weak.Freedom;
import verbena.transport.weak.Weakness;
import verbena.verbs.Access;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.EndpointOptions;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;

/// Two weak devices in virtual time, with two connections between them.
final class WeakPair {
    static final int BYTES = 64 << 10;
    static final long SECOND = 1_000_000_000L;
    /// Of a program that is to go wrong with none of them.
    static final int SEEDS = Boolean.getBoolean("verbena.deep") ? 1_000 : 50;

    /// A device with its memory and an end of each connection.
    static final class End {
        final SimDevice device;
        final CompletionQueue cq;
        final CompletionChannel channel;
        final CompletionQueue receiveCq;
        final MemoryRegion memory;
        final QueuePair qp;
        final QueuePair other;
        private final WorkCompletion wc = new WorkCompletion();
        final Set<Long> completed = new HashSet<>();
        final Set<Long> received = new HashSet<>();
        final Set<Long> failed = new HashSet<>();

        private End(World world, @Nullable Weakness weakness, Set<Access> access) {
            device = world.addDevice(Frame.PACKET_MAX, link -> link, SimDevice.Options.DEFAULT.with(weakness));
            var domain = device.context().allocateProtectionDomain();
            cq = device.context().createCompletionQueue(256);
            channel = device.context().createCompletionChannel();
            receiveCq = device.context()
                    .createCompletionQueue(CompletionQueueOptions.of(256).withChannel(channel));
            memory = device.register(domain, BYTES, access);
            var options = QueuePairOptions.rc(cq).withReceiveCq(receiveCq);
            qp = domain.createQueuePair(options);
            other = domain.createQueuePair(options);
        }

        long word(int index) {
            return memory.segment().get(ValueLayout.JAVA_LONG, 8L * index);
        }

        void word(int index, long value) {
            memory.segment().set(ValueLayout.JAVA_LONG, 8L * index, value);
        }

        long address(int index) {
            return memory.address() + 8L * index;
        }

        private void poll() {
            while (device.poll(cq, wc)) {
                (wc.ok() ? completed : failed).add(wc.wrId());
            }
            while (device.poll(receiveCq, wc)) {
                (wc.ok() ? received : failed).add(wc.wrId());
            }
        }
    }

    final World world;
    final End a;
    final End b;

    WeakPair(long seed, @Nullable Weakness weakness) {
        this(seed, weakness, Access.remoteAll());
    }

    WeakPair(long seed, @Nullable Weakness weakness, Set<Access> access) {
        world = new World(seed);
        a = new End(world, weakness, access);
        b = new End(world, weakness, access);
        world.connect(a.qp, b.qp, EndpointOptions.defaults());
        world.connect(a.other, b.other, EndpointOptions.defaults());
    }

    /// Steps until a program finds something, which it has to within a second.
    void await(BooleanSupplier found) {
        assertThat(world.runUntil(
                        () -> {
                            boolean isFound = found.getAsBoolean();
                            a.poll();
                            b.poll();
                            return isFound || found.getAsBoolean();
                        },
                        SECOND))
                .isTrue();
    }

    /// Waits for the completion of a request of `a`.
    void completed(long wrId) {
        await(() -> a.completed.contains(wrId));
    }

    /// Waits for the completion of a receive of `b`.
    void received(long wrId) {
        await(() -> b.received.contains(wrId));
    }

    // ---- programs and seeds

    /// Returns how many of so many seeds make a program go wrong on a device with these freedoms.
    ///
    /// @param isRight runs it
    static int wrong(Set<Freedom> freedoms, int seeds, Predicate<WeakPair> isRight) {
        return wrong(freedoms, seeds, Access.remoteAll(), isRight);
    }

    /// Returns the same where peers have this access to memory.
    static int wrong(Set<Freedom> freedoms, int seeds, Set<Access> access, Predicate<WeakPair> isRight) {
        int wrong = 0;
        for (long seed = 0; seed < seeds; seed++) {
            Weakness weakness = freedoms.isEmpty() ? null : new Weakness(freedoms, seed);
            wrong += isRight.test(new WeakPair(seed, weakness, access)) ? 0 : 1;
        }
        return wrong;
    }

    /// Checks what becomes of a program that leans on luck, and of its cure.
    ///
    /// @param freedom the one that breaks the program
    /// @param alike others that break it too
    static void check(Freedom freedom, Set<Freedom> alike, Predicate<WeakPair> luck, Predicate<WeakPair> cured) {
        var others = EnumSet.complementOf(EnumSet.of(freedom));
        others.removeAll(alike);
        assertThat(wrong(EnumSet.of(freedom), 40, luck)).as("alone").isPositive();
        assertThat(wrong(EnumSet.allOf(Freedom.class), 40, luck)).as("with all").isPositive();
        assertThat(wrong(Set.of(), 40, luck)).as("strong").isZero();
        assertThat(wrong(others, SEEDS, luck)).as("with the others").isZero();
        assertThat(wrong(EnumSet.of(freedom), SEEDS, cured)).as("cured").isZero();
        assertThat(wrong(EnumSet.allOf(Freedom.class), 2 * SEEDS, cured))
                .as("cured with all")
                .isZero();
    }
}
