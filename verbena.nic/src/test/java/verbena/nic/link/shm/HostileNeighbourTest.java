package verbena.nic.link.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.nic.link.shm.ShmMessages.BELL;
import static verbena.nic.link.shm.ShmMessages.CONTENT;
import static verbena.nic.link.shm.ShmMessages.FILE;
import static verbena.nic.link.shm.ShmMessages.LIFELINE;
import static verbena.nic.link.shm.ShmMessages.TOLD;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.foreign.SystemFunction;
import verbena.foreign.linux.DescriptorMessages;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.MemoryFile;
import verbena.nic.SoftContext;
import verbena.nic.link.Envelope;
import verbena.nic.link.FrameRing;
import verbena.nic.link.MessageBlock;
import verbena.nic.link.sharing.Neighbours;
import verbena.nic.link.sharing.PeerSockets;
import verbena.nic.link.sharing.Presence;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Device;
import verbena.verbs.Endpoint;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;
import verbena.verbs.WorkCompletion;
import verbena.wire.DirectMessage;

/// Goal H6: a neighbour without a device, which speaks the rendezvous of [ShmNeighbours] by itself, and writes
/// whatever it likes into all that a device shares with it: messages, descriptors of every kind, frames, pages. The
/// device throws nothing, goes on to serve its other neighbours, touches nothing that it has not lent, and keeps no
/// descriptor.
///
/// `-Dverbena.seed=N` draws other attacks.
@EnabledOnOs(value = OS.LINUX, disabledReason = "memory files and abstract sockets")
@Timeout(600)
class HostileNeighbourTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");
    private static final long SEED = Long.getLong("verbena.seed", 1);
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final long FILE_BYTES =
            Neighbours.PAGE_BYTES + (FrameRing.bytes(ShmNeighbour.RING_BYTES) + 4_095 & -4_096L);
    private static final byte SECRET = 0x77;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final Arena arena = Arena.ofShared();
    private final LinuxSockets linux = new LinuxSockets(arena);
    private final DescriptorMessages messages = new DescriptorMessages(arena);
    private final PeerSockets sockets =
            new PeerSockets(linux, arena, new MessageBlock(arena), "a test", ShmNeighbours.PLACE, 1 << 18);
    private final MemorySegment message = arena.allocate(8_192, 8);
    private final WorkCompletion wc = new WorkCompletion();

    private final End victim = new End();
    private final End friend = new End();
    /// Which the hostile neighbour says that it has: none that another link has.
    private int slot;

    /// A device with a queue pair.
    private static final class End implements AutoCloseable {
        final SoftContext context = (SoftContext) Device.named("shm").open();
        final ProtectionDomain domain = context.allocateProtectionDomain();
        final CompletionQueue cq = context.createCompletionQueue(64);
        final QueuePair queuePair = domain.createQueuePair(QueuePairOptions.rc(cq));
        final MemoryRegion memory = domain.allocate(4_096, Access.remoteAll());

        int slot() {
            return queuePair.qpn() >>> 16;
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

    @BeforeEach
    void meet() {
        friend.queuePair.connect(victim.queuePair.endpoint());
        victim.queuePair.connect(friend.queuePair.endpoint());
        do {
            slot = random.nextInt(Presence.SLOTS);
        } while (slot == victim.slot() || slot == friend.slot());
    }

    @AfterEach
    void close() {
        victim.close();
        friend.close();
        sockets.close();
        arena.close();
    }

    /// The device works for its other neighbour.
    private void checkAlive() throws InterruptedException {
        friend.queuePair.postFetchAdd(1, victim.memory.remote(), 1, friend.memory.slice(0, 8));
        assertThat(friend.cq.await(wc, SOON))
                .as("the device serves its other neighbour")
                .isTrue();
        assertThat(wc.ok()).as(wc.toString()).isTrue();
        assertThat(victim.context.containedFailure()).isEqualTo(Optional.empty());
    }

    private int connect() {
        int fd = sockets.connect("slot-" + victim.slot());
        assertThat(fd).isNotNegative();
        return fd;
    }

    private int sayHello() {
        int fd = connect();
        Envelope.putHello(message, slot);
        assertThat(messages.send(fd, message.asSlice(0, CONTENT), -1)).isPositive();
        return fd;
    }

    private void say(int fd, int kind, int bytes, int descriptor) {
        message.set(ValueLayout.JAVA_LONG, 0, kind);
        int _ = messages.send(fd, message.asSlice(0, bytes), descriptor);
    }

    private static long descriptors() throws IOException {
        long count = 0;
        try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path _ : all) {
                count++;
            }
        }
        return count;
    }

    private void awaitDescriptors(long most) throws IOException, InterruptedException {
        long end = System.nanoTime() + SOON.toNanos();
        while (descriptors() > most) {
            assertThat(System.nanoTime()).as("descriptors that stay open").isLessThan(end);
            checkAlive();
        }
    }

    @Test
    void noiseFromANeighbourHarmsNoneAndLeavesNothing() throws Exception {
        long start = System.nanoTime();
        int lives = DEEP ? 20_000 : 60;
        int said = 0;
        MemoryRegion secret = victim.domain.allocate(4_096, Access.remoteAll());
        secret.segment().fill(SECRET);
        checkAlive();
        long before = descriptors();
        for (int life = 0; life < lives; life++) {
            try (Arena own = Arena.ofShared()) {
                int fd = random.nextInt(8) == 0 ? connect() : sayHello();
                MemoryFile file = MemoryFile.create("verbena-hostile", FILE_BYTES, true, own);
                for (int i = random.nextInt(40); i >= 0; i--) {
                    sayAnything(fd, file);
                    scribble(file.memory());
                    said++;
                }
                checkAlive();
                LinuxSockets.close(fd);
            }
        }
        awaitDescriptors(before);
        for (long at = 0; at < 4_096; at++) {
            assertThat(secret.segment().get(ValueLayout.JAVA_BYTE, at)).isEqualTo(SECRET);
        }
        secret.close();
        System.out.printf(
                Locale.ROOT,
                "goal H6: %,d lives of a hostile neighbour, %,d messages and as many changes of what it shares: 0"
                        + " exceptions, 0 bytes, 0 descriptors, seed %d, %.1f s%n",
                lives,
                said,
                SEED,
                (System.nanoTime() - start) / 1e9);
    }

    private void sayAnything(int fd, MemoryFile file) throws IOException {
        for (int at = CONTENT; at < 256; at += 4) {
            message.set(ValueLayout.JAVA_INT, at, word());
        }
        switch (random.nextInt(11)) {
            case 0, 1, 2 -> with(file.share(), descriptor -> say(fd, FILE, CONTENT, descriptor));
            case 3 -> with(anyDescriptor(), descriptor -> say(fd, FILE, CONTENT, descriptor));
            case 4 -> with(anyDescriptor(), descriptor -> say(fd, BELL, CONTENT, descriptor));
            case 5, 6 -> {
                message.set(ValueLayout.JAVA_INT, CONTENT, random.nextInt(-1, 7));
                with(random.nextBoolean() ? file.share() : -1, given -> say(fd, TOLD, CONTENT + 72, given));
            }
            case 7 -> with(anyDescriptor(), given -> say(fd, TOLD, CONTENT + random.nextInt(200), given));
            case 8 -> say(fd, Envelope.PACKET, CONTENT + random.nextInt(4_000), -1);
            case 9 -> with(anyDescriptor(), given -> say(fd, LIFELINE, CONTENT, given));
            default -> with(anyDescriptor(), given -> say(fd, random.nextInt(30), 1 + random.nextInt(300), given));
        }
    }

    /// Numbers that mean something to the device, or not.
    private int word() {
        return switch (random.nextInt(8)) {
            case 0 -> victim.queuePair.qpn();
            case 1 -> slot << 16 | 0x11;
            case 2 -> victim.memory.rkey();
            case 3 -> random.nextInt();
            default -> random.nextInt(-2, 80);
        };
    }

    private interface Use {
        void with(int descriptor) throws IOException;
    }

    private static void with(int descriptor, Use use) throws IOException {
        try {
            use.with(descriptor);
        } finally {
            LinuxSockets.close(descriptor);
        }
    }

    private int anyDescriptor() throws IOException {
        return switch (random.nextInt(6)) {
            case 0 -> -1;
            case 1 -> linux.eventCounter();
            case 2 -> linux.localSocket();
            case 3 -> linux.timer();
            case 4 -> ofFile(1 + random.nextInt(10_000), random.nextBoolean());
            default -> ofFile(FILE_BYTES, false);
        };
    }

    /// Of a sealed file that is too short, or that no peer may write to.
    private static int ofFile(long bytes, boolean isWritable) throws IOException {
        try (Arena scratch = Arena.ofConfined()) {
            return MemoryFile.create("verbena-hostile", bytes, isWritable, scratch)
                    .share();
        }
    }

    /// Into the page and the ring: positions, lengths, flags.
    private void scribble(MemorySegment file) {
        for (int i = 0; i < 200; i++) {
            long value = random.nextInt(3) == 0 ? random.nextLong() >>> random.nextInt(64) : word();
            long at = switch (random.nextInt(4)) {
                case 0 -> random.nextLong(64) * 8; // of the page
                case 1 -> Neighbours.PAGE_BYTES + random.nextLong(FrameRing.HEAD_BYTES / 8) * 8;
                default ->
                    Neighbours.PAGE_BYTES + FrameRing.HEAD_BYTES + random.nextLong(ShmNeighbour.RING_BYTES / 64) * 64;
            };
            file.set(ValueLayout.JAVA_LONG, at, value);
        }
        for (int i = 0; i < 20; i++) {
            scribbleMessage(
                    file,
                    Neighbours.PAGE_BYTES + FrameRing.HEAD_BYTES + random.nextLong(ShmNeighbour.RING_BYTES / 128) * 64);
        }
        // A position that frames may end at, so that some of this is read.
        file.set(ValueLayout.JAVA_LONG, Neighbours.PAGE_BYTES, 64L * random.nextInt(1 << 14));
    }

    /// A message that may be one, for a queue pair that may be there.
    private void scribbleMessage(MemorySegment file, long at) {
        int length = random.nextInt(DirectMessage.HEADER_BYTES - 2, DirectMessage.WRITE_HEADER_BYTES + 16);
        file.set(ValueLayout.JAVA_INT, at, 1 << 30 | length);
        DirectMessage.write(
                file, at + 8, random.nextInt(7), random.nextInt(8), word(), word(), random.nextInt(4), word());
        DirectMessage.setImmediate(file, at + 8, word());
        DirectMessage.setRemote(file, at + 8, word(), word());
    }

    /// The device writes to the bell of a neighbour that sleeps. One that cannot take more must not hold it up.
    @Test
    void aBellThatIsFullHoldsTheDeviceUpNoMoreThanOneThatRings() throws Exception {
        int fd = sayHello();
        try (Arena own = Arena.ofShared()) {
            MemoryFile file = MemoryFile.create("verbena-hostile", FILE_BYTES, true, own);
            with(file.share(), given -> say(fd, FILE, CONTENT, given));
            int bell = fullBell();
            say(fd, BELL, CONTENT, bell);
            victim.queuePair.modify(new Transition.ToReset());
            Endpoint of = friend.queuePair.endpoint();
            victim.queuePair.connect(new Endpoint(of.gid(), of.gidType(), slot << 16 | 0x11, 0, of.mtu()));
            MemorySegment theirs = takeFile(fd, own);
            // It says that it sleeps, while the device sends it a packet.
            theirs.set(ValueLayout.JAVA_INT, Neighbours.PAGE_BYTES + FrameRing.ASLEEP, 1);
            Thread device = Thread.ofPlatform().daemon().start(() -> {
                victim.queuePair.postSend(2, victim.memory.slice(0, 8));
                victim.domain.createQueuePair(QueuePairOptions.rc(victim.cq)).close(); // needs the engine
            });
            device.join(5_000);
            boolean isHeldUp = device.isAlive();
            while (device.isAlive()) {
                long _ = LinuxSockets.read(bell, message.asSlice(0, 8)); // makes room
                device.join(10);
            }
            LinuxSockets.close(bell);
            assertThat(isHeldUp).as("the bell holds the device up").isFalse();
            assertThat(theirs.get(ValueLayout.JAVA_INT, Neighbours.PAGE_BYTES + FrameRing.ASLEEP))
                    .as("asleep, and not rung for")
                    .isZero();
        }
        LinuxSockets.close(fd);
    }

    /// An event counter to which nothing can be added, and of which a write would wait.
    private int fullBell() {
        int bell = (int) SystemFunction.named("eventfd").call(0, LinuxAbi.SOCK_CLOEXEC);
        message.set(ValueLayout.JAVA_LONG, 0, -2);
        LinuxSockets.addToEventCounter(bell, message);
        return bell;
    }

    /// The file that leads to the hostile neighbour, which the device makes for the first frame.
    private MemorySegment takeFile(int fd, Arena own) {
        victim.queuePair.postSend(1, victim.memory.slice(0, 8));
        long end = System.nanoTime() + SOON.toNanos();
        while (true) {
            assertThat(System.nanoTime()).as("a file in time").isLessThan(end);
            int length = messages.receive(fd, message);
            if (length > 0 && message.get(ValueLayout.JAVA_BYTE, 0) == FILE) {
                int given = messages.descriptor();
                MemorySegment mapped =
                        MemoryFile.map(given, FILE_BYTES, true, own).memory();
                LinuxSockets.close(given);
                return mapped;
            }
            LinuxSockets.close(length > 0 ? messages.descriptor() : -1);
            Thread.onSpinWait();
        }
    }
}
