package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.WorkCompletion;

/// Several devices of one host in one group, over real sockets on loopback.
@Timeout(180)
class MulticastTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int QKEY = 0x2222;
    private static final int MULTICAST_QPN = 0xFF_FFFF;
    private static final int AREA = 40;
    private static final int LENGTH = 1_000;
    private static final int SEND = 1;
    private static final int RECEIVE = 2;

    // No other program on this host is likely to be in this group (RFC 2365, 6.2).
    private final Gid group =
            new Gid(0, 0xFFFF_EFC0_0000L | ThreadLocalRandom.current().nextInt(1 << 18));
    private final WorkCompletion wc = new WorkCompletion();
    private List<End> ends = List.of();

    private static final class End implements AutoCloseable {
        final Context context;
        final ProtectionDomain domain;
        final CompletionQueue cq;
        final QueuePair queuePair;
        final MemoryRegion memory;

        End(String device) {
            context = Device.named(device).open();
            domain = context.allocateProtectionDomain();
            cq = context.createCompletionQueue(64);
            queuePair = domain.createQueuePair(QueuePairOptions.ud(cq));
            queuePair.modify(new Transition.ToInitUd(1, 0, QKEY));
            queuePair.modify(new Transition.ToRtrUd());
            queuePair.modify(new Transition.ToRtsUnreliable(100));
            memory = domain.allocate(2 * LENGTH + AREA, Access.local());
        }

        void send(Gid to, int qpn) {
            try (AddressHandle handle = domain.createAddressHandle(AddressVector.to(to, 0));
                    SendBatch batch = queuePair.sendBatch()) {
                batch.send(SEND).sge(memory, 0, LENGTH).signaled().to(handle, qpn, QKEY);
                batch.submit();
            }
        }

        void postReceive() {
            queuePair.postReceive(RECEIVE, memory.slice(LENGTH, AREA + LENGTH));
        }

        @Override
        public void close() {
            queuePair.close();
            memory.close();
            cq.close();
            domain.close();
            context.close();
        }
    }

    @AfterEach
    void close() {
        ends.forEach(End::close);
    }

    private void expect(End end, int wrId) throws InterruptedException {
        assertThat(end.cq.await(wc, SOON)).as("a completion in time").isTrue();
        assertThat(wc.ok() && wc.wrId() == wrId).as(wc.toString()).isTrue();
    }

    private void expectMessage(End at, End from) throws InterruptedException {
        expect(at, RECEIVE);
        assertThat(wc.byteLength()).isEqualTo(AREA + LENGTH);
        assertThat(wc.sourceQpn()).isEqualTo(from.queuePair.qpn());
        assertThat(at.memory
                        .segment()
                        .asSlice(LENGTH + AREA, LENGTH)
                        .mismatch(from.memory.segment().asSlice(0, LENGTH)))
                .isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"linux", "portable"})
    void anAttachedQueuePairGetsACopyUntilItIsDetached(String link) throws InterruptedException {
        ends = List.of(new End("rocev2,link=" + link), new End("rocev2,link=" + link), new End("rocev2,link=portable"));
        End sender = ends.get(0);
        for (int i = 0; i < LENGTH; i++) {
            sender.memory.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7));
        }
        for (End end : ends) {
            end.postReceive();
        }
        ends.get(1).queuePair.attachMulticast(group);
        ends.get(2).queuePair.attachMulticast(group);
        sender.send(group, MULTICAST_QPN);
        expect(sender, SEND);
        expectMessage(ends.get(1), sender);
        expectMessage(ends.get(2), sender);

        ends.get(1).queuePair.detachMulticast(group);
        ends.get(1).postReceive();
        ends.get(2).postReceive();
        sender.send(group, MULTICAST_QPN);
        expect(sender, SEND);
        expectMessage(ends.get(2), sender);
        // A copy by way of the group would have come before this datagram.
        End detached = ends.get(1);
        sender.send(detached.context.gids(1).getFirst().gid(), detached.queuePair.qpn());
        expect(sender, SEND);
        expectMessage(detached, sender);
        assertThat(detached.cq.poll(wc)).isFalse();
        assertThat(sender.cq.poll(wc)).as("the sender, which is not attached").isFalse();
    }

    @Test
    void aGroupThatCannotBeJoinedIsSaid() {
        ends = List.of(new End("rocev2"));
        assertThatThrownBy(() -> ends.getFirst().queuePair.attachMulticast(Gid.parse("ff15::77")))
                .isInstanceOf(DeviceException.class)
                .hasMessageContaining("attachMulticast: multicast group ff15::77")
                .hasMessageContaining("IPv6");
    }

    @Test
    void aDeviceThatLosesEverythingHearsNoGroupEither() throws InterruptedException {
        ends = List.of(new End("rocev2"), new End("rocev2,faults=loss:100%,on:received"));
        End deaf = ends.get(1);
        deaf.postReceive();
        deaf.queuePair.attachMulticast(group);
        ends.getFirst().postReceive();
        ends.getFirst().queuePair.attachMulticast(group);
        deaf.send(group, MULTICAST_QPN);
        expect(deaf, SEND);
        expectMessage(ends.getFirst(), deaf);
        assertThat(deaf.cq.poll(wc)).isFalse();
    }
}
