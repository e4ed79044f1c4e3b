package verbena.sim.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import verbena.nic.link.ForwardingLink;
import verbena.nic.link.Link;
import verbena.sim.NetworkFaults;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.XrcEth;
import verbena.wire.pcap.CaptureReader;

/// Whether the checkers notice what they are for: a link that is broken in a way that no ICRC can tell, because it
/// breaks packets before they are sealed.
class SimulationTest {
    private static final int OPERATIONS = 500;
    /// As `lossy`, with extended connections.
    private static final Profile EXTENDED = new Profile(
            "extended", "", NetworkFaults.of(0.05, 0.01, 0.001), new Hazards(1_000_000, 0, 0), Set.of(Feature.XRC));

    @TempDir
    private Path folder;

    enum Damage {
        /// One bit of a SEND's or READ's data.
        DATA,
        /// One bit more is added by an atomic.
        OPERAND,
        /// A WRITE goes 8 bytes too far.
        ADDRESS,
        /// A message of an extended connection names the queue of another one.
        QUEUE,
        /// Nothing passes any more.
        SILENCE
    }

    /// Damages one packet in so many of its kind.
    private static final class BrokenLink extends ForwardingLink {
        private static final int EVERY = 4;

        private final Damage damage;
        private int count;
        /// The queue that an extended connection named last.
        private int named = -1;

        BrokenLink(Link link, Damage damage) {
            super(link);
            this.damage = damage;
        }

        @Override
        public int transmit(Frame[] frames, int from, int count) {
            if (damage == Damage.SILENCE) {
                return count;
            }
            for (int i = 0; i < count; i++) {
                damage(frames[from + i]);
            }
            return link.transmit(frames, from, count);
        }

        private void damage(Frame frame) {
            Opcode opcode = Packet.opcode(frame);
            switch (damage) {
                case DATA -> {
                    if (Packet.payloadBytes(frame, opcode) > 0 && ++count % EVERY == 0) {
                        flip(frame, Packet.payloadOffset(frame, opcode));
                    }
                }
                case OPERAND -> {
                    if (opcode == Opcode.RC_FETCH_ADD && ++count % EVERY == 0) {
                        flip(frame, frame.start + opcode.atomicEthOffset() + 12);
                    }
                }
                case ADDRESS -> {
                    if (opcode.isWrite() && opcode.rethOffset() >= 0 && ++count % EVERY == 0) {
                        flip(frame, frame.start + opcode.rethOffset() + 7);
                    }
                }
                case QUEUE -> {
                    if (opcode == Opcode.XRC_SEND_ONLY || opcode == Opcode.XRC_SEND_ONLY_IMMEDIATE) {
                        int at = frame.start + Bth.BYTES;
                        int names = XrcEth.srqNumber(frame.slot, at);
                        if (named >= 0 && named != names) {
                            XrcEth.write(frame.slot, at, named);
                        }
                        named = names;
                    }
                }
                case SILENCE -> throw new AssertionError("nothing is transmitted");
            }
        }

        private static void flip(Frame frame, int at) {
            byte was = frame.slot.get(ValueLayout.JAVA_BYTE, at);
            frame.slot.set(ValueLayout.JAVA_BYTE, at, (byte) (was ^ 8));
        }
    }

    private SimulationFailure fails(long seed, Damage damage) {
        UnaryOperator<Link> breaks = link -> new BrokenLink(link, damage);
        Profile lossy = damage == Damage.QUEUE ? EXTENDED : Profile.named("lossy");
        var simulation = new Simulation(seed, lossy, OPERATIONS, "do it again", breaks);
        return catchThrowableOfType(SimulationFailure.class, () -> simulation.run(folder));
    }

    private static final Map<Damage, String> FOUND = Map.of(
            Damage.DATA, "damaged|wrong result|not as written|was not sent",
            Damage.OPERAND, "wrong result|word",
            Damage.ADDRESS, "not as written|damaged|the board|invalid|REM_ACCESS",
            Damage.QUEUE, "names another|was not sent|REM_ACCESS|has broken down",
            Damage.SILENCE, "not drained");

    @ParameterizedTest
    @EnumSource(Damage.class)
    void whatALinkBreaksIsNoticed(Damage damage) {
        for (long seed = 1; seed <= 5; seed++) {
            SimulationFailure failure = fails(seed, damage);
            assertThat(failure).as("seed %d".formatted(seed)).isNotNull();
            assertThat(failure.getMessage().lines().findFirst().orElseThrow()).containsPattern(FOUND.get(damage));
        }
    }

    @Test
    void aFailureTellsHowToSeeItAgainAndLeavesACapture() throws Exception {
        SimulationFailure failure = fails(3, Damage.DATA);

        Path capture = folder.resolve("verbena-sim-3.pcapng");
        assertThat(failure.getMessage())
                .startsWith("seed 3: ")
                .contains("repeat:  do it again", "capture: " + capture, "of virtual time:", "-> ", "completion ");
        assertThat(Files.exists(capture)).isTrue();
        int packets = 0;
        try (var reader = CaptureReader.open(capture)) {
            while (reader.next() != null) {
                packets++;
            }
        }
        assertThat(packets).isPositive();
    }

    @Test
    void withoutDamageTheSameWorldsAreRight() {
        for (long seed = 1; seed <= 5; seed++) {
            Account account = new Simulation(seed, Profile.named("lossy"), OPERATIONS).run(folder);
            assertThat(account.completed() + account.failed()).isBetween(OPERATIONS - 5L, OPERATIONS + 30L);
        }
    }

    @Test
    void extendedConnectionsWithoutDamageAreRightAlsoWhenTheirEndsAreKilled() {
        var treacherous = new Profile(
                "extended",
                "",
                NetworkFaults.of(0.02, 0.02, 0.001).withReorder(0.02, 16),
                new Hazards(1_000_000, 0.01, 0.01),
                Set.of(Feature.XRC));
        long named = 0;
        long broke = 0;
        for (long seed = 1; seed <= 10; seed++) {
            Account calm = new Simulation(seed, EXTENDED, OPERATIONS).run(folder);
            Account killed = new Simulation(seed, treacherous, OPERATIONS).run(folder);
            named += calm.happened().get(Feature.XRC);
            broke += killed.broke();
        }
        assertThat(named).isGreaterThan(500);
        assertThat(broke).isPositive();
    }

    @Test
    void aProfileThatIsNotThereIsRefusedByName() {
        var e = catchThrowableOfType(IllegalArgumentException.class, () -> Profile.named("sunny"));
        assertThat(e).hasMessageContaining("storm").hasMessageContaining("'sunny'");
    }
}
