package verbena.nic.link.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static verbena.nic.link.LinkBench.TIMEOUT_NANOS;
import static verbena.nic.link.LinkBench.fill;
import static verbena.nic.link.LinkBench.filled;
import static verbena.nic.link.LinkBench.frames;
import static verbena.nic.link.LinkBench.gidOf;
import static verbena.nic.link.LinkBench.number;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.foreign.linux.DescriptorMessages;
import verbena.foreign.linux.LinuxAbi.Timespec;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.Interfaces;
import verbena.nic.link.LinkBench;
import verbena.nic.link.MessageBlock;
import verbena.nic.link.NativeAccess;
import verbena.nic.link.sharing.Addressee;
import verbena.nic.link.sharing.Neighbours;
import verbena.nic.link.sharing.PeerSockets;
import verbena.nic.link.sharing.Presence;
import verbena.verbs.Gid;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.SidrReq;
import verbena.wire.ib.Bth;
import verbena.wire.mad.Mad;
import verbena.wire.roce.RoceV2;

/// Links of one process, which find and serve each other as those of several processes do.
@EnabledOnOs(value = OS.LINUX, disabledReason = "memory files and abstract sockets")
@Timeout(120)
class ShmLinkTest {
    private static final int SMALL = 64;
    private static final long SERVICE = 0x0106_7E57L;
    /// The bell, the timer and the sockets.
    private static final int SLEEP_FDS = 3;

    private final Arena arena = Arena.ofShared();
    private final List<ShmLink> links = new ArrayList<>();
    private final Frame[] buffer = frames(256);
    private final ShmLink a = open();
    private final ShmLink b = open();

    @BeforeEach
    void known() {
        assumeTrue(NativeAccess.whyPortable() == null, "native access");
    }

    @AfterEach
    void close() {
        links.forEach(ShmLink::close);
        arena.close();
    }

    private ShmLink open() {
        ShmLink link = ShmLink.open(Interfaces.loopback().gids());
        links.add(link);
        return link;
    }

    /// Packets for queue pair 0x11 of a link.
    private Frame[] to(ShmLink link, int count, int length) {
        Frame[] sent = filled(count, gidOf(a), gidOf(link), length);
        for (Frame frame : sent) {
            Bth.setDestinationQp(frame.slot, frame.start, link.slot() << 16 | 0x11);
        }
        return sent;
    }

    private static void until(BooleanSupplier done, Runnable turn) {
        long end = System.nanoTime() + TIMEOUT_NANOS;
        while (!done.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(end);
            turn.run();
        }
    }

    private static long count(ShmLink link, String counter) {
        return link.counters().getOrDefault("shm." + counter, -1L);
    }

    /// Whether two links know each other: links of other processes may be there too.
    private void meet(ShmLink one, ShmLink other) {
        until(() -> one.ownPage(other.slot()).address() != 0, () -> one.receive(buffer, 0, 0));
        until(() -> other.theirPage(one.slot()).address() != 0, () -> other.receive(buffer, 0, 0));
    }

    @Test
    void framesArriveWholeAndInOrder() {
        for (int length : new int[] {SMALL, 1_000, a.packetMax()}) {
            Frame[] sent = to(b, 100, length);
            assertThat(a.transmit(sent, 0, 100)).isEqualTo(100);
            assertThat(LinkBench.receiveAll(b, buffer, 100)).isEqualTo(100);
            for (int i = 0; i < 100; i++) {
                assertThat(buffer[i].packet().mismatch(sent[i].packet())).isEqualTo(-1);
                assertThat(new Gid(buffer[i].sourceHigh, buffer[i].sourceLow)).isEqualTo(gidOf(a));
                assertThat(buffer[i].sourcePort).isEqualTo(RoceV2.UDP_PORT);
            }
        }
    }

    @Test
    void linksThatOpenAtTheSameMomentReachEachOther() throws Exception {
        try (var threads = Executors.newFixedThreadPool(2)) {
            for (int i = 0; i < 50; i++) {
                var together = new CyclicBarrier(2);
                Callable<ShmLink> opens = () -> {
                    together.await();
                    return ShmLink.open(Interfaces.loopback().gids());
                };
                Future<ShmLink> first = threads.submit(opens);
                Future<ShmLink> second = threads.submit(opens);
                try (ShmLink one = first.get();
                        ShmLink other = second.get()) {
                    reach(one, other);
                    reach(other, one);
                }
            }
        }
    }

    private void reach(ShmLink from, ShmLink to) {
        from.transmit(to(to, 1, SMALL), 0, 1);
        until(() -> to.receive(buffer, 0, 1) == 1, () -> from.receive(buffer, 0, 0));
    }

    @Test
    void aLinkReachesItself() {
        a.transmit(to(a, 3, SMALL), 0, 3);
        assertThat(LinkBench.receiveAll(a, buffer, 3)).isEqualTo(3);
        assertThat(number(buffer[2])).isEqualTo(2);
    }

    @Test
    void aPacketWithTheAddressOfAnotherLinkIsDropped() {
        meet(a, b);
        Frame[] sent = to(b, 2, SMALL);
        sent[0].destinationHigh = 0x20010db8_00000000L;
        a.transmit(sent, 0, 2);
        assertThat(LinkBench.receiveAll(b, buffer, 1)).isEqualTo(1);
        assertThat(number(buffer[0])).isEqualTo(1);
        assertThat(count(b, "dropped.gone")).isEqualTo(1);
    }

    @Test
    void aSleepingThreadIsWoken() throws InterruptedException {
        meet(a, b);
        List<Integer> woken = Collections.synchronizedList(new ArrayList<>());
        Thread sleeper = Thread.ofPlatform().start(() -> {
            Frame[] frames = frames(1);
            for (int i = 0; i < 200; i++) {
                until(() -> b.receive(frames, 0, 1) == 1, () -> b.await(-1));
                woken.add(number(frames[0]));
            }
        });
        for (int i = 0; i < 200; i++) {
            Frame[] one = to(b, 1, SMALL);
            BigEndian.put24(one[0].slot, one[0].start + 9, i);
            int before = i;
            until(() -> woken.size() >= before - 1, Thread::onSpinWait);
            a.transmit(one, 0, 1);
        }
        sleeper.join();
        assertThat(woken).hasSize(200).isSorted();
    }

    @Test
    void aSleepEndsWithItsTimeAndByWakeup() {
        meet(a, b);
        meet(b, a); // nothing waits at the sockets
        until(() -> nanosOf(() -> a.await(2_000_000)) >= 1_500_000, () -> a.receive(buffer, 0, 256));
        a.wakeup();
        a.await(-1);
    }

    private static long nanosOf(Runnable task) {
        long from = System.nanoTime();
        task.run();
        return System.nanoTime() - from;
    }

    /// Ends a sleep that has begun; returns whether it would have ended by itself.
    private boolean isOver(ShmLink link) {
        int ready = LinuxSockets.poll(link.pollfds(), SLEEP_FDS, arena.allocate(Timespec.BYTES, 8));
        link.awake();
        return ready > 0;
    }

    /// Begins a sleep, at a time when nothing waits.
    private void fallAsleep(ShmLink link) {
        until(() -> link.fallAsleep(-1) > 0 && !isOver(link), () -> link.receive(buffer, 0, buffer.length));
        assertThat(link.fallAsleep(-1)).isPositive();
    }

    /// The sleeper could not ask it to ring the bell. Another thread reads the message that came with it.
    @Test
    void aNeighbourWhoseFirstFrameComesDuringASleepEndsIt() {
        fallAsleep(a);
        b.transmit(to(a, 1, SMALL), 0, 1);
        until(() -> a.theirPage(b.slot()).address() != 0, () -> a.receive(buffer, 0, 0));
        assertThat(isOver(a)).isTrue();
        assertThat(LinkBench.receiveAll(a, buffer, 1)).isEqualTo(1);
    }

    /// A thread has sent while another one sleeps, and does not receive.
    @Test
    void aFrameToTheLinkItselfEndsASleep() {
        fallAsleep(a);
        a.transmit(to(a, 1, SMALL), 0, 1);
        assertThat(isOver(a)).isTrue();
        assertThat(LinkBench.receiveAll(a, buffer, 1)).isEqualTo(1);
        assertThat(a.fallAsleep(0)).isZero();
    }

    @Test
    void whatFindsNoRoomIsDroppedAndCounted() {
        meet(a, b);
        Frame[] sent = to(b, 1, a.packetMax());
        for (int i = 0; i < 1_000; i++) {
            assertThat(a.transmit(sent, 0, 1)).isEqualTo(1);
        }
        int arrived = LinkBench.drain(b, frames(1_000));
        assertThat(arrived).isGreaterThanOrEqualTo(128); // what may be under way to a peer
        assertThat(count(a, "dropped.full")).isEqualTo(1_000 - arrived);
    }

    @Test
    void aGroupsPacketsReachItsMembers() {
        ShmLink c = open();
        meet(a, b);
        meet(a, c);
        Gid group = LinkBench.anyGroup();
        a.join(group);
        b.join(group);
        Frame[] sent = filled(1, gidOf(a), group, SMALL);
        Bth.setDestinationQp(sent[0].slot, sent[0].start, Bth.MULTICAST_QP);
        a.transmit(sent, 0, 1);
        assertThat(LinkBench.receiveAll(a, buffer, 1)).isEqualTo(1);
        assertThat(LinkBench.receiveAll(b, buffer, 1)).isEqualTo(1);
        b.leave(group);
        a.transmit(sent, 0, 1);
        a.transmit(to(b, 1, SMALL), 0, 1);
        a.transmit(to(c, 1, SMALL), 0, 1);
        assertThat(LinkBench.drain(b, buffer)).as("only its own").isEqualTo(1);
        assertThat(LinkBench.drain(c, buffer)).as("never a member").isEqualTo(1);
    }

    // --- services

    private Frame[] request(int number) {
        Frame[] frames = frames(1);
        fill(frames[0], gidOf(a), gidOf(b), number, Addressee.MAD_AT + Mad.BYTES + 4);
        Bth.setDestinationQp(frames[0].slot, frames[0].start, Mad.QPN);
        new SidrReq(7, 0x0100_0001, 0xFFFF, SERVICE, PrivateData.NONE)
                .write(frames[0].slot.asSlice(frames[0].start + Addressee.MAD_AT, Mad.BYTES));
        return frames;
    }

    @Test
    void aRequestReachesTheLinkThatHasTheService() {
        assertThat(b.claimService(SERVICE, gidOf(b))).isTrue();
        assertThat(a.claimService(SERVICE, gidOf(a))).as("another link has it").isFalse();
        b.openService(SERVICE, gidOf(b));
        a.transmit(request(5), 0, 1);
        assertThat(LinkBench.receiveAll(b, buffer, 1)).isEqualTo(1);
        assertThat(Addressee.service(buffer[0])).isEqualTo(SERVICE);
        b.releaseService(SERVICE, gidOf(b));
        assertThat(a.claimService(SERVICE, gidOf(a))).isTrue();
    }

    @Test
    void eachAddressHasItsOwnServices() {
        Gid more = Gid.parse("10.9.8.7");
        ShmLink both = ShmLink.open(List.of(b.gids().getFirst(), LinkBench.entry(1, more.address())));
        try {
            assertThat(b.claimService(SERVICE, gidOf(b))).isTrue();
            assertThat(both.claimService(SERVICE, gidOf(b))).isFalse();
            assertThat(both.claimService(SERVICE, more)).isTrue();
            both.openService(SERVICE, more);
            Frame[] request = request(5);
            request[0].destinationHigh = more.high();
            request[0].destinationLow = more.low();
            a.transmit(request, 0, 1);
            assertThat(LinkBench.receiveAll(both, buffer, 1)).isEqualTo(1);
            assertThat(LinkBench.drain(b, buffer)).isZero();
        } finally {
            both.close();
        }
    }

    @Test
    void aRequestWaitsForALinkThatOpensItsServiceInAMoment() {
        a.transmit(request(5), 0, 1);
        assertThat(LinkBench.drain(a, buffer)).isZero();
        assertThat(b.claimService(SERVICE, gidOf(b))).isTrue();
        b.openService(SERVICE, gidOf(b));
        until(() -> b.receive(buffer, 0, 1) == 1, () -> {
            assertThat(a.receive(buffer, 0, 1)).isZero();
            b.await(1_000_000);
        });
    }

    @Test
    void aRequestThatNoLinkServesComesBack() {
        a.transmit(request(5), 0, 1);
        assertThat(LinkBench.receiveAll(a, buffer, 1)).as("to be refused").isEqualTo(1);
    }

    // --- the end of a neighbour, and what a hostile one says

    @Test
    void theEndOfANeighbourIsTold() {
        meet(a, b);
        var gone = new ArrayList<Integer>();
        a.listener(new Neighbours.Listener() {
            @Override
            public void onTold(int slot, MemorySegment message, int descriptor) {}

            @Override
            public void onDying(int slot) {}

            @Override
            public void onGone(int slot) {
                gone.add(slot);
            }
        });
        int slot = b.slot();
        assertThat(a.isThere(slot)).isTrue();
        b.close();
        assertThat(a.isThere(slot)).isFalse();
        until(() -> gone.contains(slot), () -> {
            a.receive(buffer, 0, 256);
            a.move(0);
        });
        Frame[] late = filled(1, gidOf(a), gidOf(a), SMALL);
        Bth.setDestinationQp(late[0].slot, late[0].start, slot << 16 | 0x11);
        a.transmit(late, 0, 1);
        assertThat(count(a, "dropped.gone")).isEqualTo(1);
    }

    /// The lifeline of the neighbour hangs up, as when its process dies; its socket is still open.
    @Test
    void aNeighbourThatBeginsToDieIsToldOnceAndIsThereUntilItsSocketEnds() {
        var told = new ArrayList<String>();
        a.listener(new Neighbours.Listener() {
            @Override
            public void onTold(int slot, MemorySegment message, int descriptor) {}

            @Override
            public void onDying(int slot) {
                told.add("dying " + slot);
            }

            @Override
            public void onGone(int slot) {
                told.add("gone " + slot);
            }
        });
        Runnable look = () -> {
            a.receive(buffer, 0, 256);
            a.move(0);
        };
        var linux = new LinuxSockets(arena);
        var sockets = new PeerSockets(linux, arena, new MessageBlock(arena), "a test", ShmNeighbours.PLACE, 1 << 16);
        var messages = new ShmMessages(arena);
        int slot = freeSlot();
        int fd = sockets.connect("slot-" + a.slot());
        int life = linux.eventCounter(); // readable once it is rung
        assertThat(messages.sendHello(fd, slot)).isTrue();
        assertThat(messages.send(fd, ShmMessages.LIFELINE, life)).isTrue();
        until(() -> a.isThere(slot), look);
        for (int i = 0; i < 100; i++) {
            look.run();
        }
        assertThat(told).isEmpty();
        LinuxSockets.addToEventCounter(life, word(1));
        until(() -> !told.isEmpty(), look);
        for (int i = 0; i < 100; i++) {
            look.run();
        }
        assertThat(told).containsExactly("dying " + slot);
        assertThat(a.isThere(slot)).isTrue();
        LinuxSockets.close(fd);
        LinuxSockets.close(life);
        until(() -> told.size() > 1, look);
        assertThat(told).containsExactly("dying " + slot, "gone " + slot);
        sockets.close();
    }

    private int freeSlot() {
        return IntStream.range(0, Presence.SLOTS)
                .filter(each -> each != a.slot() && each != b.slot())
                .findFirst()
                .orElseThrow();
    }

    private MemorySegment word(long value) {
        MemorySegment word = arena.allocate(ValueLayout.JAVA_LONG);
        word.set(ValueLayout.JAVA_LONG, 0, value);
        return word;
    }

    /// The kernel closes the slot of a dying process before its connections.
    @Test
    void whoTakesTheSlotOfANeighbourThatStillDiesIsHeardWhenThatHasGone() {
        var told = new ArrayList<String>();
        a.listener(new Neighbours.Listener() {
            @Override
            public void onTold(int slot, MemorySegment message, int descriptor) {
                told.add(message.getString(0));
                LinuxSockets.close(descriptor);
            }

            @Override
            public void onDying(int slot) {}

            @Override
            public void onGone(int slot) {
                told.add("gone");
            }
        });
        Runnable look = () -> {
            a.receive(buffer, 0, 256);
            a.move(0);
        };
        var linux = new LinuxSockets(arena);
        var sockets = new PeerSockets(linux, arena, new MessageBlock(arena), "a test", ShmNeighbours.PLACE, 1 << 16);
        var messages = new ShmMessages(arena);
        int slot = freeSlot();
        int dying = sockets.connect("slot-" + a.slot());
        assertThat(messages.sendHello(dying, slot)).isTrue();
        until(() -> a.isThere(slot), look);
        int gaveUp = sockets.connect("slot-" + a.slot());
        assertThat(messages.sendHello(gaveUp, slot)).isTrue();
        int next = sockets.connect("slot-" + a.slot());
        assertThat(messages.sendHello(next, slot)).isTrue();
        assertThat(messages.sendTold(next, arena.allocateFrom("I am next"), -1)).isTrue();
        for (int i = 0; i < 1_000; i++) {
            look.run();
        }
        assertThat(messages.receive(next)).as("an answer").isZero();
        assertThat(told).isEmpty();
        LinuxSockets.close(gaveUp);
        assertThat(messages.sendTold(dying, arena.allocateFrom("I am last"), -1))
                .isTrue();
        LinuxSockets.close(dying);
        until(() -> told.size() == 3, look);
        assertThat(told).containsExactly("I am last", "gone", "I am next");
        assertThat(messages.receive(next)).isPositive();
        assertThat(messages.kind()).isEqualTo(ShmMessages.HELLO);
        assertThat(messages.helloSlot()).isEqualTo(a.slot());
        LinuxSockets.close(next);
        sockets.close();
    }

    /// Its socket is full, so the memory that leads there cannot be shared; each frame tries again.
    @Test
    void aNeighbourThatReadsNothingCostsNoMemoryForEachFrame() throws IOException {
        var linux = new LinuxSockets(arena);
        var sockets = new PeerSockets(linux, arena, new MessageBlock(arena), "a test", ShmNeighbours.PLACE, 1 << 16);
        var messages = new ShmMessages(arena);
        int slot = freeSlot();
        int fd = sockets.connect("slot-" + a.slot());
        assertThat(messages.sendHello(fd, slot)).isTrue();
        until(() -> a.isThere(slot), () -> a.receive(buffer, 0, 256));
        MemorySegment told = arena.allocate(Neighbours.MESSAGE_MAX);
        while (a.tell(slot, told, -1)) {
            // until there is no room
        }
        long before = mappings();
        Frame[] frames = to(b, 100, SMALL);
        for (Frame frame : frames) {
            Bth.setDestinationQp(frame.slot, frame.start, slot << 16 | 0x11);
        }
        assertThat(a.transmit(frames, 0, 100)).isEqualTo(100);
        assertThat(count(a, "dropped.full")).isEqualTo(100);
        assertThat(mappings()).isEqualTo(before);
        LinuxSockets.close(fd);
        sockets.close();
    }

    private static long mappings() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("verbena-shm")).count();
        }
    }

    @Test
    void neighboursTellEachOtherAndSeeTheirPages() {
        meet(a, b);
        meet(b, a);
        var told = new ArrayList<String>();
        b.listener(new Neighbours.Listener() {
            @Override
            public void onTold(int slot, MemorySegment message, int descriptor) {
                told.add(slot + " " + message.getString(0) + " " + (descriptor >= 0));
                LinuxSockets.close(descriptor);
            }

            @Override
            public void onDying(int slot) {}

            @Override
            public void onGone(int slot) {}
        });
        int descriptor = new LinuxSockets(arena).eventCounter();
        assertThat(a.tell(b.slot(), arena.allocateFrom("hello"), descriptor)).isTrue();
        LinuxSockets.close(descriptor);
        until(() -> !told.isEmpty(), () -> {
            b.receive(buffer, 0, 256);
            b.move(0);
        });
        assertThat(told).containsExactly(a.slot() + " hello true");
        a.ownPage(b.slot()).set(ValueLayout.JAVA_LONG, 8, 42);
        assertThat(b.theirPage(a.slot()).get(ValueLayout.JAVA_LONG, 8)).isEqualTo(42);
    }

    @Test
    void whatANeighbourMustNotSayIsCountedAndDoesNoHarm() {
        meet(a, b);
        var linux = new LinuxSockets(arena);
        var messages = new DescriptorMessages(arena);
        var sockets = new PeerSockets(linux, arena, new MessageBlock(arena), "a test", ShmNeighbours.PLACE, 1 << 16);
        var random = new SplittableRandom(11);
        MemorySegment message = arena.allocate(512, 8);
        for (int i = 0; i < 400; i++) {
            int fd = sockets.connect("slot-" + b.slot());
            for (int j = 0; j < 4; j++) {
                for (int at = 0; at < 512; at++) {
                    message.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
                }
                message.set(ValueLayout.JAVA_BYTE, 0, (byte) random.nextInt(24));
                message.set(ValueLayout.JAVA_BYTE, 1, (byte) (random.nextBoolean() ? a.slot() : random.nextInt()));
                int _ = messages.send(fd, message.asSlice(0, 1 + random.nextInt(512)), random.nextBoolean() ? fd : -1);
            }
            b.receive(buffer, 0, 256);
            b.move(0);
            LinuxSockets.close(fd);
        }
        until(() -> count(b, "stray") > 0, () -> b.receive(buffer, 0, 256));
        sockets.close();
        Frame[] honest = to(b, 1, SMALL);
        BigEndian.put24(honest[0].slot, honest[0].start + 9, 77);
        a.transmit(honest, 0, 1);
        until(() -> b.receive(buffer, 0, 1) == 1 && number(buffer[0]) == 77, () -> b.move(0));
    }
}
