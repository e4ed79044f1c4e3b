package verbena.nic.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import verbena.cm.CmConnection;
import verbena.cm.CmEvent;
import verbena.cm.CmLimits;
import verbena.cm.CmRoute;
import verbena.cm.CmSuspects;
import verbena.cm.CommunicationManager;
import verbena.nic.GoalRun;
import verbena.nic.hostile.Visits.Visit;
import verbena.verbs.Access;
import verbena.verbs.Gid;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.Transition;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PortSpace;
import verbena.wire.Frame;
import verbena.wire.cm.CmPath;
import verbena.wire.cm.Dreq;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Req;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Psn;

/// Goal S5: the six attacks of ReDMArk (USENIX Security 2021), and those of NeVerMore (CCS 2022) by a queue
/// pair of the victim's own device. Each test names what its attacker knows. An attacker who does not know the
/// numbers of a connection fails at everything. The gain from knowing them is asserted too, so that the
/// documents cannot promise more. In virtual time.
class AttacksTest {
    private static final int TRIES = GoalRun.size(16_384, 1 << 20);
    /// Packets of one queue pair before the next has its turn.
    private static final int TURN = 16;
    private static final Gid STRANGER = Gid.parse("10.0.0.66");

    private final Cable cable = new Cable(GoalRun.seed());
    private final Cable.End here = cable.b;
    private final Visits visits = new Visits(cable);
    private final Random random = new Random(GoalRun.seed());
    private final WorkCompletion wc = new WorkCompletion();
    private Visit victim;
    private int qpn;
    private int expected;

    @BeforeEach
    void connect() {
        visits.listen(ConnectionParameters.defaults());
        victim = visits.connect();
        assertThat(victim.isMade()).isTrue();
        QueuePair passive = victim.passive();
        assertThat(passive).isNotNull();
        qpn = passive.qpn();
        expected = passive.query().receiving().rqPsn();
    }

    /// A WRITE to the victim's memory, of junk bytes.
    private String write(int psn, int rkey) {
        return "WRITE_ONLY psn %d qp 0x%x va 0x%x rkey 0x%x len 8 | 8"
                .formatted(psn, qpn, here.memory.address() + 8, rkey);
    }

    /// Lets the packet arrive, with a payload.
    private Frame inject(String packet) {
        Frame frame = here.arrival();
        here.write(frame, packet);
        int bytes = Packet.payloadBytes(frame, Packet.opcode(frame));
        frame.slot
                .asSlice(Packet.payloadOffset(frame, Packet.opcode(frame)), bytes)
                .fill((byte) 7);
        return frame;
    }

    /// A PSN other than the expected one.
    private int wrongPsn() {
        return Psn.add(expected, 1 + random.nextInt((1 << 24) - 2));
    }

    private long prize() {
        return here.memory.segment().asByteBuffer().getLong(8);
    }

    private void assertUnharmed() {
        assertThat(prize()).as("what the attacker would like to change").isZero();
        assertThat(victim.passive().state()).isEqualTo(QpState.RTS);
        assertThat(honestWrite(victim.active())).isEqualTo(WcStatus.SUCCESS);
    }

    private WcStatus honestWrite(QueuePair by) {
        return post(by, here.memory.address(), here.memory.rkey());
    }

    private WcStatus post(QueuePair by, long to, int rkey) {
        by.postWrite(1, cable.a.memory.slice(0, 8), new RemoteMemory(to, rkey, 8));
        cable.pass(1_000_000);
        assertThat(cable.a.cq.poll(wc)).isTrue();
        return wc.status();
    }

    // ---- ReDMArk

    /// A1, packet injection using impersonation. The attacker fakes the peer's address and knows the queue pair
    /// number and a key, but not the PSN.
    @Test
    void injectionWithAFakedAddressAndAnUnknownPsn() {
        for (int i = 0; i < TRIES; i++) {
            Frame _ = inject(write(wrongPsn(), here.memory.rkey()));
            cable.settle();
        }
        assertUnharmed();
        report("A1", "injection without the PSN", TRIES);
    }

    /// A1, without faking an address.
    @Test
    void injectionFromAnotherAddressWithAllNumbersKnown() {
        for (int i = 0; i < TRIES; i++) {
            Frame frame = inject(write(expected, here.memory.rkey()));
            frame.sourceHigh = STRANGER.high();
            frame.sourceLow = STRANGER.low();
            cable.settle();
        }
        assertUnharmed();
        assertThat(here.count("dropped.source")).isEqualTo(TRIES);
        assertThat(here.count("searches")).isPositive();
        report("A1", "injection from another address", TRIES);
    }

    /// A1, the remainder: an attacker who fakes the address and knows all numbers can write.
    @Test
    void injectionWithAFakedAddressAndAllNumbersKnownSucceeds() {
        Frame _ = inject(write(expected, here.memory.rkey()));
        cable.settle();
        assertThat(prize()).isNotZero();
    }

    /// A2, denial of service by a packet that moves the queue pair to ERR. The attacker fakes the peer's address
    /// and knows the queue pair number.
    @Test
    void breakingTheConnectionWithoutThePsn() {
        for (int i = 0; i < TRIES; i++) {
            Frame _ = inject(
                    switch (i % 3) {
                        case 0 -> write(wrongPsn(), random.nextInt());
                        case 1 -> "READ_RESPONSE_ONLY psn %d qp 0x%x msn 1 | 8".formatted(random.nextInt(1 << 24), qpn);
                        default -> "NAK access psn %d qp 0x%x msn 0".formatted(random.nextInt(1 << 24), qpn);
                    });
            cable.settle();
        }
        assertUnharmed();
        report("A2", "breaking a connection without the PSN", TRIES);
    }

    /// A2, the remainder.
    @Test
    void breakingTheConnectionWithThePsnSucceeds() {
        Frame _ = inject(write(expected, random.nextInt()));
        cable.settle();
        assertThat(victim.passive().state()).isNotEqualTo(QpState.RTS);
    }

    /// A3, unauthorized memory access. The attacker is a peer with a connection. It knows the key of memory in
    /// another connection's protection domain, and the order of its own keys.
    @Test
    void accessToMemoryOfAnotherDomain() {
        MemoryRegion secret = here.context.allocateProtectionDomain().allocate(64, Access.remoteAll());
        int successes = 0;
        int tries = 0;
        Visit visit = visits.connect();
        for (int last = here.memory.rkey(); visit.isMade(); last += 0x100) { // the next in a row, then the known one
            WcStatus status = post(visit.active(), secret.address(), tries % 2 == 0 ? secret.rkey() : last);
            successes += status == WcStatus.SUCCESS ? 1 : 0;
            tries++;
            visit.close();
            visit = visits.connect();
        }
        assertThat(successes).isZero();
        assertThat(secret.segment().asByteBuffer().getLong()).isZero();
        assertThat(tries).as("then it is blocked").isEqualTo(CmSuspects.BLOCKED_AT);
        report("A3", "access to another domain's memory", tries);
    }

    /// A3, the remainder: a program that has one domain for all its peers lets each use all keys.
    @Test
    void accessToMemoryOfASharedDomainSucceedsWithTheKey() {
        MemoryRegion secret = here.domain.allocate(64, Access.remoteAll());
        assertThat(post(victim.active(), secret.address(), secret.rkey())).isEqualTo(WcStatus.SUCCESS);
    }

    /// A4, denial of service by using up queue pairs. The attacker asks for connections and confirms none; the
    /// application has accepted each (`FloodTest` has a million).
    @Test
    void usingUpQueuePairsByRequests() {
        var manager = new CommunicationManager(7, CommunicationManager.NO_SLOT, random, CmLimits.DEFAULT);
        long service = PortSpace.TCP.serviceId(1);
        int[] asked = new int[2];
        boolean _ = manager.listen(service, 16, (connection, event) -> {
            if (event instanceof CmEvent.Requested) {
                boolean isHonest = connection.route().remote().equals(cable.a.gid.gid());
                asked[isHonest ? 1 : 0]++;
            }
        });
        for (int i = 0; i < 10_000; i++) {
            manager.onMessage(
                    request(STRANGER, service, 1 + i, 0x10 + i), new CmRoute(here.gid.gid(), STRANGER), 1_000 + i);
        }
        assertThat(manager.size())
                .as("the backlog is all that the attacker fills")
                .isEqualTo(16);
        manager.onMessage(
                request(cable.a.gid.gid(), service, 1, 0x10), new CmRoute(here.gid.gid(), cable.a.gid.gid()), 20_000);
        assertThat(asked[1]).as("the honest peer's request comes through").isEqualTo(1);
        report("A4", "using up queue pairs by requests", 10_000);
    }

    private Req request(Gid from, long service, int commId, int queuePair) {
        Gid to = here.gid.gid();
        var path = new CmPath(0xFFFF, 0xFFFF, from.high(), from.low(), to.high(), to.low(), 0, 3, 0, 64, 0, false, 14);
        return new Req(
                commId,
                commId,
                service,
                9,
                0,
                queuePair,
                1,
                1,
                16,
                Req.RC,
                false,
                0,
                16,
                7,
                0xFFFF,
                3,
                7,
                15,
                false,
                path,
                CmPath.NONE,
                PrivateData.NONE);
    }

    /// A5, performance degradation by using up the device. The attacker has a connection of its own with a queue
    /// that is always full of WRITEs. A victim's WRITE that is posted behind them has its turn before they are
    /// done.
    @Test
    void keepingTheDeviceBusy() {
        Visit attacker = visits.connect();
        int flood = attacker.active().query().options().maxSendWr();
        int[] before = new int[1];
        boolean[] isOut = new boolean[1];
        cable.a.tap = frame -> {
            isOut[0] |= Bth.destinationQp(frame.slot, frame.start) == qpn;
            before[0] += isOut[0] ? 0 : 1;
        };
        int worst = 0;
        for (int round = 0; round < 100; round++) {
            for (int i = 0; i < flood; i++) {
                attacker.active().postWrite(2, cable.a.memory.slice(0, 4_096), here.memory.remote());
            }
            victim.active().postWrite(1, cable.a.memory.slice(0, 8), here.memory.remote());
            before[0] = 0;
            isOut[0] = false;
            cable.settle();
            assertThat(isOut[0]).isTrue();
            worst = Math.max(worst, before[0]);
            while (cable.a.cq.poll(wc)) {
                assertThat(wc.ok()).isTrue();
            }
        }
        assertThat(worst).as("packets of the attacker's before the victim's").isLessThanOrEqualTo(TURN);
        GoalRun.print(
                "S5", "A5, keeping the device busy: at most %d of %d packets leave first".formatted(worst, flood));
    }

    /// A6, facilitating attacks by RDMA: code in the victim's process registers memory and lets a peer read it
    /// without a trace. Nothing in the process can prevent that. But the device counts it, and an event reports
    /// the registration (`JfrEventsTest`).
    @Test
    void readingWhatCodeInTheProcessHasRegisteredSucceedsAndIsCounted() {
        MemoryRegion leak = here.domain.allocate(64, Access.remoteAll());
        long before = here.count("sent.bytes");
        victim.active().postRead(1, leak.remote().slice(0, 64), cable.a.memory.slice(0, 64));
        cable.settle();
        assertThat(cable.a.cq.poll(wc)).isTrue();
        assertThat(wc.ok()).isTrue();
        assertThat(here.count("sent.bytes") - before).isGreaterThan(64);
    }

    // ---- NeVerMore: a packet does not say which queue pair sent it, so any other one of the same device may send
    // it

    /// A queue pair of the victim's own device that claims to be connected to the victim's peer.
    private QueuePair intruder(int sqPsn) {
        QueuePair made = cable.a.domain.createQueuePair(QueuePairOptions.rc(cable.a.cq));
        made.modify(new Transition.ToInit(Access.remoteAll()));
        made.modify(new Transition.ToRtr(
                victim.active().query().peer().path().orElseThrow(),
                Mtu.MTU_1024,
                qpn,
                0,
                1,
                victim.active().query().receiving().minRnrTimer()));
        made.modify(
                new Transition.ToRts(sqPsn, victim.active().query().sending().ackTimeout(), 0, 0, 1));
        return made;
    }

    private void intrude(int psn, int rkey) {
        QueuePair intruder = intruder(psn);
        intruder.postWrite(3, cable.a.memory.slice(0, 8), new RemoteMemory(here.memory.address() + 8, rkey, 8));
        cable.settle();
        intruder.close();
        cable.settle();
        while (cable.a.cq.poll(wc)) {
            // the intruder's own packets, which have no peer
        }
    }

    /// N1, injection by another queue pair of the device, without the PSN.
    @Test
    void injectionByAnotherQueuePairOfTheDeviceWithoutThePsn() {
        cable.a.memory.segment().fill((byte) 7);
        for (int i = 0; i < 1_000; i++) {
            intrude(wrongPsn(), here.memory.rkey());
        }
        assertUnharmed();
        report("N1", "injection by another queue pair of the device", 1_000);
    }

    /// N1, the remainder: with all numbers it succeeds. So processes that share a device or an address have to
    /// trust each other.
    @Test
    void injectionByAnotherQueuePairOfTheDeviceWithAllNumbersSucceeds() {
        cable.a.memory.segment().fill((byte) 7);
        intrude(expected, here.memory.rkey());
        assertThat(prize()).isNotZero();
    }

    /// N2, breaking the connection by another queue pair of the device, without the PSN and with it.
    @Test
    void breakingByAnotherQueuePairOfTheDevice() {
        for (int i = 0; i < 1_000; i++) {
            intrude(wrongPsn(), random.nextInt());
        }
        assertUnharmed();
        report("N2", "breaking by another queue pair of the device", 1_000);
        intrude(victim.passive().query().receiving().rqPsn() + 1, random.nextInt()); // after the honest WRITE
        assertThat(victim.passive().state()).as("the remainder").isNotEqualTo(QpState.RTS);
    }

    /// N3, injection by another user of the host, from an address of that user: the device sends from there,
    /// whatever the packet says. For the peer's address see `ForgedSourceTest`.
    @Test
    void injectionByAnotherUserOfTheHost() {
        for (int i = 0; i < TRIES; i++) {
            Frame frame = inject(write(expected, here.memory.rkey()));
            frame.sourceLow = cable.a.gid.gid().low() + 1;
            cable.settle();
        }
        assertUnharmed();
        report("N3", "injection by another user of the host", TRIES);
    }

    /// N4, ending another process's connection by the communication manager. The attacker fakes the peer's address
    /// and knows the queue pair number, but not the communication IDs.
    @Test
    void disconnectingWithoutTheCommunicationIds() {
        var manager = new CommunicationManager(7, CommunicationManager.NO_SLOT, random, CmLimits.DEFAULT);
        var route = new CmRoute(here.gid.gid(), cable.a.gid.gid());
        long service = PortSpace.TCP.serviceId(1);
        CmConnection[] made = new CmConnection[1];
        boolean _ = manager.listen(service, 16, (connection, _) -> made[0] = connection);
        manager.onMessage(request(cable.a.gid.gid(), service, 0x1234, 0x10), route, 1_000);
        made[0].accept(
                new verbena.cm.CmEnd(0x20, 0, 1, 1, 7, false, verbena.cm.CmExtension.NONE, PrivateData.NONE), 1_000);
        for (int i = 0; i < TRIES; i++) {
            manager.onMessage(new Dreq(i, random.nextInt(), random.nextInt(), 0x20, PrivateData.NONE), route, 2_000);
        }
        assertThat(made[0].state()).isEqualTo(CmConnection.State.REP_SENT);
        report("N4", "ending a connection without its communication IDs", TRIES);
        manager.onMessage(new Dreq(1, 0x1234, made[0].localCommId(), 0x20, PrivateData.NONE), route, 3_000);
        assertThat(made[0].state()).as("the remainder").isEqualTo(CmConnection.State.TIMEWAIT);
    }

    private static void report(String attack, String what, int tries) {
        GoalRun.print("S5", attack + ", " + what + ": 0 of " + tries + " tries succeed");
    }
}
