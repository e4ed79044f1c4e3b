package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.nic.device.DeviceContext;
import verbena.nic.roce.LinkDevice;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.AlternatePath;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.DeviceException;
import verbena.verbs.DeviceMemory;
import verbena.verbs.Endpoint;
import verbena.verbs.EndpointOptions;
import verbena.verbs.Gid;
import verbena.verbs.GidType;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.Mtu;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.RnrTimer;
import verbena.verbs.SendBatch;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.Transition;
import verbena.verbs.UnsupportedException;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;

/// How objects are created, changed and closed, and the messages when they cannot be.
class ObjectsTest {
    private final Pair pair = new Pair();
    private final Pair.End a = pair.a;
    private final Pair.End b = pair.b;

    @AfterEach
    void close() {
        pair.close();
    }

    // ---- memory of the device

    /// Another process's programs are no concern, but those of one device share what it has.
    @Test
    void deviceMemoryThatIsClosedCanBeHadAgain() {
        long all = a.context.attributes().memory().maxDeviceMemoryBytes();
        for (int i = 0; i < 3; i++) {
            try (DeviceMemory _ = a.context.allocateDeviceMemory(all - 8);
                    DeviceMemory _ = a.context.allocateDeviceMemory(8)) {
                assertThatThrownBy(() -> a.context.allocateDeviceMemory(1))
                        .isInstanceOf(ResourceLimitException.class)
                        .hasMessageContaining("maxDeviceMemoryBytes");
            }
        }
    }

    @Test
    void deviceMemoryOfAnotherDeviceIsRefused() {
        try (DeviceMemory memory = b.context.allocateDeviceMemory(64)) {
            assertThatThrownBy(() -> a.domain.register(memory, 0, 64, Access.local()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("register: memory: belongs to another context");
        }
    }

    @Test
    void closedDeviceMemoryIsNotCopied() {
        DeviceMemory memory = a.context.allocateDeviceMemory(64);
        memory.close();
        assertThatThrownBy(() -> memory.read(0, MemorySegment.ofArray(new byte[4])))
                .isInstanceOf(InvalidStateException.class);
    }

    // ---- the device

    @Test
    void whatIsMissingIsNoCapability() {
        var attributes = a.context.attributes();
        assertThat(attributes.has(Capability.RC)).isTrue();
        assertThat(attributes.capabilities())
                .isEqualTo(EnumSet.complementOf(EnumSet.of(
                        Capability.DMA_BUF,
                        Capability.RAW_PACKET,
                        Capability.PATH_MIGRATION,
                        Capability.COMPLETION_TIMESTAMPS)));
        assertThat(attributes.queues().maxQpWr()).isEqualTo(16_384);
        assertThat(attributes.queues().maxInlineBytes()).isEqualTo(512);
    }

    @Test
    void thereIsOnePort() {
        assertThat(a.context.port(1).activeMtu()).isEqualTo(Mtu.MTU_4096);
        for (int port : new int[] {0, 2, 255, 257, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            String got = "got " + port;
            assertThatThrownBy(() -> a.context.port(port)).hasMessageContaining(got);
            assertThatThrownBy(() -> a.context.gids(port)).hasMessageContaining(got);
            assertThatThrownBy(() -> a.context.gid(port, 0)).hasMessageContaining(got);
            assertThatThrownBy(() -> a.context.pkey(port, 0)).hasMessageContaining(got);
        }
        assertThatThrownBy(() -> a.context.gid(1, 3))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("[0], got 3");
        assertThat(a.context.pkey(1, 0)).isEqualTo(0xFFFF);
        assertThatThrownBy(() -> a.context.pkey(1, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> a.context.gidFor(1, Gid.parse("2001:db8::1")))
                .isInstanceOf(DeviceException.class)
                .hasMessageContaining("[10.0.0.1]");
    }

    @Test
    void theMtuIsWhatTheLinkHasRoomFor() {
        int[] rooms = {256 + 36, 512 + 35, 1_024 + 36, 4_095, Frame.PACKET_MAX};
        Mtu[] mtus = {Mtu.MTU_256, Mtu.MTU_256, Mtu.MTU_1024, Mtu.MTU_2048, Mtu.MTU_4096};
        for (int i = 0; i < rooms.length; i++) {
            var wire = new Wire("10.0.0.9", new Wire.Clock());
            wire.mtuBytes = rooms[i];
            try (DeviceContext context =
                    (DeviceContext) LinkDevice.open("small", wire, () -> 0, new Random(1), false)) {
                assertThat(context.port(1).activeMtu()).isEqualTo(mtus[i]);
            }
            assertThat(wire.closed).isTrue();
        }
    }

    @Test
    void aDeviceOverALinkOpensOnce() {
        assertThatThrownBy(() -> a.context.device().open()).isInstanceOf(DeviceException.class);
    }

    // ---- closing

    @Test
    void parentsNameTheChildrenThatAreLeft() {
        assertThatThrownBy(a.context::close)
                .isInstanceOf(InUseException.class)
                .hasMessageStartingWith(
                        "close: context of wire-10.0.0.1 is in use by %s, %s; close those first", a.domain, a.cq);
        assertThatThrownBy(a.domain::close)
                .isInstanceOfSatisfying(
                        InUseException.class,
                        e -> assertThat(e.children()).containsExactly(a.qp.toString(), a.memory.toString()));
        assertThatThrownBy(a.cq::close).isInstanceOf(InUseException.class).hasMessageContaining(a.qp.toString());
        assertThat(a.cq.isClosed()).isFalse();
        a.closeAll();
        a.closeAll();
        assertThat(a.wire.closed).isTrue();
    }

    @Test
    void nothingIsMadeFromWhatIsClosed() {
        a.closeAll();
        for (org.assertj.core.api.ThrowableAssert.ThrowingCallable call :
                List.<org.assertj.core.api.ThrowableAssert.ThrowingCallable>of(
                        a.context::allocateProtectionDomain,
                        () -> a.context.createCompletionQueue(1),
                        a.context::createCompletionChannel,
                        a.context::pollAsyncEvent,
                        () -> a.domain.allocate(1, Access.local()),
                        () -> a.domain.allocateWindow(MemoryWindow.Type.TYPE_1),
                        () -> a.domain.createSharedReceiveQueue(1, 1),
                        () -> a.qp.modify(new Transition.ToError()),
                        a.qp::query,
                        a.qp::endpoint)) {
            assertThatThrownBy(call).isInstanceOf(InvalidStateException.class).hasMessageEndingWith("is closed");
        }
    }

    @Test
    void aSharedReceiveQueueOutlivesItsQueuePairs() {
        SharedReceiveQueue srq = a.domain.createSharedReceiveQueue(4, 1);
        QueuePair qp = a.domain.createQueuePair(QueuePairOptions.rc(a.cq).withSharedReceiveQueue(srq));
        assertThatThrownBy(srq::close).isInstanceOf(InUseException.class).hasMessageContaining(qp.toString());
        assertThatThrownBy(qp::receiveBatch)
                .isInstanceOf(InvalidStateException.class)
                .hasMessage("receive: %s takes receives from its shared receive queue; post them there", qp);
        qp.close();
        srq.close();
        assertThatThrownBy(srq::receiveBatch).isInstanceOf(InvalidStateException.class);
        assertThatThrownBy(() -> srq.armLimit(1)).isInstanceOf(InvalidStateException.class);
    }

    @Test
    void aRegionWithABoundWindowStays() {
        a.qp.connect(b.qp.endpoint());
        b.qp.connect(a.qp.endpoint());
        MemoryRegion region = a.domain.allocate(4_096, EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND));
        MemoryWindow window = a.domain.allocateWindow(MemoryWindow.Type.TYPE_2);
        try (SendBatch batch = a.qp.sendBatch()) {
            batch.bindWindow(1, window, window.nextRkey(), region, region.address(), 64, Set.of(Access.REMOTE_READ))
                    .signaled();
            batch.submit();
        }
        pair.settle();
        assertThat(a.completions()).containsExactly("1 SUCCESS");
        assertThatThrownBy(region::close)
                .isInstanceOf(InUseException.class)
                .hasMessageStartingWith("close: %s is in use by a bound memory window; close those first", region);
        assertThat(region.isClosed()).isFalse();
        assertThatThrownBy(() -> region.reregister(a.domain, Access.local()))
                .isInstanceOf(InUseException.class)
                .hasMessageStartingWith("reregister: %s is in use by a bound memory window", region);
        window.close();
        region.close();
        assertThat(region.isClosed()).isTrue();
    }

    // ---- memory

    @Test
    void onlyMemoryThatADeviceCanReachIsRegistered() {
        assertThatThrownBy(() -> a.domain.register(MemorySegment.ofArray(new byte[8]), Access.local()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("register: segment: is on the heap");
        try (Arena confined = Arena.ofConfined()) {
            MemorySegment segment = confined.allocate(8);
            assertThatThrownBy(() -> a.domain.register(segment, Access.local()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("register: segment: is confined to one thread");
        }
        MemorySegment dead;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment segment = arena.allocate(8);
            dead = segment;
            assertThatThrownBy(() -> a.domain.register(segment.asReadOnly(), Access.local()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("register: segment: is read-only, and access asks for writing: [LOCAL_WRITE]");
            MemoryRegion readOnly = a.domain.register(segment.asReadOnly(), EnumSet.of(Access.REMOTE_READ));
            assertThatThrownBy(() -> readOnly.reregister(a.domain, Access.local()))
                    .isInstanceOf(IllegalArgumentException.class);
            readOnly.close();
            assertThatThrownBy(() -> a.domain.register(segment, -4, Access.local()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("past the end of the address space");
            MemoryRegion atTheEnd = a.domain.register(segment, -8, Access.local());
            assertThat(atTheEnd.address())
                    .as("its last byte is the last of the address space")
                    .isEqualTo(-8);
            atTheEnd.close();
            assertThatThrownBy(() -> a.domain.register(segment, 1, EnumSet.of(Access.ZERO_BASED)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> a.domain.register(dead, Access.local()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("register: segment: its arena is closed");
    }

    /// IBTA 10.6.3.1.
    @Test
    void rightsHaveLegalCombinations() {
        for (Access remote : List.of(Access.REMOTE_WRITE, Access.REMOTE_ATOMIC)) {
            assertThatThrownBy(() -> a.domain.allocate(8, EnumSet.of(remote)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage(
                            "allocate: access: REMOTE_WRITE and REMOTE_ATOMIC ask for LOCAL_WRITE too, got [%s]",
                            remote);
        }
        assertThatThrownBy(() -> a.domain.registerAddressSpace(EnumSet.of(Access.ZERO_BASED)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("registerAddressSpace: access: the whole address space has no ZERO_BASED");
        assertThatThrownBy(() -> a.domain.allocate(8, EnumSet.of(Access.FLUSH_PERSISTENT)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("allocate: access: FLUSH_PERSISTENT is for memory that persists");
        assertThatThrownBy(() -> a.domain.allocate(0, Access.local()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("allocate: bytes: at least 1, got 0");
        a.domain
                .allocate(8, EnumSet.of(Access.ON_DEMAND, Access.HUGETLB, Access.RELAXED_ORDERING, Access.MW_BIND))
                .close();
    }

    @Test
    void aRegionMovesToAnotherDomainWithItsKey() {
        a.qp.connect(b.qp.endpoint());
        b.qp.connect(a.qp.endpoint());
        var other = b.context.allocateProtectionDomain();
        int key = b.memory.rkey();
        b.memory.reregister(other, Access.remoteAll());
        assertThat(b.memory.rkey()).isEqualTo(key);
        assertThatThrownBy(other::close).isInstanceOf(InUseException.class);
        a.qp.postWrite(1, a.memory.slice(0, 8), new RemoteMemory(b.memory.address(), key, 8));
        pair.settle();
        assertThat(a.completions()).containsExactly("1 REM_ACCESS_ERR");
        assertThatThrownBy(() -> b.memory.reregister(a.domain, Access.local()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("another context");
    }

    @Test
    void allocatedMemoryIsZeroedAlignedAndUsedAgain() {
        MemoryRegion first = a.domain.allocate(100, Access.local());
        first.segment().fill((byte) 7);
        long address = first.address();
        first.close();
        MemoryRegion second = a.domain.allocate(90, Access.local());
        assertThat(second.address()).as("the freed piece").isEqualTo(address);
        assertThat(second.segment().asByteBuffer()).isEqualTo(java.nio.ByteBuffer.allocate(90));
        second.close();
        for (long bytes : new long[] {1, 4_095, 4_096, 4_097, 65_536, 65_537, 3 << 20}) {
            MemoryRegion region = a.domain.allocate(bytes, Access.local());
            assertThat(region.length()).isEqualTo(bytes);
            if (bytes >= 4_096) {
                assertThat(region.address() & 4_095).as("alignment of " + bytes).isZero();
            }
            region.segment().set(ValueLayout.JAVA_BYTE, bytes - 1, (byte) 1);
            region.close();
        }
    }

    @Test
    void mappedFilesAreMemoryToo(@TempDir Path folder) throws IOException {
        a.qp.connect(b.qp.endpoint());
        b.qp.connect(a.qp.endpoint());
        a.memory.segment().setString(0, "into a file");
        Path file = folder.resolve("mapped");
        try (Arena arena = Arena.ofShared();
                FileChannel channel = FileChannel.open(
                        file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, 4_096, arena);
            MemoryRegion region = b.domain.register(mapped, 0x1000, Access.remoteAll());
            a.qp.postWrite(1, a.memory.slice(0, 16), new RemoteMemory(0x1000 + 8, region.rkey(), 16));
            pair.settle();
            assertThat(a.completions()).containsExactly("1 SUCCESS");
            assertThat(mapped.getString(8)).isEqualTo("into a file");
            region.close();
        }
    }

    @Test
    void aCompletionLeadsToItsQueuePairAndToTheObjectOfTheProgram() {
        Pair linked = Pair.connected();
        Pair.End end = linked.a;
        assertThat(end.qp.attachment()).isNull();
        end.qp.attach("of the program");
        end.qp.postWrite(1, end.memory.slice(0, 8), linked.b.memory.remote());
        linked.settle();
        var wc = new WorkCompletion();
        assertThat(end.cq.poll(wc)).isTrue();
        QueuePair found = end.context.queuePair(wc.qpn());
        assertThat(found).isSameAs(end.qp);
        assertThat(found.attachment()).isEqualTo("of the program");
        end.qp.close();
        assertThat(end.context.queuePair(wc.qpn())).isNull();
        assertThat(linked.b.context.queuePair(linked.b.qp.qpn())).isSameAs(linked.b.qp);
    }

    @Test
    void windowsAreOfTypeOneOrTwo() {
        for (int code : new int[] {0, 3, -1}) {
            assertThatThrownBy(() -> MemoryWindow.Type.ofCode(code))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("type: 1 or 2, got " + code);
        }
        for (MemoryWindow.Type type : MemoryWindow.Type.values()) {
            try (MemoryWindow window = a.domain.allocateWindow(type)) {
                assertThat(window.type()).isEqualTo(MemoryWindow.Type.ofCode(type.code()));
            }
        }
    }

    // ---- queue pairs

    @Test
    void queuePairsHaveLimits() {
        var options = QueuePairOptions.rc(a.cq);
        for (QueuePairOptions tooMuch : List.of(
                options.withDepth(16_385, 1),
                options.withDepth(1, 16_385),
                options.withSge(33, 1),
                options.withSge(1, 33),
                options.withInline(513))) {
            assertThatThrownBy(() -> a.domain.createQueuePair(tooMuch))
                    .isInstanceOf(ResourceLimitException.class)
                    .hasMessageStartingWith("createQueuePair: max");
        }
        a.domain
                .createQueuePair(options.withDepth(0, 0).withSge(0, 0).withInline(0))
                .close();
    }

    @Test
    void objectsOfAnotherContextAreRefused() {
        var options = QueuePairOptions.rc(b.cq);
        assertThatThrownBy(() -> a.domain.createQueuePair(options))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("createQueuePair: sendCq: belongs to another context");
        assertThatThrownBy(
                        () -> a.domain.createQueuePair(QueuePairOptions.rc(a.cq).withReceiveCq(b.cq)))
                .isInstanceOf(IllegalArgumentException.class);
        SharedReceiveQueue srq = b.domain.createSharedReceiveQueue(1, 1);
        assertThatThrownBy(
                        () -> a.domain.createQueuePair(QueuePairOptions.rc(a.cq).withSharedReceiveQueue(srq)))
                .isInstanceOf(IllegalArgumentException.class);
        var channel = b.context.createCompletionChannel();
        assertThatThrownBy(() -> a.context.createCompletionQueue(
                        CompletionQueueOptions.of(1).withChannel(channel)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private void refusedModification(QpModification modification, String message) {
        assertThatThrownBy(() -> a.qp.modify(modification))
                .isInstanceOf(InvalidAttributesException.class)
                .hasMessageContaining(message);
    }

    private static QpModification toRtr() {
        return new Transition.ToRtr(AddressVector.to(Gid.parse("10.0.0.2"), 0), Mtu.MTU_1024, 5, 6, 7, new RnrTimer(8))
                .modification();
    }

    @Test
    void modificationsAreCheckedValueByValueAndChangeNothingWhenRefused() {
        refusedModification(
                new Transition.ToInit(2, 0, Access.remoteAll()).modification(), "PORT: 1 is the only one, got 2");
        refusedModification(
                new Transition.ToInit(1, 1, Access.remoteAll()).modification(), "PKEY_INDEX: 0 is the only one");
        assertThat(a.qp.state()).isEqualTo(QpState.RESET);
        a.qp.modify(new Transition.ToInit(Access.remoteAll()));
        refusedModification(toRtr().withRqPsn(1 << 24), "RQ_PSN: 0 to 16777215");
        refusedModification(toRtr().withDestinationQpn(-1), "DEST_QPN: 0 to 16777215, got -1");
        refusedModification(toRtr().withMaxDestinationReadAtomic(129), "MAX_DEST_RD_ATOMIC: 0 to 128, got 129");
        refusedModification(toRtr().withPath(AddressVector.to(Gid.parse("10.0.0.2"), 1)), "modify: AV:");
        refusedModification(toRtr().withPath(AddressVector.to(Gid.parse("::1"), 0)), "one is IPv4, the other is not");
        refusedModification(
                toRtr().withPath(AddressVector.to(Gid.parse("10.0.0.2"), 0).withPort(2)), "port: 1 is the only one");
        var alternate = new AlternatePath(AddressVector.to(Gid.parse("10.0.0.2"), 0), 0, new AckTimeout(14));
        assertThatThrownBy(() -> a.qp.modify(toRtr().withAlternatePath(alternate)))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("PATH_MIGRATION");
        assertThat(a.qp.state()).isEqualTo(QpState.INIT);
        assertThat(a.qp.query().peer().destinationQpn()).isZero();
        a.qp.modify(toRtr());
        var toRts = new Transition.ToRts(1, new AckTimeout(14), 8, 7, 1).modification();
        refusedModification(toRts, "RETRY_CNT: 0 to 7, got 8");
        refusedModification(toRts.withRetryCount(7).withRnrRetry(8), "RNR_RETRY: 0 to 7, got 8");
        refusedModification(toRts.withRetryCount(7).withMaxReadAtomic(200), "MAX_QP_RD_ATOMIC: 0 to 128");
        a.qp.modify(toRts.withRetryCount(7).withMaxReadAtomic(9));
        var now = a.qp.query();
        assertThat(now.state()).isEqualTo(QpState.RTS);
        assertThat(now.peer().pathMtu()).isEqualTo(Mtu.MTU_1024);
        assertThat(now.peer().destinationQpn()).isEqualTo(5);
        assertThat(now.receiving().rqPsn()).isEqualTo(6);
        assertThat(now.receiving().maxDestinationReadAtomic()).isEqualTo(7);
        assertThat(now.receiving().minRnrTimer().code()).isEqualTo(8);
        assertThat(now.sending().maxReadAtomic()).isEqualTo(9);
        assertThat(now.sending().ackTimeout().code()).isEqualTo(14);
        assertThat(now.peer().path()).isPresent();
    }

    @Test
    void aWrongStepIsRefused() {
        assertThatThrownBy(() -> a.qp.modify(new Transition.ToSqd(false)))
                .isInstanceOf(InvalidStateException.class)
                .hasMessageContaining("cannot go from RESET to SQD");
        assertThatThrownBy(() -> a.qp.modify(new QpModification().withState(QpState.INIT)))
                .isInstanceOfSatisfying(
                        InvalidAttributesException.class,
                        e -> assertThat(e.missing())
                                .contains(QpAttribute.PORT, QpAttribute.PKEY_INDEX, QpAttribute.ACCESS_FLAGS));
    }

    @Test
    void twoEndsThatDoNotFitAreToldSo() {
        Endpoint right = b.qp.endpoint();
        var six = new Endpoint(Gid.parse("2001:db8::2"), GidType.ROCE_V2, 5, 6, Mtu.MTU_1024);
        assertThatThrownBy(() -> a.qp.connect(six))
                .isInstanceOf(InvalidAttributesException.class)
                .hasMessage("connect: the peer's address 2001:db8::2 is IPv6, and wire-10.0.0.1 has only"
                        + " [10.0.0.1]; use addresses of one family at both ends");
        var one = new Endpoint(right.gid(), GidType.ROCE_V1, 5, 6, Mtu.MTU_1024);
        assertThatThrownBy(() -> a.qp.connect(one))
                .isInstanceOf(InvalidAttributesException.class)
                .hasMessageContaining("of type RoCE v2, the peer's 10.0.0.2 of type RoCE v1");
        var narrow = new Endpoint(right.gid(), right.gidType(), 5, 6, Mtu.MTU_512);
        assertThatThrownBy(() -> a.qp.connect(narrow, EndpointOptions.defaults().withMtu(Mtu.MTU_1024)))
                .isInstanceOf(InvalidAttributesException.class)
                .hasMessageContaining("path MTU 1024 is more than 512");
        assertThat(a.qp.state()).isEqualTo(QpState.RESET);
        a.qp.connect(narrow);
        assertThat(a.qp.query().peer().pathMtu()).isEqualTo(Mtu.MTU_512);
        assertThatThrownBy(() -> a.qp.connect(narrow))
                .isInstanceOf(InvalidStateException.class)
                .hasMessage("connect: %s is in RTS, not in RESET or INIT", a.qp);
    }

    @Test
    void eachLifeHasAFirstPsnOfItsOwn() {
        Endpoint first = a.qp.endpoint();
        assertThat(a.qp.endpoint()).isEqualTo(first);
        a.qp.modify(new Transition.ToReset());
        assertThat(a.qp.endpoint().psn()).isNotEqualTo(first.psn());
    }

    @Test
    void sharedReceiveQueuesHaveLimits() {
        assertThatThrownBy(() -> a.domain.createSharedReceiveQueue(0, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> a.domain.createSharedReceiveQueue(16_385, 1))
                .isInstanceOf(ResourceLimitException.class)
                .hasMessageStartingWith("createSharedReceiveQueue: maxSrqWr is 16384");
        assertThatThrownBy(() -> a.domain.createSharedReceiveQueue(1, 33)).isInstanceOf(ResourceLimitException.class);
        SharedReceiveQueue srq = a.domain.createSharedReceiveQueue(4, 1);
        assertThatThrownBy(() -> srq.armLimit(5))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("armLimit: limit: 0 to 4, got 5");
        assertThatCode(() -> srq.armLimit(4)).doesNotThrowAnyException();
        assertThat(srq.limit()).isEqualTo(4);
    }
}
