package verbena.nic.link.ethernet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.NetworkInterface;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.SockaddrLl;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.Interfaces;
import verbena.nic.link.Namespace;
import verbena.nic.roce.RoceV1Provider;
import verbena.nic.roce.RoceV2Provider;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.WorkCompletion;
import verbena.wire.ib.Grh;
import verbena.wire.roce.Ethernet;
import verbena.wire.roce.RoceV1;

/// Devices over AF_XDP, in a network namespace of a child process: two cables, all of whose ends are here.
@EnabledOnOs(value = OS.LINUX, disabledReason = "AF_XDP is Linux's")
@Timeout(180)
class XdpDeviceTest {
    private static final String CABLES = "ip link set lo up"
            + " && ip link add veth0 type veth peer name veth1"
            + " && ip link add jumbo0 mtu 9000 type veth peer name jumbo1 mtu 9000"
            + " && ip link add many0 numrxqueues 2 numtxqueues 2 type veth peer name many1 numrxqueues 2 numtxqueues 2"
            + " && for i in veth0 veth1 jumbo0 jumbo1 many0 many1; do ip link set $i addrgenmode none && ip link set $i up; done"
            + " && ip address add 10.7.0.1/24 dev veth0 && ip address add 10.8.0.1/24 dev veth1"
            + " && ip address add 10.7.1.1/24 dev jumbo0 && ip address add 10.8.1.1/24 dev jumbo1"
            + " && ip address add 10.7.2.1/24 dev many0 && ip address add 10.8.2.1/24 dev many1";
    private static final int FRAMES = 2_000;
    private static final int FRAME_BYTES = 1_514;
    /// The fewest WRITEs beside hostile frames.
    private static final int ROUNDS = 20;
    /// What a program without the right says, and exits with.
    private static final String FORBIDDEN = "cannot: ";

    @Test
    void devicesTakeTheirFramesAndNothingElse() throws Exception {
        Namespace cables = Namespace.with(CABLES);
        assumeTrue(cables != null, "no network namespace of one's own here (unshare, ip)");
        String output = cables.run(Program.class);
        assumeTrue(!output.contains(FORBIDDEN), output);
        assertThat(output).isEmpty();
    }

    private static Device v1(String name) {
        return new RoceV1Provider().device(name).orElseThrow();
    }

    /// A queue pair with what it needs.
    private static final class Pair implements AutoCloseable {
        private final CompletionQueue queue;
        private final ProtectionDomain domain;
        private @Nullable QueuePair queuePair;

        Pair(Context context) {
            queue = context.createCompletionQueue(4);
            domain = context.allocateProtectionDomain();
            try {
                queuePair = domain.createQueuePair(QueuePairOptions.rc(queue));
            } finally {
                if (queuePair == null) {
                    close();
                }
            }
        }

        @Override
        public void close() {
            if (queuePair != null) {
                queuePair.close();
            }
            domain.close();
            queue.close();
        }
    }

    /// What the system tells of an interface.
    private static String told(String name) throws Exception {
        Process ip = new ProcessBuilder("ip", "-d", "link", "show", name).start();
        return new String(ip.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    /// The program inside the namespace.
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) throws Exception {
            try (Context context = v1("rocev1_veth0,link=xdp").open()) {
                assertThat(told("veth0")).doesNotContain("xdp");
                try (Pair _ = new Pair(context)) {
                    assertThat(context.counters()).containsEntry("ethernet.xdp.in.driver", 1L);
                    assertThat(told("veth0")).contains("xdp");
                }
            } catch (DeviceException e) {
                if (e.getMessage().contains("It needs CAP_")) {
                    System.out.println(FORBIDDEN + e.getMessage());
                    System.exit(1);
                }
                throw e;
            }
            assertThat(told("veth0")).doesNotContain("xdp");
            refusalsSayWhatToDo();
            bytesGoOverTheCable();
            hostileFramesAreCountedAndDropped();
            honestBytesPassBetweenHostileFrames(",link=xdp");
            honestBytesPassBetweenHostileFrames(",link=raw");
            eachEngineHasItsQueue();
            aKilledProcessLeavesNothing();
        }

        private static void refusalsSayWhatToDo() {
            try (Context context = v1("rocev1_veth0,link=xdp,queue=7").open()) {
                isRefused(context, "Is there a queue 7? (ethtool -l veth0");
            }
            assertThatThrownBy(() -> v1("rocev1_veth0,queue=0")).hasMessageContaining("needs link=xdp before it");
            assertThatThrownBy(() -> v1("rocev1_veth0,busy-poll=on")).hasMessageContaining("needs link=xdp before it");
            assertThatThrownBy(() -> v1("rocev1_veth0,link=xdp,busy-poll=20")).hasMessageContaining("on or off");
            assertThatThrownBy(() -> v1("rocev1_veth0,link=portable")).hasMessageContaining("link: raw or xdp");
            assertThatThrownBy(() -> v1("rocev1_veth0,link=xdp,queue=x")).hasMessageContaining("\"queue=x\"");
            anyNumberIsOpenAndTheFirstQueuePairTakesTheQueue();
        }

        private static void anyNumberIsOpenAndTheFirstQueuePairTakesTheQueue() {
            try (Context another = v1("rocev1_veth0,link=xdp").open();
                    Context ofV2 = new RoceV2Provider()
                            .device("rocev2_veth0,link=xdp")
                            .orElseThrow()
                            .open()) {
                try (Context first = v1("rocev1_veth0,link=xdp").open();
                        Pair _ = new Pair(first)) {
                    isRefused(another, "RoCE v1 on veth0 is in use");
                    isRefused(ofV2, "Another program has queue 0");
                    isRefused(ofV2, "Another program has queue 0"); // its UDP port was given back
                    new Pair(first).close();
                }
                new Pair(another).close();
                isRefused(ofV2, "Another program has queue 0"); // until the other device is closed
            }
        }

        private static void isRefused(Context context, String why) {
            assertThatThrownBy(() -> new Pair(context))
                    .isInstanceOf(DeviceException.class)
                    .hasMessageContaining(why);
        }

        private static void bytesGoOverTheCable() throws Exception {
            for (String options : List.of("", ",busy-poll=on", ",vlan=100", ",faults=loss:3%,seed:7")) {
                write("rocev1_veth0,link=xdp" + options, "rocev1_veth1,link=xdp" + options, Mtu.MTU_1024);
            }
            write("rocev1_veth0,link=xdp", "rocev1_veth1", Mtu.MTU_1024);
            write("rocev1_veth0", "rocev1_veth1,link=xdp", Mtu.MTU_1024);
            // Frames that come in pieces.
            write("rocev1_jumbo0,link=xdp", "rocev1_jumbo1,link=xdp", Mtu.MTU_4096);
            write("rocev1_jumbo0,link=raw", "rocev1_jumbo1,link=xdp", Mtu.MTU_4096);
            write("rocev1_jumbo0,link=xdp", "rocev1_jumbo1,link=raw", Mtu.MTU_4096);
        }

        private static void write(String from, String to, Mtu mtu) throws Exception {
            int bytes = 1_000_003;
            try (var a = v1(from).open();
                    var b = v1(to).open();
                    var domainA = a.allocateProtectionDomain();
                    var domainB = b.allocateProtectionDomain();
                    var cqA = a.createCompletionQueue(16);
                    var cqB = b.createCompletionQueue(16);
                    var one = domainA.createQueuePair(QueuePairOptions.rc(cqA));
                    var other = domainB.createQueuePair(QueuePairOptions.rc(cqB));
                    var source = domainA.allocate(bytes, Access.remoteAll());
                    var target = domainB.allocate(bytes, Access.remoteAll())) {
                assertThat(a.port(1).activeMtu()).isEqualTo(mtu);
                one.connect(other.endpoint());
                other.connect(one.endpoint());
                for (int i = 0; i < bytes; i++) {
                    source.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + i / 4096));
                }
                one.postWrite(1, source.slice(0, bytes), target.remote());
                var wc = new WorkCompletion();
                assertThat(cqA.await(wc, Duration.ofSeconds(60))).isTrue();
                assertThat(wc.ok()).as(from + " " + to + " " + wc).isTrue();
                assertThat(target.segment().mismatch(source.segment())).isEqualTo(-1);
                for (Context each : List.of(a, b)) {
                    assertThat(each.counters())
                            .containsEntry("ethernet.dropped.foreign", 0L)
                            .containsEntry("dropped.malformed", 0L);
                }
            }
        }

        /// A pair of virtual interfaces brings a frame by the queue that it has left by. So queue pairs of
        /// engines with the same number need no other engine, and what others say to each other is handed over.
        private static void eachEngineHasItsQueue() throws Exception {
            String options = ",link=xdp,engines=2";
            try (var a = new Ends("rocev1_many0" + options);
                    var b = new Ends("rocev1_many1" + options)) {
                for (int i = 0; i < 2; i++) {
                    assertThat(a.pairs.get(i).qpn() >>> 16).isEqualTo(i);
                    a.pairs.get(i).connect(b.pairs.get(i).endpoint());
                    b.pairs.get(i).connect(a.pairs.get(i).endpoint());
                }
                Ends.write(a, b);
                assertThat(a.context.counters())
                        .containsEntry("ethernet.handed.over", 0L)
                        .containsEntry("ethernet.xdp.in.driver", 1L)
                        .containsEntry("ethernet.xdp.other.queue", 0L);
                assertThat(b.context.counters()).containsEntry("ethernet.handed.over", 0L);
            }
            for (String other : List.of(options, ",link=xdp,faults=loss:3%,seed:7,engines=2", ",link=raw")) {
                try (var a = new Ends("rocev1_many0" + options);
                        var b = new Ends("rocev1_many1" + other)) {
                    for (int i = 0; i < 2; i++) {
                        a.pairs.get(i).connect(b.pairs.get(1 - i).endpoint());
                        b.pairs.get(1 - i).connect(a.pairs.get(i).endpoint());
                    }
                    Ends.write(a, b);
                    if (other.equals(options)) {
                        assertThat(a.context.counters().get("ethernet.handed.over"))
                                .isGreaterThan(50L);
                        assertThat(b.context.counters())
                                .containsEntry("ethernet.dropped.foreign", 0L)
                                .containsEntry("dropped.malformed", 0L);
                    }
                }
            }
            try (var a = new Ends("rocev1_many0" + options);
                    var b = new Ends("rocev1_many1" + options)) {
                groupsReachAllEngines(a, b);
                groupsReachAllEngines(b, b); // what a device sends to itself is not on the wire
            }
            try (Context context = v1("rocev1_many0,link=xdp,engines=3").open()) {
                isRefused(context, "Is there a queue 2? (ethtool -l many0");
            }
            assertThatThrownBy(() -> v1("rocev1_many0,engines=2")).hasMessageContaining("link=raw has one engine");
            try (Context context = v1("rocev1_many0" + options).open()) {
                new Pair(context).close();
                assertThat(told("many0")).contains("xdp");
            }
            assertThat(told("many0")).doesNotContain("xdp");
        }

        /// A datagram to a group comes by one queue, and all engines whose queue pairs are attached get it.
        private static void groupsReachAllEngines(Ends from, Ends to) throws InterruptedException {
            Gid group = Gid.parse("ff0e::77");
            try (QueuePair sender = from.datagrams(0);
                    QueuePair one = to.datagrams(0);
                    QueuePair other = to.datagrams(1);
                    AddressHandle handle = from.domain.createAddressHandle(AddressVector.to(group, 0))) {
                List<QueuePair> members = List.of(one, other);
                for (QueuePair member : members) {
                    member.attachMulticast(group);
                    member.postReceive(7, to.memory.slice(0, 200));
                }
                try (SendBatch batch = sender.sendBatch()) {
                    batch.send(3)
                            .sge(from.memory, 0, 50)
                            .to(handle, Ends.MULTICAST_QP, Ends.QKEY)
                            .submit();
                }
                for (CompletionQueue queue : to.queues) {
                    var wc = new WorkCompletion();
                    do {
                        assertThat(queue.await(wc, Duration.ofSeconds(60))).isTrue();
                        assertThat(wc.ok()).as(wc.toString()).isTrue();
                    } while (wc.wrId() != 7);
                }
                for (QueuePair member : members) {
                    member.detachMulticast(group);
                }
            }
        }

        /// A device with two queue pairs, on an engine each where there are two.
        private static final class Ends implements AutoCloseable {
            private static final int BYTES = 200_003;
            private static final int QKEY = 0x1234;
            private static final int MULTICAST_QP = 0xFF_FFFF;

            final Context context;
            final ProtectionDomain domain;
            final MemoryRegion memory;
            final List<CompletionQueue> queues = new ArrayList<>();
            final List<QueuePair> pairs = new ArrayList<>();

            Ends(String name) {
                context = v1(name).open();
                domain = context.allocateProtectionDomain();
                memory = domain.allocate(4 * BYTES, Access.remoteAll());
                for (int i = 0; i < 2; i++) {
                    CompletionQueue queue = context.createCompletionQueue(16);
                    queues.add(queue);
                    pairs.add(domain.createQueuePair(QueuePairOptions.rc(queue)));
                }
            }

            /// A queue pair for datagrams, on the engine of this number.
            QueuePair datagrams(int engine) {
                QueuePair made = domain.createQueuePair(QueuePairOptions.ud(queues.get(engine)));
                made.modify(new Transition.ToInitUd(1, 0, QKEY));
                made.modify(new Transition.ToRtrUd());
                made.modify(new Transition.ToRtsUnreliable(1));
                return made;
            }

            /// Writes in both directions at once, by both queue pairs.
            static void write(Ends a, Ends b) throws InterruptedException {
                List<Ends> both = List.of(a, b);
                for (Ends from : both) {
                    Ends to = from == a ? b : a;
                    for (int i = 0; i < 2; i++) {
                        long target = 2L * BYTES + (long) i * BYTES;
                        from.memory.segment().asSlice((long) i * BYTES, BYTES).fill((byte) (i + 3));
                        to.memory.segment().asSlice(target, BYTES).fill((byte) 0);
                        from.pairs
                                .get(i)
                                .postWrite(
                                        i,
                                        from.memory.slice((long) i * BYTES, BYTES),
                                        to.memory.remote().slice(target, BYTES));
                    }
                }
                for (Ends from : both) {
                    for (CompletionQueue queue : from.queues) {
                        var wc = new WorkCompletion();
                        assertThat(queue.await(wc, Duration.ofSeconds(60))).isTrue();
                        assertThat(wc.ok()).as(wc.toString()).isTrue();
                    }
                }
                for (Ends to : both) {
                    MemorySegment all = to.memory.segment();
                    assertThat(all.asSlice(2L * BYTES).mismatch(all.asSlice(0, 2L * BYTES)))
                            .isEqualTo(-1);
                }
            }

            @Override
            public void close() {
                pairs.forEach(QueuePair::close);
                queues.forEach(CompletionQueue::close);
                memory.close();
                domain.close();
                context.close();
            }
        }

        /// Frames of RoCE v1 with some bytes changed, and of any length, from a packet socket at the other end.
        private static void hostileFramesAreCountedAndDropped() throws Exception {
            try (Context context = v1("rocev1_veth0,link=xdp").open();
                    Pair _ = new Pair(context)) {
                throwFrames();
                areDropped(context);
            }
            write("rocev1_veth0,link=xdp", "rocev1_veth1,link=xdp", Mtu.MTU_1024);
        }

        /// A connection on the same cable loses no byte meanwhile.
        private static void honestBytesPassBetweenHostileFrames(String link) throws Exception {
            int bytes = 200_003;
            try (var victim = v1("rocev1_veth0" + link).open();
                    var honest = v1("rocev1_veth1" + link).open();
                    var domainOfVictim = victim.allocateProtectionDomain();
                    var domainOfHonest = honest.allocateProtectionDomain();
                    var cqOfVictim = victim.createCompletionQueue(4);
                    var cq = honest.createCompletionQueue(4);
                    var other = domainOfVictim.createQueuePair(QueuePairOptions.rc(cqOfVictim));
                    var one = domainOfHonest.createQueuePair(QueuePairOptions.rc(cq));
                    var source = domainOfHonest.allocate(bytes, Set.of());
                    var target = domainOfVictim.allocate(bytes, Access.remoteAll())) {
                one.connect(other.endpoint());
                other.connect(one.endpoint());
                var hostile = CompletableFuture.runAsync(() -> {
                    try {
                        throwFrames();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                });
                for (int round = 0; round < ROUNDS || !hostile.isDone(); round++) {
                    for (int i = 0; i < bytes; i++) {
                        source.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + round));
                    }
                    one.postWrite(round, source.slice(0, bytes), target.remote());
                    var wc = new WorkCompletion();
                    assertThat(cq.await(wc, Duration.ofSeconds(60))).isTrue();
                    assertThat(wc.ok()).as(link + " " + wc).isTrue();
                    assertThat(target.segment().mismatch(source.segment())).isEqualTo(-1);
                }
                hostile.get(60, TimeUnit.SECONDS);
                areDropped(victim);
            }
        }

        /// Sends frames of random bytes with the headers of RoCE v1 to `veth0`, some of them with a few bits flipped.
        private static void throwFrames() throws Exception {
            var random = new Random(88);
            long mac = mac("veth0");
            try (Arena arena = Arena.ofConfined()) {
                var linux = new LinuxSockets(arena);
                int fd = linux.packetSocket();
                MemorySegment name = arena.allocate(SockaddrLl.BYTES, 8);
                name.set(ValueLayout.JAVA_SHORT, SockaddrLl.SLL_FAMILY, (short) LinuxAbi.AF_PACKET);
                name.set(
                        ValueLayout.JAVA_INT,
                        SockaddrLl.SLL_IFINDEX,
                        NetworkInterface.getByName("veth1").getIndex());
                assertThat(linux.bind(fd, name)).isZero();
                MemorySegment frame = arena.allocate(FRAME_BYTES);
                for (int i = 0; i < FRAMES; i++) {
                    for (int at = 0; at < FRAME_BYTES; at++) {
                        frame.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
                    }
                    Ethernet.write(frame, 0, mac, mac("veth1"), Ethernet.NO_TAG, RoceV1.ETHER_TYPE);
                    int length = Ethernet.BYTES + random.nextInt(FRAME_BYTES - Ethernet.BYTES);
                    int grh = Ethernet.BYTES;
                    int payload = length - grh - Grh.BYTES;
                    long prefix = Ethernet.linkLocalPrefix();
                    long low = Ethernet.interfaceId(mac);
                    Grh.write(frame, grh, 0, 0, payload, 27, 64, prefix, low + 1, prefix, low);
                    for (int flips = random.nextInt(4); flips > 0; flips--) {
                        frame.set(ValueLayout.JAVA_BYTE, random.nextInt(Math.min(length, 80)), (byte) random.nextInt());
                    }
                    assertThat(LinuxSockets.send(fd, frame.asSlice(0, length))).isTrue();
                }
                LinuxSockets.close(fd);
            }
        }

        private static void areDropped(Context context) {
            long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
            while (dropped(context) < FRAMES / 4 && System.nanoTime() < end) {
                Thread.onSpinWait();
            }
            assertThat(dropped(context)).isBetween(FRAMES / 4L, (long) FRAMES);
            assertThat(context.counters()).containsEntry("contained.failures", 0L);
        }

        private static long dropped(Context context) {
            return context.counters().entrySet().stream()
                    .filter(counter -> counter.getKey().contains("dropped."))
                    .mapToLong(Map.Entry::getValue)
                    .sum();
        }

        private static long mac(String name) throws Exception {
            return Interfaces.all().stream()
                    .filter(one -> one.name().equals(name))
                    .findFirst()
                    .orElseThrow()
                    .mac();
        }

        /// However a process ends, the interface is as it was.
        private static void aKilledProcessLeavesNothing() throws Exception {
            Process child = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "--enable-native-access=ALL-UNNAMED",
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Killed.class.getName())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try {
                assertThat(child.inputReader().readLine()).isEqualTo("open");
                assertThat(told("veth0")).contains("xdp");
            } finally {
                child.destroyForcibly().waitFor();
            }
            long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
            while (told("veth0").contains("xdp") && System.nanoTime() < end) {
                Thread.onSpinWait(); // the kernel cleans up behind the process
            }
            assertThat(told("veth0")).doesNotContain("xdp");
            v1("rocev1_veth0,link=xdp").open().close();
        }
    }

    /// Opens a device, takes the interface and is killed.
    static final class Killed {
        private Killed() {}

        public static void main(String[] arguments) throws Exception {
            Context context = v1("rocev1_veth0,link=xdp").open();
            var pair = new Pair(context);
            System.out.println("open");
            int _ = System.in.read();
            pair.close();
            context.close();
        }
    }
}
