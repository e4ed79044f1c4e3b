package verbena.nic.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import verbena.nic.GoalRun;
import verbena.nic.SoftContext;
import verbena.nic.device.DeviceContext;
import verbena.nic.link.Interfaces;
import verbena.nic.link.LoopbackAddress;
import verbena.nic.link.udp.UdpLink;
import verbena.nic.link.udp.UdpLinks;
import verbena.nic.link.udp.UdpOptions;
import verbena.nic.roce.LinkDevice;
import verbena.transport.PacketFate;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.CompletionQueue;
import verbena.verbs.EndpointOptions;
import verbena.verbs.Gid;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;
import verbena.wire.notation.Names;
import verbena.wire.notation.PacketText;

/// Goal H2: hostile datagrams through real sockets. The verdicts are those of H1; an honest flow to the same
/// device goes on and stays correct.
class HostileDatagramsTest {
    private static final int BATCH = 32;
    private static final long CHECK_DATAGRAMS = 1 << 17;
    private static final int BLOCK = 4_096;
    /// Many retries: the thread that attacks the victim also drives it and checks its memory now and then, which
    /// may take a while.
    private static final EndpointOptions MANY_RETRIES =
            EndpointOptions.defaults().withRetries(new AckTimeout(17), 7, 7);

    private static UdpLink loopback() {
        return LoopbackAddress.claim(
                address -> UdpLinks.open(Interfaces.loopback().withOnly(address).gids(), 4791, UdpOptions.DEFAULT));
    }

    /// Writes blocks into the victim's device and reads them back, from a device of its own.
    private static final class HonestFlow {
        private final DeviceContext far = (DeviceContext)
                LinkDevice.open("honest", loopback(), System::nanoTime, SoftContext.secureRandom(), true);
        private final CompletionQueue cq = far.createCompletionQueue(16);
        private final QueuePair there;
        private final MemoryRegion source;
        private final MemoryRegion returned;
        private final MemoryRegion target;
        private final WorkCompletion wc = new WorkCompletion();
        private final AtomicBoolean stopped = new AtomicBoolean();

        HonestFlow(DeviceContext victim) {
            var farDomain = far.allocateProtectionDomain();
            there = farDomain.createQueuePair(QueuePairOptions.rc(cq));
            source = farDomain.allocate(BLOCK, Access.local());
            returned = farDomain.allocate(BLOCK, Access.local());
            var domain = victim.allocateProtectionDomain();
            QueuePair here = domain.createQueuePair(QueuePairOptions.rc(victim.createCompletionQueue(16)));
            target = domain.allocate(BLOCK, Access.remoteAll());
            here.connect(there.endpoint());
            there.connect(here.endpoint(), MANY_RETRIES);
        }

        /// Runs until it is stopped; returns how many blocks went there and back.
        long go() {
            long blocks = 0;
            try {
                while (!stopped.get()) {
                    for (int at = 0; at < BLOCK; at += Long.BYTES) {
                        source.segment().set(ValueLayout.JAVA_LONG, at, blocks * 0x9E37_79B9_7F4A_7C15L + at);
                    }
                    there.postWrite(1, source.slice(0, BLOCK), target.remote());
                    there.postRead(2, target.remote().slice(0, BLOCK), returned.slice(0, BLOCK));
                    for (int request = 1; request <= 2; request++) {
                        assertThat(cq.await(wc, Duration.ofMinutes(2))).isTrue();
                        assertThat(wc.ok()).as(wc.toString()).isTrue();
                    }
                    assertThat(returned.segment().mismatch(source.segment())).isEqualTo(-1);
                    blocks++;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return blocks;
        }

        void close() {
            there.close();
            source.close();
            returned.close();
            cq.close();
            there.protectionDomain().close();
            far.close();
        }
    }

    /// Sends an [Attacker]'s packets. Packets with a right ICRC go through a link that seals them, some of them
    /// from another address. Packets with a wrong ICRC, and noise, go as they are.
    private static final class Datagrams implements AutoCloseable {
        private final UdpLink link = loopback();
        private final UdpLink stranger = loopback();
        private final DatagramChannel raw = DatagramChannel.open();
        private final Frame[] frames = Frame.allocate(Arena.ofAuto().allocate((long) BATCH * Frame.SLOT_BYTES, 64));
        private final Frame[] answers = Frame.allocate(Arena.ofAuto().allocate((long) BATCH * Frame.SLOT_BYTES, 64));
        private final Gid victim;
        private final Attacker attacker;
        long sent;

        Datagrams(long seed, Gid victim) throws IOException {
            this.victim = victim;
            attacker = new Attacker(seed, address(link), victim);
        }

        private static Gid address(UdpLink of) {
            return of.gids().getFirst().gid();
        }

        /// Sends a batch, and reads the answers.
        void attack() throws IOException {
            for (Frame frame : frames) {
                attacker.next(frame);
                boolean strange = frame.sourceLow != address(link).low();
                UdpLink from = strange ? stranger : link;
                frame.sourceHigh = address(from).high();
                frame.sourceLow = address(from).low();
                frame.destinationHigh = victim.high();
                frame.destinationLow = victim.low();
                if (frame.icrcValid && frame.length >= 16) {
                    int length = frame.length;
                    frame.length = Math.min(length, from.packetMax());
                    while (from.transmit(frames, index(frame), 1) == 0) {
                        from.await(1_000_000);
                    }
                } else {
                    raw.send(frame.packet().asByteBuffer(), new InetSocketAddress(victim.address(), 4791));
                }
                sent++;
            }
            for (int n = link.receive(answers, 0, BATCH); n > 0; n = link.receive(answers, 0, BATCH)) {
                for (int i = 0; i < n; i++) {
                    attacker.learn(answers[i]);
                }
            }
        }

        private int index(Frame frame) {
            int i = 0;
            while (frames[i] != frame) {
                i++;
            }
            return i;
        }

        String last() {
            var text = new StringBuilder();
            for (Frame frame : frames) {
                text.append(PacketText.format(frame, Names.NUMBERS)).append('\n');
            }
            return text.toString();
        }

        @Override
        public void close() throws IOException {
            link.close();
            stranger.close();
            raw.close();
        }
    }

    @Test
    void hostileDatagramsDoNoHarm() throws Exception {
        long datagrams = GoalRun.size(150_000, 10_000_000);
        long seed = GoalRun.seed();
        try (var arena = Arena.ofShared();
                var link = loopback();
                var attack = new Datagrams(seed, link.gids().getFirst().gid())) {
            var victim = new Victim(link, attack.attacker, Datagrams.address(attack.link), seed, arena);
            victim.isHeardWhole = false;
            var honest = new HonestFlow(victim.context);
            var flow = CompletableFuture.supplyAsync(honest::go);
            long started = System.nanoTime();
            long nextCheck = CHECK_DATAGRAMS;
            while (attack.sent < datagrams) {
                attack.attack();
                drive(victim, attack, seed);
                if (attack.sent >= nextCheck) {
                    victim.canary.check();
                    nextCheck += CHECK_DATAGRAMS;
                }
            }
            double seconds = (System.nanoTime() - started) / 1e9;
            honest.stopped.set(true);
            while (!flow.isDone()) {
                drive(victim, attack, seed);
            }
            victim.canary.check();
            SortedMap<String, Long> counters = victim.context.counters();
            long sum = 0;
            for (PacketFate fate : PacketFate.values()) {
                sum += counters.get(fate.label());
            }
            assertThat(counters.get("received.packets")).isEqualTo(sum).isGreaterThan(datagrams / 2);
            assertThat(flow.join()).as("honest blocks").isPositive();
            GoalRun.print(
                    "H2",
                    "%,d hostile datagrams in %.0f s from seed %d, %,d packets received: 0 exceptions, 0 protected bytes changed; %,d honest blocks of 4 KiB went there and back meanwhile, all right; %s"
                            .formatted(datagrams, seconds, seed, sum, flow.join(), counters));
            honest.close();
        }
    }

    private static void drive(Victim victim, Datagrams attack, long seed) {
        try {
            do {
                victim.nanos = System.nanoTime();
                victim.work();
            } while (victim.context.drive());
        } catch (RuntimeException | Error e) {
            throw new AssertionError(
                    "one of these, or of those just before: " + GoalRun.repeat(HostileDatagramsTest.class, seed) + "\n"
                            + attack.last(),
                    e);
        }
    }
}
