package verbena.subnet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import verbena.subnet.Datagram;
import verbena.subnet.MadRoute;
import verbena.subnet.node.Node;
import verbena.subnet.node.NodeSpec;
import verbena.subnet.rmpp.RmppReceivers;
import verbena.wire.mad.Field;
import verbena.wire.mad.Mad;
import verbena.wire.mad.NodeInfo;
import verbena.wire.mad.Rmpp;
import verbena.wire.mad.Sa;
import verbena.wire.mad.Smp;

/// Which agent of which program gets what, and when (umad_register(3), umad_send(3); IBTA 13.4, 13.6).
class MadAgentsTest {
    private static final long MILLISECOND = 1_000_000;
    private static final int PEER = 7;
    private static final int VENDOR = 0x32;
    private static final long GET = 1L << Mad.METHOD_GET;
    private static final Field TRANSACTION_ID = Field.of(8, 64);
    private static final AgentSpec ASKS = new AgentSpec(Mad.CLASS_SUBNET_ADMINISTRATION, 2, 0, true, 0, 0);
    private static final AgentSpec ANSWERS =
            new AgentSpec(Mad.CLASS_SUBNET_ADMINISTRATION, 2, 0, true, GET | 1 << Mad.METHOD_GET_TABLE, 0);

    private final Node node = new Node(new NodeSpec(NodeInfo.CHANNEL_ADAPTER, 0x1200, "a", 1, 5, 3, 3, 7, 3));
    private final MadAgents agents = new MadAgents(node.port(1));
    private final MadClient program = agents.open();

    private static MemorySegment mad(int managementClass, int version, int method, long transaction) {
        MemorySegment mad = Mad.allocate();
        Mad.write(mad, managementClass, version, method, transaction, 0x11, 0);
        return mad;
    }

    private static MemorySegment query(long transaction) {
        return mad(Mad.CLASS_SUBNET_ADMINISTRATION, 2, Mad.METHOD_GET_TABLE, transaction);
    }

    private static AgentMad to(int lid, int agent, int timeoutMillis, int retries, MemorySegment mad) {
        return new AgentMad(agent, 0, timeoutMillis, retries, lid, Mad.QPN, 0, 0, 0, mad);
    }

    private static Datagram from(int lid, MemorySegment mad) {
        int qpn = Mad.managementClass(mad) == Mad.CLASS_SUBNET_LID ? Smp.QPN : Mad.QPN;
        return new Datagram(new MadRoute(1, lid, 3, 0, qpn, qpn, 0xFFFF), mad);
    }

    private Datagram departure() {
        Datagram next = agents.poll();
        assertThat(next).as("something leaves").isNotNull();
        return next;
    }

    private boolean arrive(int lid, MemorySegment mad, long now) {
        Datagram datagram = from(lid, mad);
        boolean isTaken = agents.isFor(lid, datagram.route().sourceQpn(), mad);
        if (isTaken) {
            agents.onMad(datagram, now);
        }
        return isTaken;
    }

    private static @Nullable AgentMad take(MadClient from) {
        AgentMad next = from.peek();
        if (next != null) {
            from.taken();
        }
        return next;
    }

    private static MemorySegment answer(MemorySegment request) {
        MemorySegment answer = Mad.copyOf(request);
        Mad.answer(answer, Mad.method(request) | Mad.RESPONSE, 0);
        return answer;
    }

    // ---- who gets what

    @Test
    void anAnswerFindsTheAgentThatHasAsked() {
        MadClient other = agents.open();
        assertThat(program.register(0, ASKS)).isEqualTo(AgentRefusal.NONE);
        assertThat(other.register(0, ASKS)).isEqualTo(AgentRefusal.NONE);
        program.send(to(PEER, 0, 100, 0, query(0x77)), 0);
        other.send(to(PEER, 0, 100, 0, query(0x77)), 0);
        MemorySegment first = departure().mad();
        MemorySegment second = departure().mad();
        assertThat(Mad.transactionId(first)).isNotEqualTo(Mad.transactionId(second));
        assertThat((int) Mad.transactionId(first))
                .as("the program's half stays")
                .isEqualTo(0x77);
        assertThat(arrive(PEER, answer(second), 1)).isTrue();
        assertThat(take(program)).isNull();
        AgentMad got = take(other);
        assertThat(got).isNotNull();
        assertThat(List.of(got.agent(), got.status(), got.lid(), got.qpn())).containsExactly(0, 0, PEER, Mad.QPN);
        assertThat(got.bytes().byteSize()).isEqualTo(Mad.BYTES);
    }

    @Test
    void anAnswerCountsOnceAndOnlyFromWhereItWasAsked() {
        program.register(3, ASKS);
        program.send(to(PEER, 3, 100, 0, query(1)), 0);
        MemorySegment asked = departure().mad();
        assertThat(arrive(PEER + 1, answer(asked), 1)).as("from elsewhere").isFalse();
        MemorySegment otherClass = answer(asked);
        Field.of(1, 8).put(otherClass, VENDOR);
        assertThat(arrive(PEER, otherClass, 1)).as("of another class").isFalse();
        assertThat(arrive(PEER, answer(asked), 1)).isTrue();
        assertThat(arrive(PEER, answer(asked), 1)).as("the second time").isFalse();
        assertThat(take(program)).isNotNull();
        assertThat(take(program)).isNull();
    }

    @Test
    void aQuestionGoesToTheAgentOfItsClassVersionAndMethod() {
        program.register(0, ASKS);
        assertThat(arrive(PEER, mad(Mad.CLASS_SUBNET_ADMINISTRATION, 2, Mad.METHOD_GET, 5), 0))
                .as("nobody is there for it")
                .isFalse();
        program.register(1, ANSWERS);
        assertThat(arrive(PEER, mad(Mad.CLASS_SUBNET_ADMINISTRATION, 2, Mad.METHOD_GET, 5), 0))
                .isTrue();
        assertThat(arrive(PEER, mad(Mad.CLASS_SUBNET_ADMINISTRATION, 1, Mad.METHOD_GET, 5), 0))
                .isFalse();
        assertThat(arrive(PEER, mad(Mad.CLASS_SUBNET_ADMINISTRATION, 2, Mad.METHOD_SET, 5), 0))
                .isFalse();
        AgentMad got = take(program);
        assertThat(got).isNotNull();
        assertThat(got.agent()).isEqualTo(1);
        program.send(to(PEER, 1, 0, 0, answer(got.bytes())), 0);
        Datagram back = departure();
        assertThat(Mad.transactionId(back.mad())).as("the asker's own").isEqualTo(5);
        assertThat(back.route().dlid()).isEqualTo(PEER);
        assertThat(agents.deadlineNanos()).as("nothing is waited for").isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aVendorsClassIsToldApartByItsOui() {
        program.register(0, new AgentSpec(VENDOR, 1, 0x1405, false, GET, 0));
        assertThat(program.register(1, new AgentSpec(VENDOR, 1, 0x1406, false, GET, 0)))
                .isEqualTo(AgentRefusal.NONE);
        MemorySegment question = mad(VENDOR, 1, Mad.METHOD_GET, 1);
        Field.of(37, 24).put(question, 0x1406);
        assertThat(arrive(PEER, question, 0)).isTrue();
        AgentMad got = take(program);
        assertThat(got).isNotNull();
        assertThat(got.agent()).isEqualTo(1);
    }

    @Test
    void twoAgentsForTheSameAreRefused() {
        assertThat(program.register(0, ANSWERS)).isEqualTo(AgentRefusal.NONE);
        assertThat(agents.open().register(0, ANSWERS)).isEqualTo(AgentRefusal.TAKEN);
        assertThat(program.register(0, ASKS)).as("the number").isEqualTo(AgentRefusal.INVALID);
        assertThat(program.register(MadClient.AGENTS_MAX, ASKS)).isEqualTo(AgentRefusal.INVALID);
        assertThat(program.register(1, new AgentSpec(Mad.CLASS_PERFORMANCE, 1, 0, true, 0, 0)))
                .as("a class without long messages")
                .isEqualTo(AgentRefusal.INVALID);
        assertThat(program.unregister(0)).isTrue();
        assertThat(program.unregister(0)).isFalse();
        assertThat(agents.open().register(0, ANSWERS)).isEqualTo(AgentRefusal.NONE);
    }

    @Test
    void aProgramThatGoesLeavesNothingBehind() {
        program.register(0, ASKS);
        program.send(to(PEER, 0, 100, 3, query(1)), 0);
        MemorySegment asked = departure().mad();
        program.close();
        assertThat(agents.isEmpty()).isTrue();
        assertThat(agents.deadlineNanos()).isEqualTo(Long.MAX_VALUE);
        assertThat(arrive(PEER, answer(asked), 1)).isFalse();
    }

    // ---- queue pair 0

    @Test
    void theFabricGivesTheRightForQueuePair0() {
        var asks = new AgentSpec(Mad.CLASS_SUBNET_LID, 1, 0, false, 0, 0);
        var manages = new AgentSpec(Mad.CLASS_SUBNET_DIRECTED, 1, 0, false, 1 << Mad.METHOD_TRAP, 0);
        agents.allow(SubnetRight.NONE);
        assertThat(program.register(0, asks)).isEqualTo(AgentRefusal.NOT_PERMITTED);
        agents.allow(SubnetRight.ASK);
        assertThat(program.register(0, asks)).isEqualTo(AgentRefusal.NONE);
        assertThat(program.register(1, manages)).isEqualTo(AgentRefusal.NOT_PERMITTED);
        program.send(to(PEER, 0, 100, 0, mad(Mad.CLASS_SUBNET_LID, 1, Mad.METHOD_SET, 1)), 0);
        assertThat(agents.poll()).as("a Set").isNull();
        assertThat(agents.dropped()).isEqualTo(1);
        program.send(to(PEER, 0, 100, 0, mad(Mad.CLASS_SUBNET_LID, 1, Mad.METHOD_GET, 1)), 0);
        assertThat(departure().route().destinationQpn()).isEqualTo(Smp.QPN);
        assertThat(agents.hasManager()).isFalse();
        agents.allow(SubnetRight.ALL);
        assertThat(program.register(1, manages)).isEqualTo(AgentRefusal.NONE);
        assertThat(agents.hasManager()).isTrue();
    }

    @Test
    void anAgentOfQueuePair1DoesNotReachQueuePair0() {
        program.register(0, ASKS);
        program.send(to(PEER, 0, 100, 0, mad(Mad.CLASS_SUBNET_LID, 1, Mad.METHOD_GET, 1)), 0);
        assertThat(agents.poll()).isNull();
        assertThat(agents.dropped()).isEqualTo(1);
    }

    // ---- time

    @Test
    void aRequestIsRepeatedAndThenGivenUp() {
        program.register(0, ASKS);
        program.send(to(PEER, 0, 100, 2, query(1)), 0);
        for (int time = 1; time <= 3; time++) {
            MemorySegment asked = departure().mad();
            assertThat((int) Mad.transactionId(asked)).isEqualTo(1);
            assertThat(agents.poll()).isNull();
            assertThat(agents.deadlineNanos()).isEqualTo(time * 100L * MILLISECOND);
            agents.onDeadline(time * 100L * MILLISECOND - 1);
            assertThat(agents.poll()).as("before its time").isNull();
            assertThat(take(program)).isNull();
            agents.onDeadline(time * 100L * MILLISECOND);
        }
        AgentMad gone = take(program);
        assertThat(gone).isNotNull();
        assertThat(gone.status()).isEqualTo(AgentMad.TIMED_OUT);
        assertThat(gone.bytes().byteSize()).as("the header").isEqualTo(Mad.HEADER_BYTES);
        assertThat((int) Mad.transactionId(gone.bytes())).isEqualTo(1);
        assertThat(agents.deadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }

    // ---- long messages

    @Test
    void aLongMessageIsCutAndPutTogether() {
        var random = new Random(5);
        for (int bytes : List.of(0, 1, 199, 200, 201, 400, 20_000, 40_001)) {
            var there = new MadAgents(node.port(1));
            MadClient asker = there.open();
            asker.register(0, ASKS);
            MadClient server = agents.open();
            server.register(0, ANSWERS);
            asker.send(to(PEER, 0, 1_000, 0, query(bytes)), 0);
            Datagram asked = there.poll();
            assertThat(asked).isNotNull();
            byte[] data = new byte[Math.max(Mad.BYTES, Sa.HEADER_BYTES + bytes)];
            random.nextBytes(data);
            MemorySegment message = MemorySegment.ofArray(data);
            message.asSlice(0, Sa.HEADER_BYTES).copyFrom(answer(asked.mad()).asSlice(0, Sa.HEADER_BYTES));
            Rmpp.ACTIVE.put(message, true);
            server.send(to(3, 0, 0, 0, message), 0);
            carry(there);
            AgentMad got = take(asker);
            assertThat(got).as("%s bytes", bytes).isNotNull();
            assertThat(got.bytes().byteSize()).isEqualTo(data.length);
            assertThat(got.bytes().asSlice(Sa.HEADER_BYTES).mismatch(message.asSlice(Sa.HEADER_BYTES)))
                    .isEqualTo(-1);
            assertThat(take(asker)).as("once").isNull();
            server.close();
        }
        assertThat(agents.dropped()).isZero();
    }

    /// Moves datagrams both ways until none is left.
    private void carry(MadAgents there) {
        int left = 10_000;
        boolean isBusy = true;
        while (isBusy) {
            isBusy = false;
            for (Datagram next = agents.poll(); next != null; next = agents.poll()) {
                isBusy = true;
                if (there.isFor(PEER, Mad.QPN, next.mad())) {
                    there.onMad(from(PEER, Mad.copyOf(next.mad())), 0);
                }
            }
            for (Datagram next = there.poll(); next != null; next = there.poll()) {
                isBusy = true;
                if (agents.isFor(3, Mad.QPN, next.mad())) {
                    agents.onMad(from(3, Mad.copyOf(next.mad())), 0);
                }
            }
            assertThat(--left).isPositive();
        }
    }

    private MemorySegment segment(MemorySegment asked, int number, boolean isLast, int length) {
        MemorySegment mad = answer(asked);
        Rmpp.RMPP_VERSION.put(mad, Rmpp.VERSION);
        Rmpp.TYPE.put(mad, Rmpp.DATA);
        Rmpp.ACTIVE.put(mad, true);
        Rmpp.FIRST.put(mad, number == 1);
        Rmpp.LAST.put(mad, isLast);
        Rmpp.SEGMENT.put(mad, number);
        Rmpp.PAYLOAD_LENGTH.put(mad, length);
        mad.set(ValueLayout.JAVA_BYTE, Sa.HEADER_BYTES, (byte) number);
        return mad;
    }

    private MemorySegment asked() {
        program.register(0, ASKS);
        program.send(to(PEER, 0, 1_000, 0, query(9)), 0);
        return departure().mad();
    }

    @Test
    void segmentsCountInOrderAndAreAcknowledgedAgain() {
        MemorySegment asked = asked();
        assertThat(arrive(PEER, segment(asked, 1, false, 0), 1)).isTrue();
        Datagram said = departure();
        assertThat(Rmpp.TYPE.getInt(said.mad())).isEqualTo(Rmpp.ACK);
        assertThat(Rmpp.SEGMENT.get(said.mad())).isEqualTo(1);
        assertThat(Rmpp.NEW_WINDOW_LAST.get(said.mad())).isEqualTo(65);
        assertThat(Mad.method(said.mad())).as("the other way").isEqualTo(Mad.METHOD_GET_TABLE);
        arrive(PEER, segment(asked, 3, true, 220), 1);
        assertThat(agents.poll()).as("one is missing").isNull();
        arrive(PEER, segment(asked, 2, false, 0), 1);
        assertThat(agents.poll()).as("there is room in the window").isNull();
        arrive(PEER, segment(asked, 1, false, 0), 1);
        assertThat(Rmpp.SEGMENT.get(departure().mad())).as("what has come").isEqualTo(2);
        arrive(PEER, segment(asked, 3, true, 30), 1);
        assertThat(Rmpp.SEGMENT.get(departure().mad())).isEqualTo(3);
        AgentMad got = take(program);
        assertThat(got).isNotNull();
        assertThat(got.bytes().byteSize()).isEqualTo(Sa.HEADER_BYTES + 2 * Sa.DATA_BYTES + 10);
        assertThat(arrive(PEER, segment(asked, 3, true, 30), 2))
                .as("its acknowledgement was lost")
                .isTrue();
        assertThat(Rmpp.SEGMENT.get(departure().mad())).isEqualTo(3);
        assertThat(take(program)).isNull();
        agents.onDeadline(20_000 * MILLISECOND);
        assertThat(agents.deadlineNanos()).as("it is forgotten").isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void anAnswerThatHasBegunHasItsTimeAnew() {
        MemorySegment asked = asked();
        arrive(PEER, segment(asked, 1, false, 0), 900 * MILLISECOND);
        agents.onDeadline(1_000 * MILLISECOND);
        assertThat(take(program)).isNull();
        agents.onDeadline(1_900 * MILLISECOND);
        AgentMad gone = take(program);
        assertThat(gone).isNotNull();
        assertThat(gone.status()).isEqualTo(AgentMad.TIMED_OUT);
    }

    @Test
    void whatCannotBeIsRefused() {
        MemorySegment asked = asked();
        MemorySegment version = segment(asked, 1, true, 220);
        Rmpp.RMPP_VERSION.put(version, 2);
        MemorySegment type = segment(asked, 1, true, 220);
        Rmpp.TYPE.put(type, 0);
        MemorySegment longer = segment(asked, 1, true, 221);
        MemorySegment shorter = segment(asked, 1, true, 19);
        var statuses = new ArrayList<Integer>();
        for (MemorySegment each : List.of(version, type, longer, shorter)) {
            arrive(PEER, each, 1);
            MemorySegment said = departure().mad();
            assertThat(Rmpp.TYPE.getInt(said)).isEqualTo(Rmpp.ABORT);
            statuses.add(Rmpp.STATUS.getInt(said));
        }
        assertThat(statuses)
                .containsExactly(
                        Rmpp.STATUS_BAD_VERSION, Rmpp.STATUS_BAD_TYPE, Rmpp.STATUS_BAD_LENGTH, Rmpp.STATUS_BAD_LENGTH);
        assertThat(take(program)).isNull();
    }

    @Test
    void aMessageWithoutEndIsStopped() {
        MemorySegment asked = asked();
        int most = RmppReceivers.BYTES_MAX / Sa.DATA_BYTES + 1;
        boolean isStopped = false;
        for (int i = 1; i <= most && !isStopped; i++) {
            arrive(PEER, segment(asked, i, false, 0), 1);
            for (Datagram said = agents.poll(); said != null; said = agents.poll()) {
                isStopped |= Rmpp.TYPE.getInt(said.mad()) == Rmpp.STOP;
            }
        }
        assertThat(isStopped).isTrue();
        assertThat(take(program)).isNull();
    }

    // ---- hostile neighbours and programs

    /// Goal H4: whatever arrives, or a program sends, nothing throws, and what is kept has a limit.
    @Test
    void garbageFromBothSidesHarmsNothing() {
        var random = new Random(11);
        program.register(0, ASKS);
        program.register(1, ANSWERS);
        program.register(2, new AgentSpec(VENDOR, 1, 0, true, -1, -1));
        program.register(3, new AgentSpec(Mad.CLASS_SUBNET_LID, 1, 0, false, -1, -1));
        long transaction = 0;
        int taken = 0;
        int[] classes = {
            Mad.CLASS_SUBNET_ADMINISTRATION, VENDOR, Mad.CLASS_SUBNET_LID, Mad.CLASS_SUBNET_DIRECTED, 0, 255
        };
        for (int i = 0; i < 40_000; i++) {
            byte[] bytes = new byte[Mad.BYTES];
            random.nextBytes(bytes);
            MemorySegment mad = MemorySegment.ofArray(bytes);
            Field.of(0, 8).put(mad, Mad.BASE_VERSION_1);
            Field.of(1, 8).put(mad, classes[random.nextInt(classes.length)]);
            Field.of(2, 8).put(mad, 1 + random.nextInt(2));
            Rmpp.RMPP_VERSION.put(mad, random.nextInt(2));
            Rmpp.TYPE.put(mad, random.nextInt(6));
            Rmpp.SEGMENT.put(mad, random.nextInt(4));
            if (random.nextBoolean()) {
                TRANSACTION_ID.put(mad, transaction);
            }
            long now = i * 10L * MILLISECOND;
            if (random.nextInt(3) == 0) {
                MemorySegment sent = MemorySegment.ofArray(Arrays.copyOf(bytes, random.nextInt(2 * Mad.BYTES)));
                program.send(to(random.nextInt(9), random.nextInt(6) - 1, random.nextInt(50), 1, sent), now);
            } else {
                taken += arrive(random.nextInt(9), mad, now) ? 1 : 0;
            }
            for (Datagram next = agents.poll(); next != null; next = agents.poll()) {
                transaction = Mad.transactionId(next.mad());
            }
            if (agents.deadlineNanos() <= now) {
                agents.onDeadline(now);
            }
            while (random.nextInt(3) == 0 && take(program) != null) {
                taken++;
            }
        }
        assertThat(taken).as("some of it is for agents").isGreaterThan(1_000);
        agents.onDeadline(Long.MAX_VALUE / 2);
        program.close();
        assertThat(agents.isEmpty()).isTrue();
    }
}
