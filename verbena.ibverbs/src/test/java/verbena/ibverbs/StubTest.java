package verbena.ibverbs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import verbena.foreign.Memory;
import verbena.foreign.SystemFunction;
import verbena.ibverbs.objects.IbvCompletionQueue;
import verbena.ibverbs.objects.IbvQueuePair;
import verbena.ibverbs.objects.IbvSharedReceiveQueue;
import verbena.verbs.Access;
import verbena.verbs.AddressVector;
import verbena.verbs.Advice;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.DeviceException;
import verbena.verbs.DeviceMemory;
import verbena.verbs.FlowField;
import verbena.verbs.FlowRule;
import verbena.verbs.FlushTarget;
import verbena.verbs.Gid;
import verbena.verbs.GidType;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.Mtu;
import verbena.verbs.OnDemandPaging.Use;
import verbena.verbs.PacketFlow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.Transition;
import verbena.verbs.UnsupportedException;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.CompletionAccess;

/// What C is told, and what is made of its answers, with a library that writes down the one and makes up the
/// other.
class StubTest {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final int PEER = 0x10_0001;

    private final WorkCompletion wc = new WorkCompletion();
    private Stub stub;
    private IbvContext context;
    private ProtectionDomain domain;
    private CompletionQueue cq;
    private MemoryRegion region;

    @BeforeEach
    void open() throws Exception {
        stub = Stub.load();
        context = stub.open();
        domain = context.allocateProtectionDomain();
        cq = context.createCompletionQueue(64);
        region = domain.allocate(4096, Access.remoteAll());
        stub.told();
    }

    @AfterEach
    void close() {
        if (context != null) { // it is skipped where there is no compiler
            region.close();
            cq.close();
            domain.close();
            context.close();
        }
    }

    private QueuePair ready(QueuePairOptions options) {
        return ready(domain, options);
    }

    private static QueuePair ready(ProtectionDomain domain, QueuePairOptions options) {
        QueuePair qp = domain.createQueuePair(options);
        qp.modify(new Transition.ToInit(Access.remoteAll()));
        qp.modify(new Transition.ToRtr(
                AddressVector.to(Gid.parse("192.0.2.8"), 3), Mtu.MTU_1024, PEER, 7, 4, new verbena.verbs.RnrTimer(12)));
        qp.modify(new Transition.ToRts(9, new verbena.verbs.AckTimeout(14), 6, 5, 3));
        return qp;
    }

    private String at(long offset) {
        return Long.toHexString(region.address() + offset);
    }

    // ---- what there is to know

    @Test
    void deviceAndPortSayWhatTheStructsSay() {
        var attributes = context.attributes();
        assertThat(attributes.identity().firmwareVersion()).isEqualTo("1.2.3");
        assertThat(attributes.identity().nodeGuid()).isEqualTo(0x0102_0304_0506_0708L);
        assertThat(attributes.identity().vendorId()).isEqualTo(0x2c9);
        assertThat(attributes.memory().maxMemoryRegionBytes()).isEqualTo(Long.MAX_VALUE);
        assertThat(attributes.queues().maxSrqSge()).isEqualTo(4);
        assertThat(attributes.physicalPorts()).isEqualTo(1);
        assertThat(attributes.queues().maxInlineBytes()).isEqualTo(256);
        assertThat(context.port(1).activeMtu()).isEqualTo(Mtu.MTU_1024);
        assertThat(context.port(1).lids().lid()).isEqualTo(7);
        assertThat(context.port(1).maxMessageBytes()).isEqualTo(1L << 31);
        assertThat(context.pkey(1, 0)).isEqualTo(0xFFFF);
        assertThat(context.gids(1)).hasSize(1);
        assertThat(context.gid(1, 3).gid()).hasToString("192.0.2.7");
        assertThat(context.gid(1, 3).type()).isEqualTo(GidType.ROCE_V2);
        assertThat(context.device().nodeGuid()).isEqualTo(0x0102_0304_0506_0708L);
        assertThatThrownBy(() -> context.port(2)).hasMessage("port: stub0 has ports 1 to 1, got 2");
    }

    @Test
    void whatTheDeviceDoesWhenTriedIsDeclared() {
        assertThat(context.attributes().capabilities())
                .contains(
                        Capability.REREGISTER,
                        Capability.RESIZE_CQ,
                        Capability.MEMORY_WINDOW_TYPE_1,
                        Capability.MEMORY_WINDOW_TYPE_2,
                        Capability.LOCAL_INVALIDATE)
                .doesNotContain(Capability.IOVA, Capability.FLUSH, Capability.ON_DEMAND_PAGING, Capability.MULTICAST);
        assertThatThrownBy(() -> domain.register(region.segment(), 4096, Access.local()))
                .isInstanceOf(UnsupportedException.class);
    }

    @Test
    void aLayoutThatIsNotKnownIsOneLineAndNoCrash() {
        with(
                "STUB_ODD_SIZE",
                () -> assertThatThrownBy(() -> stub.open())
                        .isInstanceOf(DeviceException.class)
                        .hasMessageStartingWith(
                                "open stub0: this libibverbs lays its structs out in a way that is not known")
                        .hasMessageContaining("12345 bytes"));
    }

    /// Does something while the stub finds `name` in its environment.
    private static void with(String name, Runnable what) {
        try (Arena arena = Arena.ofConfined()) {
            var variable = arena.allocateFrom(name);
            long _ = SystemFunction.named("setenv")
                    .call(variable.address(), arena.allocateFrom("1").address(), 1);
            try {
                what.run();
            } finally {
                long _ = SystemFunction.named("unsetenv").call(variable.address());
            }
        }
    }

    // ---- queue pairs

    @Test
    void aModificationIsTheStructThatCExpects() {
        try (QueuePair qp = ready(QueuePairOptions.rc(cq))) {
            assertThat(stub.told()).isEqualTo("""
                modify mask 39 state 1 rights f mtu 1 qpn 0 psn 0 0 gid :: index 0 global 0 hops 0 lid 0 timer 0 timeout 0 retry 0 0 reads 0 0 qkey 0
                modify mask 129181 state 2 rights 0 mtu 3 qpn 100001 psn 7 0 gid ::ffff:192.0.2.8 index 3 global 1 hops 64 lid 0 timer 12 timeout 0 retry 0 0 reads 0 4 qkey 0
                modify mask 12e01 state 3 rights 0 mtu 1 qpn 0 psn 0 9 gid :: index 0 global 0 hops 0 lid 0 timer 0 timeout 14 retry 6 5 reads 3 0 qkey 0
                """.replace("mask 129181", "mask " + Integer.toHexString(rtrMask()))
                    .replace("rights f", "rights e"));
            assertThat(qp.state()).isEqualTo(QpState.RTS);
            assertThat(qp.qpn()).isEqualTo(0x12_3456);
        }
    }

    private static int rtrMask() {
        int mask = 0;
        for (var attribute : new Transition.ToRtr(
                        AddressVector.to(Gid.parse("::1"), 0), Mtu.MTU_256, 0, 0, 0, new verbena.verbs.RnrTimer(0))
                .modification()
                .mask()) {
            mask |= attribute.bit();
        }
        return mask;
    }

    @Test
    void aStepWithAMistakeNeverReachesC() {
        try (QueuePair qp = domain.createQueuePair(QueuePairOptions.rc(cq))) {
            assertThatThrownBy(() -> qp.modify(new Transition.ToRts(0, new verbena.verbs.AckTimeout(1), 0, 0, 0)))
                    .isInstanceOf(InvalidStateException.class);
            assertThatThrownBy(() -> qp.modify(new QpModification().withState(QpState.INIT)))
                    .isInstanceOf(InvalidAttributesException.class)
                    .hasMessageContaining("ACCESS_FLAGS");
            assertThatThrownBy(() -> qp.modify(new Transition.ToInit(2, 0, Set.of())))
                    .isInstanceOf(InvalidAttributesException.class)
                    .hasMessageContaining("PORT");
            assertThat(stub.told()).isEmpty();
        }
    }

    // ---- requests

    @Test
    void everyRequestIsTheStructThatCExpects() {
        try (QueuePair qp = ready(QueuePairOptions.rc(cq));
                var window = domain.allocateWindow(MemoryWindow.Type.TYPE_2);
                var batch = qp.sendBatch()) {
            stub.told();
            batch.send(1).sge(region, 16, 100).sge(0x33, 4096, 5).signaled();
            batch.sendWithImmediate(2, 0x0102_0304).sge(region, 0, 1).solicited();
            batch.sendWithInvalidate(3, 0x77);
            batch.write(4, 0x1000, 0x44).sge(region, 0, 8).fenced();
            batch.writeWithImmediate(5, 0x2000, 0x45, -1)
                    .inline(MemorySegment.ofArray("in".getBytes(UTF_8)))
                    .inline(MemorySegment.ofArray("line".getBytes(UTF_8)));
            batch.read(6, 0x3000, 0x46).sge(region, 8, 8);
            batch.fetchAdd(7, 0x4000, 0x47, 10).sge(region, 0, 8);
            batch.compareSwap(8, 0x5000, 0x48, 11, 12).sge(region, 0, 8);
            batch.localInvalidate(9, 0x99);
            batch.bindWindow(10, window, 0x501, region, region.address(), 64, EnumSet.of(Access.REMOTE_READ));
            assertThat(batch.submit()).isEqualTo(10);
            assertThat(window.rkey()).isEqualTo(0x501);
            assertThat(stub.told()).isEqualTo("""
                1 op 2 flags 2 sge %s+100 key 11 sge 1000+5 key 33
                2 op 3 flags 4 imm 1020304 sge %s+1 key 11
                3 op 9 flags 0 key 77
                4 op 0 flags 1 to 1000 key 44 sge %s+8 key 11
                5 op 1 flags 8 imm ffffffff to 2000 key 45 inline inline
                6 op 4 flags 0 to 3000 key 46 sge %s+8 key 11
                7 op 6 flags 0 to 4000 key 47 values a 0 sge %s+8 key 11
                8 op 5 flags 0 to 5000 key 48 values b c sge %s+8 key 11
                9 op 7 flags 0 key 99
                10 op 8 flags 0 window 5 key 501 at %s+64 rights 4
                """.formatted(at(16), at(0), at(0), at(8), at(0), at(0), at(0)));
        }
    }

    @Test
    void aWindowOfTypeOneIsBoundInItsPlace() {
        try (QueuePair qp = ready(QueuePairOptions.rc(cq));
                var window = domain.allocateWindow(MemoryWindow.Type.TYPE_1);
                var batch = qp.sendBatch()) {
            stub.told();
            batch.send(1);
            batch.bindWindow(2, window, 0, region, region.address(), 8, EnumSet.of(Access.REMOTE_READ))
                    .signaled();
            batch.send(3);
            batch.submit();
            assertThat(stub.told()).isEqualTo("""
                1 op 2 flags 0
                2 bind flags 2 at %s+8 rights 4
                3 op 2 flags 0
                """.formatted(at(0)));
            assertThat(window.rkey()).isEqualTo(0x501);
        }
    }

    @Test
    void whatTheStructHasNoRoomForIsPostedInItsPlace() {
        with("STUB_EXTENSIONS", () -> {
            try (IbvContext extended = stub.open();
                    ProtectionDomain its = extended.allocateProtectionDomain();
                    CompletionQueue completions = extended.createCompletionQueue(16);
                    QueuePair qp = ready(
                            its,
                            QueuePairOptions.rc(completions)
                                    .withExtensions(EnumSet.of(Capability.FLUSH, Capability.ATOMIC_WRITE)));
                    var batch = qp.sendBatch()) {
                stub.told();
                batch.send(1);
                batch.flush(2, 0x1000, 0x44, 300, Set.of(FlushTarget.GLOBAL)).signaled();
                batch.flushRegion(3, 0x45, Set.of(FlushTarget.GLOBAL, FlushTarget.PERSISTENT))
                        .fenced();
                batch.atomicWrite(4, 0x3000, 0x46, 0x0102_0304_0506_0708L).signaled();
                batch.send(5);
                assertThat(batch.submit()).isEqualTo(5);
                assertThat(stub.told()).isEqualTo("""
                    1 op 2 flags 0
                    2 extended op 8 flags 2 to 1000 key 44 length 300 type 1 level 0
                    3 extended op 8 flags 1 to 0 key 45 length 0 type 3 level 1
                    4 extended op 9 flags 2 to 3000 key 46 value 102030405060708
                    5 op 2 flags 0
                    """);
                assertThat(completions.poll(wc)).isTrue();
                assertThat(wc.opcode()).isEqualTo(WcOpcode.FLUSH);
                assertThat(completions.poll(wc)).isTrue();
                assertThat(wc.opcode()).isEqualTo(WcOpcode.ATOMIC_WRITE);

                batch.send(6);
                batch.atomicWrite(999, 0x3000, 0x46, 1);
                batch.send(7);
                assertThatThrownBy(batch::submit)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("batch request 2 (wrId 999)")
                        .hasMessageContaining("those before it were handed over");
                assertThat(stub.told()).isEqualTo("6 op 2 flags 0\n");

                assertThatThrownBy(() -> batch.flush(8, 0, 0, 8, Set.of()))
                        .hasMessageContaining("targets: at least one");
                assertThatThrownBy(() -> batch.flush(8, 0, 0, -1, Set.of(FlushTarget.GLOBAL)))
                        .hasMessageContaining("length: not negative, got -1");
                assertThatThrownBy(() -> batch.atomicWrite(8, 0, 0, 1).sge(1, 0, 8))
                        .hasMessageContaining("ATOMIC_WRITE has no data");
                assertThat(batch.submit()).isZero();
            }
        });
    }

    @Test
    void whatAQueuePairWasNotMadeForIsNotPosted() {
        with("STUB_EXTENSIONS", () -> {
            try (IbvContext extended = stub.open();
                    ProtectionDomain its = extended.allocateProtectionDomain();
                    CompletionQueue completions = extended.createCompletionQueue(16);
                    QueuePair qp = ready(its, QueuePairOptions.rc(completions));
                    var batch = qp.sendBatch()) {
                assertThatThrownBy(() -> batch.atomicWrite(1, 0, 0, 1))
                        .isInstanceOf(InvalidStateException.class)
                        .hasMessageContaining("was not made for ATOMIC_WRITE");
            }
        });
        try (QueuePair qp = ready(QueuePairOptions.rc(cq));
                var batch = qp.sendBatch()) {
            assertThatThrownBy(() -> batch.flush(1, 0, 0, 8, Set.of(FlushTarget.GLOBAL)))
                    .isInstanceOf(UnsupportedException.class)
                    .hasMessageContaining("FLUSH");
        }
        assertThatThrownBy(() -> domain.createQueuePair(
                        QueuePairOptions.rc(cq).withExtensions(EnumSet.of(Capability.ATOMIC_WRITE))))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("ATOMIC_WRITE");
    }

    @Test
    void anAddressHandleThatABatchNamesIsFreedWhenTheBatchIsOver() {
        try (QueuePair qp = domain.createQueuePair(QueuePairOptions.ud(cq))) {
            qp.modify(new Transition.ToInitUd(1, 0, 0x1111));
            qp.modify(new Transition.ToRtrUd());
            qp.modify(new Transition.ToRtsUnreliable(0));
            var sent = domain.createAddressHandle(AddressVector.to(Gid.parse("192.0.2.8"), 3));
            var dropped = domain.createAddressHandle(AddressVector.to(Gid.parse("192.0.2.8"), 3));
            try (var batch = qp.sendBatch()) {
                batch.send(1).sge(region, 0, 10).to(sent, 0x123, 0x8000_0001);
                sent.close();
                stub.told();
                batch.submit();
                assertThat(stub.told()).startsWith("1 op 2").contains("destroy_ah");
                batch.send(2).sge(region, 0, 10).to(dropped, 0x123, 0x8000_0001);
                dropped.close();
                assertThat(stub.told()).doesNotContain("destroy_ah");
                batch.discard();
                assertThat(stub.told()).contains("destroy_ah");
            }
            try (var batch = qp.sendBatch()) {
                assertThatThrownBy(() -> batch.send(3).to(sent, 1, 1)).hasMessageContaining("is closed");
            }
        }
    }

    @Test
    void aDatagramNamesItsReceiver() {
        try (QueuePair qp = domain.createQueuePair(QueuePairOptions.ud(cq));
                var handle = domain.createAddressHandle(AddressVector.to(Gid.parse("192.0.2.8"), 3))) {
            qp.modify(new Transition.ToInitUd(1, 0, 0x1111));
            qp.modify(new Transition.ToRtrUd());
            qp.modify(new Transition.ToRtsUnreliable(0));
            stub.told();
            try (var batch = qp.sendBatch()) {
                batch.send(1).sge(region, 0, 10).to(handle, 0x123, 0x8000_0001).submit();
                assertThat(stub.told())
                        .isEqualTo("1 op 2 flags 0 to handle 9 qpn 123 qkey 80000001 sge " + at(0) + "+10 key 11\n");
                assertThatThrownBy(() -> batch.send(2).sge(region, 0, 10).submit())
                        .hasMessageContaining("name the receiver");
                assertThatThrownBy(() -> batch.send(3)
                                .sge(region, 0, 1025)
                                .to(handle, 1, 1)
                                .submit())
                        .hasMessageContaining("a datagram has at most 1024 bytes");
                assertThatThrownBy(() -> batch.write(4, 0, 0)).isInstanceOf(IllegalArgumentException.class);
            }
        }
    }

    @Test
    void aMistakeNamesItsPlaceAndLeavesTheOthers() {
        try (QueuePair qp = ready(QueuePairOptions.rc(cq));
                var batch = qp.sendBatch()) {
            stub.told();
            batch.send(1);
            assertThatThrownBy(() -> batch.send(2).sge(region, 4090, 7))
                    .isInstanceOf(IndexOutOfBoundsException.class)
                    .hasMessageStartingWith("batch request 2 (wrId 2): sge: ");
            assertThatThrownBy(() -> batch.fetchAdd(3, 0, 0, 1).submit())
                    .hasMessageContaining("exactly one sge of 8 bytes");
            assertThat(batch.submit()).isEqualTo(1);
            assertThat(stub.told()).isEqualTo("1 op 2 flags 0\n");
        }
    }

    @Test
    void whatTheDeviceRefusesNamesThePlaceToo() {
        try (QueuePair qp = ready(QueuePairOptions.rc(cq));
                var batch = qp.sendBatch()) {
            batch.send(1);
            batch.send(999);
            batch.send(2);
            assertThatThrownBy(batch::submit)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("batch request 2 (wrId 999)")
                    .hasMessageContaining("those before it were handed over");
            for (int i = 0; i < 17; i++) {
                batch.send(i);
            }
            assertThatThrownBy(batch::submit)
                    .isInstanceOf(ResourceLimitException.class)
                    .hasMessageStartingWith("batch request 17 (wrId 16): maxSendWr is 128");
            stub.told();
            batch.send(3);
            batch.submit();
            assertThat(stub.told()).isEqualTo("3 op 2 flags 0\n");
        }
    }

    @Test
    void sendsWaitForRtsAndReceivesForInit() {
        try (QueuePair qp = domain.createQueuePair(QueuePairOptions.rc(cq))) {
            assertThatThrownBy(qp::sendBatch).isInstanceOf(InvalidStateException.class);
            assertThatThrownBy(qp::receiveBatch).isInstanceOf(InvalidStateException.class);
            qp.modify(new Transition.ToInit(Set.of()));
            stub.told();
            qp.postReceive(5, region.slice(8, 16));
            assertThat(stub.told()).isEqualTo("5 receive sge " + at(8) + "+16 key 11\n");
        }
    }

    // ---- completions

    @Test
    void completionsSayWhatTheStructSays() {
        try (QueuePair qp = ready(QueuePairOptions.rc(cq))) {
            qp.postRead(5, new RemoteMemory(0, 0, 8), region.slice(0, 8));
            assertThat(cq.poll(wc)).isTrue();
            assertThat(wc.ok()).isTrue();
            assertThat(wc.wrId()).isEqualTo(5);
            assertThat(wc.opcode()).isEqualTo(WcOpcode.RDMA_READ);
            assertThat(wc.qpn()).isEqualTo(qp.qpn());

            qp.postReceive(6, region.slice(0, 100));
            stub.receive(qp, 129, 3, Memory.swap(0x0102_0304), 90, 0x55);
            assertThat(cq.poll(wc)).isTrue();
            assertThat(wc.opcode()).isEqualTo(WcOpcode.RECV_RDMA_WITH_IMM);
            assertThat(wc.immediate()).isEqualTo(0x0102_0304);
            assertThat(wc.byteLength()).isEqualTo(90);
            assertThat(wc.sourceQpn()).isEqualTo(0x55);
            assertThat(CompletionAccess.flags(wc)).isEqualTo(CompletionAccess.GRH | CompletionAccess.WITH_IMM);

            stub.receive(qp, 128, 8 | 4, 0x77, -1, 0);
            assertThat(cq.poll(wc)).isTrue();
            assertThat(wc.hasInvalidate()).isTrue();
            assertThat(wc.invalidatedRkey()).isEqualTo(0x77);
            assertThat(wc.byteLength()).isEqualTo(0xFFFF_FFFFL);
            assertThat(cq.poll(wc)).isFalse();
        }
    }

    @Test
    void everyStatusHasItsNameAndTheDevicesNumber() {
        try (QueuePair qp = ready(QueuePairOptions.rc(cq))) {
            for (WcStatus status : WcStatus.values()) {
                if (status != WcStatus.SUCCESS) {
                    qp.postSend(1000 + status.code(), region.slice(0, 1));
                    assertThat(cq.poll(wc)).isTrue();
                    assertThat(wc.status()).isEqualTo(status);
                    assertThat(wc.vendorError()).isEqualTo(0x81);
                    assertThat(wc.cause()).contains("0x81");
                }
            }
            qp.postSend(1000 + 23, region.slice(0, 1)); // newer than we are
            assertThat(cq.poll(wc)).isTrue();
            assertThat(wc.status()).isEqualTo(WcStatus.GENERAL_ERR);
        }
    }

    @Test
    void manyCompletionsComeInTheirOrder() {
        try (QueuePair qp = ready(QueuePairOptions.rc(cq))) {
            for (int i = 0; i < 40; i++) {
                qp.postSend(i, region.slice(0, 1));
            }
            for (int i = 0; i < 40; i++) {
                assertThat(cq.poll(wc)).isTrue();
                assertThat(wc.wrId()).isEqualTo(i);
            }
            assertThat(cq.poll(wc)).isFalse();
        }
    }

    @Test
    void aWaitingThreadIsWokenByTheDevicesEvent() throws Exception {
        try (QueuePair qp = ready(QueuePairOptions.rc(cq))) {
            qp.postReceive(6, region.slice(0, 100));
            var waiting = CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            return cq.await(wc, LONG);
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    },
                    task -> Thread.ofVirtual().start(task));
            stub.receive(qp, 128, 0, 0, 1, 0);
            assertThat(waiting.get()).isTrue();
            assertThat(wc.wrId()).isEqualTo(6);
            assertThat(cq.await(wc, Duration.ZERO)).isFalse();
        }
    }

    @Test
    void anArmedQueueIsInItsChannelOnce() throws Exception {
        try (var channel = context.createCompletionChannel();
                CompletionQueue own = context.createCompletionQueue(
                        CompletionQueueOptions.of(8).withChannel(channel));
                QueuePair qp = ready(QueuePairOptions.rc(own))) {
            assertThat(channel.poll()).isEmpty();
            own.arm();
            qp.postSend(1, region.slice(0, 1));
            qp.postSend(2, region.slice(0, 1));
            assertThat(channel.await(LONG)).contains(own);
            assertThat(channel.poll()).isEmpty();
            assertThat(own.poll(wc)).isTrue();
            assertThatThrownBy(() -> cq.arm()).hasMessageContaining("made without a channel");
        }
    }

    // ---- time stamps

    @Test
    void completionsOfATimestampedQueueSayWhen() {
        assertThat(context.attributes().clock().timestampMask()).isEqualTo(0xFFFF_FFFF_FFFFL);
        assertThat(context.attributes().clock().timestampKilohertz()).isEqualTo(156_250);
        try (CompletionQueue stamped = context.createCompletionQueue(
                        CompletionQueueOptions.of(64).withTimestamps());
                QueuePair qp = ready(QueuePairOptions.rc(stamped))) {
            assertThat(stamped.capacity()).isEqualTo(64);
            assertThat(stamped.poll(wc)).isFalse();
            qp.postRead(5, new RemoteMemory(0, 0, 8), region.slice(0, 8));
            assertThat(stamped.poll(wc)).isTrue();
            assertThat(wc.timestamp()).isEqualTo(100);
            WorkCompletion plain = completion(qp, 5);
            CompletionAccess.stamp(plain, 100);
            assertThat(wc.snapshot()).as("all else is as ever").isEqualTo(plain.snapshot());

            qp.postReceive(6, region.slice(0, 100));
            stub.receive(qp, 129, 3, Memory.swap(0x0102_0304), 90, 0x55);
            stub.receive(qp, 128, 8, 0x77, -1, 0);
            assertThat(stamped.poll(wc)).isTrue();
            assertThat(wc.opcode()).isEqualTo(WcOpcode.RECV_RDMA_WITH_IMM);
            assertThat(wc.immediate()).isEqualTo(0x0102_0304);
            assertThat(wc.byteLength()).isEqualTo(90);
            assertThat(wc.sourceQpn()).isEqualTo(0x55);
            assertThat(CompletionAccess.flags(wc)).isEqualTo(CompletionAccess.GRH | CompletionAccess.WITH_IMM);
            assertThat(wc.timestamp()).isEqualTo(200);
            assertThat(stamped.poll(wc)).isTrue();
            assertThat(wc.invalidatedRkey()).isEqualTo(0x77);
            assertThat(wc.byteLength()).isEqualTo(0xFFFF_FFFFL);
            assertThat(wc.timestamp()).isEqualTo(300);
            assertThat(stamped.poll(wc)).isFalse();
        }
    }

    /// What the same READ gives on a queue without a clock.
    private WorkCompletion completion(QueuePair like, long wrId) {
        var plain = new WorkCompletion();
        try (QueuePair qp = ready(QueuePairOptions.rc(cq))) {
            assertThat(qp.qpn()).isEqualTo(like.qpn());
            qp.postRead(wrId, new RemoteMemory(0, 0, 8), region.slice(0, 8));
            CompletionAccess.stamp(plain, 7);
            assertThat(cq.poll(plain)).isTrue();
            assertThat(plain.timestamp()).isZero();
        }
        return plain;
    }

    @Test
    void aFailedRequestHasNoTimeAndIsAskedForNothingElse() {
        try (CompletionQueue stamped = context.createCompletionQueue(
                        CompletionQueueOptions.of(64).withTimestamps());
                QueuePair qp = ready(QueuePairOptions.rc(stamped))) {
            qp.postSend(1000 + WcStatus.RNR_RETRY_EXC_ERR.code(), region.slice(0, 1));
            qp.postSend(7, region.slice(0, 1));
            assertThat(stamped.poll(wc)).isTrue();
            assertThat(wc.status()).isEqualTo(WcStatus.RNR_RETRY_EXC_ERR);
            assertThat(wc.vendorError()).isEqualTo(0x81);
            assertThat(wc.qpn()).isEqualTo(qp.qpn());
            assertThat(wc.timestamp()).isZero();
            assertThat(stamped.poll(wc)).isTrue();
            assertThat(wc.ok()).isTrue();
            assertThat(wc.timestamp()).isEqualTo(200);
        }
    }

    @Test
    void manyTimestampedCompletionsComeInTheirOrderAndWakeWhoWaits() throws Exception {
        try (var channel = context.createCompletionChannel();
                CompletionQueue stamped = context.createCompletionQueue(
                        CompletionQueueOptions.of(64).withChannel(channel).withTimestamps());
                QueuePair qp = ready(QueuePairOptions.rc(stamped))) {
            stamped.arm();
            for (int i = 0; i < 40; i++) {
                qp.postSend(i, region.slice(0, 1));
            }
            assertThat(channel.await(LONG)).contains(stamped);
            for (int i = 0; i < 40; i++) {
                assertThat(stamped.await(wc, LONG)).isTrue();
                assertThat(wc.wrId()).isEqualTo(i);
                assertThat(wc.timestamp()).isEqualTo(100L * (i + 1));
            }
            assertThat(stamped.poll(wc)).isFalse();
        }
    }

    @Test
    void aDeviceWithoutAClockSaysSo() {
        with("STUB_NO_CLOCK", () -> {
            try (IbvContext without = stub.open()) {
                assertThat(without.attributes().has(Capability.COMPLETION_TIMESTAMPS))
                        .isFalse();
                assertThat(without.attributes().clock().timestampKilohertz()).isZero();
                assertThatThrownBy(() -> without.createCompletionQueue(
                                CompletionQueueOptions.of(8).withTimestamps()))
                        .isInstanceOf(UnsupportedException.class)
                        .hasMessageContaining("COMPLETION_TIMESTAMPS");
            }
        });
    }

    // ---- extended connections

    @Test
    void anXrcDomainMakesQueuesAndTargets() {
        assertThat(context.attributes().has(Capability.XRC)).isTrue();
        try (var xrc = context.openXrcDomain();
                var queue = xrc.createSharedReceiveQueue(domain, cq, 8, 2);
                QueuePair target = xrc.createTarget()) {
            assertThat(stub.told()).isEqualTo("""
                    xrcd mask 3 fd -1 flags 100
                    srq type 1 mask f of 8 with 2 pd xrcd cq
                    target of an xrcd
                    """);
            assertThat(queue.number()).hasValue(0xabcdef);
            assertThat(queue.toString()).isEqualTo("shared receive queue 0xabcdef");
            assertThat(target.type()).isEqualTo(QpType.XRC_TARGET);
            assertThat(target.qpn()).isEqualTo(0x654321);
            assertThatThrownBy(target::sendBatch)
                    .isInstanceOf(InvalidStateException.class)
                    .hasMessageContaining("sends nothing");
            assertThatThrownBy(target::receiveBatch).isInstanceOf(InvalidStateException.class);
            assertThatThrownBy(xrc::close).isInstanceOf(InUseException.class);
            assertThatThrownBy(
                            () -> domain.createQueuePair(QueuePairOptions.rc(cq).withSharedReceiveQueue(queue)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("XRC domain");
            assertThatThrownBy(() -> domain.createQueuePair(QueuePairOptions.of(QpType.XRC_TARGET, cq)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(stub.told()).isEqualTo("xrcd closed\n");
    }

    @Test
    void anInitiatorsRequestsNameAQueueOfThePeer() {
        try (QueuePair qp = domain.createQueuePair(QueuePairOptions.xrcInitiator(cq))) {
            qp.modify(new Transition.ToInit(Set.of()));
            qp.modify(new Transition.ToRtrUc(AddressVector.to(Gid.parse("192.0.2.8"), 3), Mtu.MTU_1024, PEER, 7));
            qp.modify(new Transition.ToRts(9, new verbena.verbs.AckTimeout(14), 6, 5, 3));
            stub.told();
            try (var batch = qp.sendBatch()) {
                batch.send(1).to(0x77).sge(region, 0, 10).signaled();
                batch.read(2, 0x1000, 5).to(0x78).sge(region, 0, 10);
                batch.submit();
            }
            assertThat(stub.told()).contains("1 op 2 flags 2 srq 77 ", "2 op 4 flags 0 srq 78 ");
            try (var batch = qp.sendBatch()) {
                batch.send(3).sge(region, 0, 10);
                assertThatThrownBy(batch::submit)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("to(srqNumber)");
            }
            assertThatThrownBy(qp::receiveBatch).isInstanceOf(InvalidStateException.class);
        }
        try (QueuePair qp = ready(QueuePairOptions.rc(cq));
                var batch = qp.sendBatch()) {
            batch.send(1);
            assertThatThrownBy(() -> batch.to(1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("XRC_INITIATOR");
        }
    }

    // ---- events and the end

    @Test
    void asynchronousEventsNameTheirObjects() throws Exception {
        try (QueuePair qp = ready(QueuePairOptions.rc(cq));
                var srq = domain.createSharedReceiveQueue(8, 1)) {
            stub.event(4, ((IbvQueuePair) qp).address());
            assertThat(context.awaitAsyncEvent(LONG))
                    .contains(new AsyncEvent.QueuePairEvent(AsyncEvent.Type.COMM_EST, qp));
            srq.armLimit(3);
            assertThat(srq.limit()).isEqualTo(3);
            stub.event(15, ((IbvSharedReceiveQueue) srq).address());
            assertThat(context.awaitAsyncEvent(LONG))
                    .contains(new AsyncEvent.SharedReceiveQueueEvent(AsyncEvent.Type.SRQ_LIMIT_REACHED, srq));
            assertThat(srq.limit()).isZero();
            stub.event(9, 1);
            assertThat(context.awaitAsyncEvent(LONG))
                    .contains(new AsyncEvent.PortEvent(AsyncEvent.Type.PORT_ACTIVE, 1));
            stub.event(0, ((IbvCompletionQueue) cq).address());
            assertThat(context.awaitAsyncEvent(LONG))
                    .contains(new AsyncEvent.CompletionQueueEvent(AsyncEvent.Type.CQ_ERR, cq));
            assertThatThrownBy(() -> cq.await(wc, LONG)).hasMessageContaining("is broken");
        }
    }

    @Test
    void whatIsInUseDoesNotCloseAndWhatIsClosedDoesNothing() {
        QueuePair qp = ready(QueuePairOptions.rc(cq));
        assertThatThrownBy(cq::close).isInstanceOf(InUseException.class).hasMessageContaining("queue pair 0x123456");
        assertThatThrownBy(context::close).isInstanceOf(InUseException.class);
        var batch = qp.sendBatch();
        batch.send(1);
        qp.close();
        assertThatThrownBy(batch::submit).isInstanceOf(InvalidStateException.class);
        batch.close();
        assertThatThrownBy(qp::sendBatch).isInstanceOf(InvalidStateException.class);
        assertThatThrownBy(qp::query).isInstanceOf(InvalidStateException.class);
        CompletionQueue other = context.createCompletionQueue(4);
        other.close();
        other.close();
        assertThatThrownBy(() -> other.poll(wc)).isInstanceOf(InvalidStateException.class);
        MemoryRegion closed = domain.allocate(8, Access.local());
        closed.close();
        try (QueuePair another = ready(QueuePairOptions.rc(cq))) {
            assertThatThrownBy(() -> another.postSend(1, closed.slice(0, 1))).isInstanceOf(InvalidStateException.class);
        }
    }

    @Test
    void tooLittleLockedMemoryIsExplained() {
        try (Arena arena = Arena.ofShared()) {
            assertThatThrownBy(() -> domain.register(arena.allocate(666), Access.local()))
                    .isInstanceOf(ResourceLimitException.class)
                    .hasMessageContaining("locked memory is")
                    .hasMessageContaining("ulimit -l");
        }
    }

    @Test
    void rightsReachTheDevice() {
        domain.allocate(64, Access.remoteRead()).close();
        assertThat(stub.told()).isEqualTo("register 64 rights 5\n");
        region.reregister(domain, Access.local());
        assertThat(stub.told()).isEqualTo("register again rights 1\n");
        assertThat(region.lkey()).isEqualTo(0x11);
        assertThat(region.rkey()).isEqualTo(0x22);
    }

    // ---- memory of another device

    @Test
    void aDmaBufIsRegisteredAndNamedByItsIova() {
        try (MemoryRegion buffer = domain.registerDmaBuf(9, 8192, 4096, 0x7000_0000_1000L, Access.remoteRead());
                QueuePair qp = ready(QueuePairOptions.rc(cq))) {
            assertThat(stub.told()).startsWith("dma-buf 9 at 8192 iova 700000001000 register 4096 rights 5\n");
            assertThat(buffer.length()).isEqualTo(4096);
            assertThat(buffer.remote().address()).isEqualTo(0x7000_0000_1000L);
            assertThat(buffer.rkey()).isEqualTo(0x22);
            qp.postSend(1, buffer.slice(96, 4000));
            assertThat(stub.told()).contains("sge 700000001060+4000 key 11");
            assertThatThrownBy(() -> qp.postSend(2, buffer.slice(97, 4000)))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(buffer::segment)
                    .isInstanceOf(InvalidStateException.class)
                    .hasMessageContaining("dma-buf");
            buffer.reregister(domain, Access.local());
            assertThat(stub.told()).isEqualTo("register again rights 1\n");
        }
    }

    @Test
    void memoryOnDemandIsTheCards() {
        with("STUB_ON_DEMAND", () -> {
            try (IbvContext paging = stub.open();
                    ProtectionDomain its = paging.allocateProtectionDomain()) {
                var declared = paging.attributes().memory().onDemandPaging();
                assertThat(declared.hasAddressSpace()).isTrue();
                assertThat(declared.uses(QpType.RC)).containsExactlyInAnyOrder(Use.WRITE, Use.READ);
                assertThat(declared.uses(QpType.UC)).isEmpty();
                assertThat(declared.uses(QpType.UD)).containsExactly(Use.SEND);
                assertThat(declared.uses(QpType.XRC_INITIATOR)).containsExactly(Use.SHARED_RECEIVE);
                stub.told();
                try (MemoryRegion all = its.registerAddressSpace(Access.local());
                        MemoryRegion none = its.allocateNull()) {
                    assertThat(stub.told()).isEqualTo("register 18446744073709551615 rights 41\n");
                    assertThat(all.address()).isZero();
                    its.advise(Advice.PREFETCH_WRITE, all.slice(0x1000, 8), all.slice(0x2000, 5_000));
                    its.adviseLater(Advice.PREFETCH_NO_FAULT, all.slice(0x1000, 8));
                    assertThat(stub.told()).isEqualTo("""
                        advise 1 flags 1 1000+8 key 11 2000+5000 key 11
                        advise 2 flags 0 1000+8 key 11
                        """);
                    assertThatThrownBy(() -> its.advise(Advice.PREFETCH, all.slice(4711, 8)))
                            .isInstanceOf(InvalidStateException.class)
                            .hasMessageContaining("not there");
                    assertThat(none.lkey()).isEqualTo(0x33);
                    assertThat(none.rkey()).isZero();
                    assertThatThrownBy(none::segment).isInstanceOf(InvalidStateException.class);
                    assertThatThrownBy(() -> none.reregister(its, Access.local()))
                            .isInstanceOf(InvalidStateException.class);
                }
                stub.told();
            }
        });
        assertThatThrownBy(() -> domain.registerAddressSpace(Access.local())).isInstanceOf(UnsupportedException.class);
        assertThatThrownBy(domain::allocateNull).isInstanceOf(UnsupportedException.class);
        assertThatThrownBy(() -> domain.advise(Advice.PREFETCH, region)).isInstanceOf(UnsupportedException.class);
    }

    @Test
    void whatIsNoDmaBufIsNamed() {
        assertThatThrownBy(() -> domain.registerDmaBuf(-1, 0, 1, 0, Access.local()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("fd: a descriptor, got -1");
        assertThatThrownBy(() -> domain.registerDmaBuf(9, -1, 1, 0, Access.local()))
                .hasMessageContaining("offset: not negative");
        assertThatThrownBy(() -> domain.registerDmaBuf(9, 0, 0, 0, Access.local()))
                .hasMessageContaining("length: at least 1");
        assertThatThrownBy(() -> domain.registerDmaBuf(9, 0, 4096, -4095, Access.local()))
                .hasMessageContaining("past the end of the address space");
        assertThatThrownBy(() -> domain.registerDmaBuf(9, 0, 1, 0, EnumSet.of(Access.MW_BIND)))
                .hasMessageContaining("access: of [LOCAL_WRITE");
        assertThat(stub.told()).isEmpty();
        assertThatThrownBy(() -> domain.registerDmaBuf(77, 0, 4096, 0, Access.local()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no dma-buf's");
    }

    @Test
    void aDeviceThatTakesNoDmaBufSaysSo() {
        with("STUB_NO_DMA_BUF", () -> {
            try (IbvContext without = stub.open();
                    ProtectionDomain its = without.allocateProtectionDomain()) {
                assertThatThrownBy(() -> its.registerDmaBuf(9, 0, 4096, 0, Access.local()))
                        .isInstanceOf(UnsupportedException.class)
                        .hasMessageContaining("DMA_BUF");
            }
        });
    }

    // ---- raw packets

    @Test
    void aFlowIsLaidOutAsItsHeadersFollow() {
        var rule = FlowRule.everything()
                .with(FlowField.UDP_DESTINATION_PORT, 4791)
                .with(FlowField.ETHER_TYPE, 0x0800)
                .with(FlowField.IPV4_SOURCE, 0xC000_0200L, 0xFFFF_FF00L);
        try (QueuePair qp = domain.createQueuePair(QueuePairOptions.rawPacket(cq))) {
            stub.told();
            try (PacketFlow flow = qp.attachFlow(rule)) {
                assertThat(stub.told())
                        .isEqualTo("flow type 0 of 4"
                                + " spec 20 " + "00".repeat(12) + "08000000" + "00".repeat(12) + "ffff0000" + "0000"
                                + " spec 32 0000" + "c0000200" + "00".repeat(8) + "ffffff00" + "00".repeat(8)
                                + " spec 41 12b70000" + "ffff0000" + "0000"
                                + " spec 1003\n");
                assertThat(flow.packets()).isEqualTo(100);
                assertThat(flow.bytes()).isEqualTo(6400);
                assertThatThrownBy(qp::close).isInstanceOf(InUseException.class);
            }
        }
        try (QueuePair rc = domain.createQueuePair(QueuePairOptions.rc(cq))) {
            assertThatThrownBy(() -> rc.attachFlow(rule)).isInstanceOf(InvalidStateException.class);
        }
    }

    // ---- memory of the device

    @Test
    void deviceMemoryIsCopiedAndRegisteredByItsOffset() {
        assertThat(context.attributes().memory().maxDeviceMemoryBytes()).isEqualTo(4096);
        try (DeviceMemory memory = context.allocateDeviceMemory(256);
                MemoryRegion of = domain.register(memory, 64, 128, EnumSet.of(Access.LOCAL_WRITE))) {
            assertThat(stub.told())
                    .isEqualTo("device memory 256 aligned 6\ndevice memory at 64 register 128 rights 21\n");
            byte[] found = new byte[8];
            memory.read(248, MemorySegment.ofArray(found));
            assertThat(found).as("what another program has left is not shown").isEqualTo(new byte[8]);
            memory.write(248, MemorySegment.ofArray(new byte[] {1, 2, 3, 4}));
            memory.read(248, MemorySegment.ofArray(found));
            assertThat(found).containsExactly(1, 2, 3, 4, 0, 0, 0, 0);
            assertThat(of.address()).isZero();
            assertThatThrownBy(of::segment).isInstanceOf(InvalidStateException.class);
            assertThatThrownBy(memory::close).isInstanceOf(InUseException.class);
            assertThatThrownBy(() -> memory.write(254, MemorySegment.ofArray(found)))
                    .hasMessage("write: offset and length: multiples of 4, got 254 and 8");
        }
        assertThatThrownBy(() -> context.allocateDeviceMemory(8192))
                .isInstanceOf(ResourceLimitException.class)
                .hasMessageContaining("4096");
    }
}
