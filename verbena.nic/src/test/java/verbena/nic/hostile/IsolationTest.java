package verbena.nic.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import verbena.nic.GoalRun;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.Transition;
import verbena.verbs.VerbsException;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.ConnectionService.News;

/// Goal S9: tenants of one device share its engine and its windows to peers, and cannot starve each other.
/// Each attacker keeps the device as busy as it can from its own protection domain and completion queue.
/// Meanwhile each victim does one operation after the other. The test counts what does not depend on the
/// machine: steps of the engine, of at most 64 packets each way, from posting to completion.
class IsolationTest {
    private static final int OPERATIONS = GoalRun.size(50, 2_000);
    /// Virtual time of a step: 64 packets of 4 KiB at 80 Gbit/s. So 100 ms, the goal, are 3,800 steps.
    private static final long STEP_NANOS = 26_000;

    private static final int BIG = 64 << 10;
    private static final int PAGE = 4_096;
    private static final int MANY = 200;

    private final Cable cable = new Cable(GoalRun.seed());
    private final Cable.End a = cable.a;
    private final Cable.End b = cable.b;
    private final Random random = new Random(GoalRun.seed());
    private final WorkCompletion wc = new WorkCompletion();

    /// A tenant: a domain, a completion queue and memory of its own on both sides.
    private final class Tenant {
        final ProtectionDomain here = a.context.allocateProtectionDomain();
        final ProtectionDomain there = b.context.allocateProtectionDomain();
        final CompletionQueue cq;
        final CompletionQueue thereCq = b.context.createCompletionQueue(PAGE);
        final MemoryRegion own = here.allocate(BIG, Access.remoteAll());
        final MemoryRegion remote = there.allocate(BIG, Access.remoteAll());
        final List<QueuePair> ends = new ArrayList<>();
        final List<QueuePair> others = new ArrayList<>();

        Tenant(int queuePairs, int completions) {
            cq = a.context.createCompletionQueue(completions);
            for (int i = 0; i < queuePairs; i++) {
                QueuePair end = here.createQueuePair(QueuePairOptions.rc(cq));
                QueuePair other = there.createQueuePair(QueuePairOptions.rc(thereCq));
                ends.add(end);
                others.add(other);
                connect(i);
            }
        }

        void connect(int i) {
            ends.get(i).connect(others.get(i).endpoint());
            others.get(i).connect(ends.get(i).endpoint());
        }

        void reconnect(int i) {
            ends.get(i).modify(new Transition.ToReset());
            others.get(i).modify(new Transition.ToReset());
            connect(i);
        }

        int drain() {
            int n = 0;
            while (cq.poll(wc)) {
                n++;
            }
            return n;
        }
    }

    // ---- attackers

    enum Attack {
        NONE(4),
        /// Full queues of 64 KiB WRITEs.
        BANDWIDTH(16),
        /// Full queues of 8-byte WRITEs on eight queue pairs.
        SMALL_MESSAGES(16),
        /// A wrong key, and a new connection, with each step.
        WRONG_KEYS(16),
        /// Sixteen requests for connections with each step, to a port without a listener.
        CONNECTIONS(16),
        /// A completion queue that no thread polls.
        FULL_COMPLETION_QUEUE(16),
        /// SENDs on eight queue pairs for which there is no receive.
        NO_RECEIVES(16),
        /// READs of 64 KiB, so that the peer has to send.
        READS(250),
        /// 200 queue pairs with a page each.
        MANY_QUEUE_PAIRS(250);

        /// The most steps that an operation of a victim may take.
        final int stepsMax;

        Attack(int stepsMax) {
            this.stepsMax = stepsMax;
        }
    }

    /// What the attacker does before each step.
    private Runnable attacker(Attack attack) {
        return switch (attack) {
            case NONE -> () -> {};
            case BANDWIDTH -> flood(new Tenant(2, PAGE), BIG);
            case SMALL_MESSAGES -> flood(new Tenant(8, PAGE), 8);
            case MANY_QUEUE_PAIRS -> flood(new Tenant(MANY, 4 * PAGE), PAGE);
            case WRONG_KEYS -> {
                var tenant = new Tenant(8, PAGE);
                yield () -> {
                    for (int i = 0; i < tenant.ends.size(); i++) {
                        if (tenant.ends.get(i).state() != QpState.RTS) {
                            tenant.reconnect(i);
                        }
                        tenant.ends
                                .get(i)
                                .postWrite(
                                        1,
                                        tenant.own.slice(0, 8),
                                        new RemoteMemory(tenant.remote.address(), random.nextInt(), 8));
                    }
                    tenant.drain();
                };
            }
            case CONNECTIONS -> this::askForConnections;
            case FULL_COMPLETION_QUEUE -> {
                var tenant = new Tenant(8, 1);
                yield () -> {
                    for (int i = 0; i < tenant.ends.size(); i++) {
                        if (tenant.ends.get(i).state() == QpState.ERR) {
                            tenant.reconnect(i);
                        }
                        fill(tenant, tenant.ends.get(i), 8, 16);
                    }
                };
            }
            case NO_RECEIVES -> {
                var tenant = new Tenant(8, PAGE);
                var posted = new int[1];
                yield () -> {
                    for (QueuePair end : tenant.ends) {
                        if (posted[0] < 8 * 64) {
                            end.postSend(1, tenant.own.slice(0, PAGE));
                            posted[0]++;
                        }
                    }
                };
            }
            case READS -> {
                var tenant = new Tenant(4, PAGE);
                var room = new int[] {64};
                yield () -> {
                    room[0] += tenant.drain();
                    while (room[0] > 0) {
                        tenant.ends
                                .get(room[0]-- % 4)
                                .postRead(1, tenant.remote.remote().slice(0, BIG), tenant.own.slice(0, BIG));
                    }
                };
            }
        };
    }

    private Runnable flood(Tenant tenant, int bytes) {
        int each = tenant.ends.size() == MANY ? 4 : 64;
        int[] room = {each * tenant.ends.size()};
        int[] turn = new int[1];
        return () -> {
            room[0] += tenant.drain();
            while (room[0] > 0) {
                room[0]--;
                QueuePair end = tenant.ends.get(turn[0]++ % tenant.ends.size());
                if (!fill(tenant, end, bytes, 1)) {
                    return;
                }
            }
        };
    }

    /// False when a queue is full.
    private static boolean fill(Tenant tenant, QueuePair end, int bytes, int times) {
        try {
            for (int i = 0; i < times; i++) {
                end.postWrite(1, tenant.own.slice(0, bytes), tenant.remote.remote());
            }
            return true;
        } catch (VerbsException e) {
            return false; // as full as can be
        }
    }

    private void askForConnections() {
        for (int i = 0; i < 16; i++) {
            QueuePair own = a.domain.createQueuePair(QueuePairOptions.rc(a.cq));
            own.modify(new Transition.ToInit(Access.remoteAll()));
            var end = new ConnectionService.OwnSide(
                    Optional.of(own), QpType.RC, own.qpn(), 0, false, ConnectionParameters.defaults());
            var call = new ConnectionService.Route(PortSpace.TCP, a.gid.gid(), 5_001, b.gid.gid(), 1);
            ConnectionService.of(a.context).connect(call, end, (_, _) -> own.close());
        }
    }

    // ---- victims

    enum Victim {
        WRITE_8_BYTES,
        WRITE_64_KIB,
        READ_64_KIB,
        ATOMIC,
        SEND,
        CONNECT
    }

    /// Begins an operation; the result tells whether it has ended.
    private BooleanSupplier operation(Victim victim, Tenant tenant, ConnectionService.Route call) {
        QueuePair end = tenant.ends.getFirst();
        MemoryRegion remote = tenant.remote;
        switch (victim) {
            case WRITE_8_BYTES -> end.postWrite(7, tenant.own.slice(0, 8), remote.remote());
            case WRITE_64_KIB -> end.postWrite(7, tenant.own.slice(0, BIG), remote.remote());
            case READ_64_KIB -> end.postRead(7, remote.remote().slice(0, BIG), tenant.own.slice(0, BIG));
            case ATOMIC -> end.postFetchAdd(7, remote.remote(), 1, tenant.own.slice(0, 8));
            case SEND -> {
                tenant.others.getFirst().postReceive(8, remote.slice(0, PAGE));
                end.postSend(7, tenant.own.slice(0, PAGE));
            }
            case CONNECT -> {
                return connecting(call);
            }
        }
        return () -> {
            if (!tenant.cq.poll(wc)) {
                return false;
            }
            assertThat(wc.ok()).as(wc.toString()).isTrue();
            return true;
        };
    }

    private BooleanSupplier connecting(ConnectionService.Route call) {
        QueuePair own = a.domain.createQueuePair(QueuePairOptions.rc(a.cq));
        own.modify(new Transition.ToInit(Access.remoteAll()));
        var end = new ConnectionService.OwnSide(
                Optional.of(own), QpType.RC, own.qpn(), 0, false, ConnectionParameters.defaults());
        var news = new ArrayList<News>();
        ConnectionService.of(a.context).connect(call, end, (_, what) -> news.add(what));
        return () -> {
            if (news.isEmpty()) {
                return false;
            }
            assertThat(news.getFirst()).isInstanceOf(News.Accepted.class);
            own.close();
            return true;
        };
    }

    /// The worst of this many operations, in steps.
    private int worst(int stepsMax, Runnable attacker, Victim victim, Tenant tenant, ConnectionService.Route call) {
        int worst = 0;
        for (int i = 0; i < OPERATIONS; i++) {
            attacker.run();
            BooleanSupplier isDone = operation(victim, tenant, call);
            int steps = 0;
            while (!isDone.getAsBoolean()) {
                assertThat(++steps)
                        .as("%s is starved in operation %d", victim, i)
                        .isLessThanOrEqualTo(stepsMax);
                boolean _ = a.context.drive();
                boolean _ = b.context.drive();
                cable.nanos += STEP_NANOS;
                attacker.run();
            }
            worst = Math.max(worst, steps);
        }
        return worst;
    }

    @ParameterizedTest
    @EnumSource(Attack.class)
    void noVictimIsStarved(Attack attack) {
        var visits = new Visits(cable);
        visits.listen(ConnectionParameters.defaults());
        var call = new ConnectionService.Route(PortSpace.TCP, a.gid.gid(), 5_000, b.gid.gid(), 7_471);
        Map<Victim, Integer> steps = new EnumMap<>(Victim.class);
        Runnable attacker = attacker(attack);
        for (Victim victim : Victim.values()) {
            steps.put(victim, worst(attack.stepsMax, attacker, victim, new Tenant(1, PAGE), call));
        }
        GoalRun.print("S9", attack + ": at most so many steps from posting to completion: " + steps);
    }

    /// A tenant's use of its queue pairs costs another tenant only turns: equals get equal shares.
    @Test
    void equalsShareEqually() {
        var tenants = new ArrayList<Tenant>();
        var written = new int[4];
        for (int i = 0; i < written.length; i++) {
            tenants.add(new Tenant(1, PAGE));
        }
        for (int step = 0; step < 20 * OPERATIONS; step++) {
            for (int i = 0; i < written.length; i++) {
                Tenant tenant = tenants.get(i);
                int done = tenant.drain();
                written[i] += done;
                boolean _ = fill(tenant, tenant.ends.getFirst(), BIG, step == 0 ? 32 : done);
            }
            boolean _ = a.context.drive();
            boolean _ = b.context.drive();
            cable.nanos += STEP_NANOS;
        }
        int most = IntStream.of(written).max().orElseThrow();
        int least = IntStream.of(written).min().orElseThrow();
        assertThat(least).isGreaterThanOrEqualTo(most * 4 / 5).isPositive();
        GoalRun.print("S9", "four equals wrote " + Arrays.toString(written) + " times 64 KiB");
    }
}
