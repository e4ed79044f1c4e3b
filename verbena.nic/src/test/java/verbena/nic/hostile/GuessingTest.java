package verbena.nic.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.cm.CmSuspects;
import verbena.nic.GoalRun;
import verbena.nic.hostile.Visits.Visit;
import verbena.verbs.Access;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.ConnectionParameters;
import verbena.wire.ib.Psn;

/// Goal S4: a peer that guesses keys is slowed, then blocked, and reported. No other peer is, and no attacker
/// can get another peer blocked. In virtual time.
class GuessingTest {
    private static final int GUESSES = 1_000;

    private final Cable cable = new Cable(GoalRun.seed());
    private final Visits visits = new Visits(cable);
    private final Random random = new Random(GoalRun.seed());
    private final WorkCompletion wc = new WorkCompletion();

    @BeforeEach
    void listen() {
        visits.listen(ConnectionParameters.defaults());
    }

    /// Makes A write with this key; returns the status of the WRITE.
    private WcStatus write(Visit visit, int rkey) {
        visit.active().postWrite(1, cable.a.memory.slice(0, 8), new RemoteMemory(cable.b.memory.address(), rkey, 8));
        cable.settle();
        assertThat(cable.a.cq.poll(wc)).isTrue();
        WcStatus status = wc.status();
        cable.pass(1_000_000);
        return status;
    }

    private void guess(Visit visit) {
        assertThat(write(visit, random.nextInt())).isEqualTo(WcStatus.REM_ACCESS_ERR);
        visit.close();
        cable.settle();
    }

    @Test
    void aPeerThatGuessesKeysIsSlowedThenBlockedAndReported() {
        Visit honest = visits.connect();
        assertThat(honest.isMade()).isTrue();
        long began = cable.nanos;
        int guesses = 0;
        Visit visit = visits.connect();
        while (visit.isMade()) {
            assertThat(guesses).isLessThan(GUESSES);
            guess(visit);
            guesses++;
            visit = visits.connect();
        }
        assertThat(guesses).isEqualTo(CmSuspects.BLOCKED_AT);
        assertThat(visit.why()).contains("10.0.0.2 port 7471 refuses for a while");
        long took = cable.nanos - began;
        assertThat(took)
                .as("slowed before")
                .isGreaterThan((CmSuspects.BLOCKED_AT - CmSuspects.SLOWED_AT) * CmSuspects.PAUSE_NANOS);
        assertThat(cable.b.count("blocked.peers")).isEqualTo(1);
        assertThat(cable.b.count("cm.suspected")).isGreaterThan(1);

        // The connection that it already had goes on, and so do other peers' requests (CmSuspectsTest).
        assertThat(write(honest, cable.b.memory.rkey())).isEqualTo(WcStatus.SUCCESS);

        cable.pass(CmSuspects.BLOCK_NANOS);
        Visit later = visits.connect();
        assertThat(later.isMade()).isTrue();
        assertThat(write(later, cable.b.memory.rkey())).isEqualTo(WcStatus.SUCCESS);
        GoalRun.print(
                "S4",
                "a peer had %d guesses in %.1f s, then none for %d s; its other connection went on"
                        .formatted(guesses, took / 1e9, CmSuspects.BLOCK_NANOS / 1_000_000_000));
    }

    @Test
    void manyConnectionsGiveOneGuessEachAndNoMore() {
        var had = new ArrayList<Visit>();
        for (int i = 0; i < 3 * CmSuspects.BLOCKED_AT; i++) {
            had.add(visits.connect());
        }
        had.forEach(this::guess);
        assertThat(visits.connect().why()).contains("refuses for a while");
        assertThat(cable.b.count("blocked.peers")).isEqualTo(1);
    }

    /// An attacker who can fake the peer's address but does not know the connection cannot get the peer blocked.
    @Test
    void noAttackerGetsAPeerBlockedWithoutKnowingAConnection() {
        Visit honest = visits.connect();
        assertThat(honest.passive()).isNotNull();
        int qpn = honest.passive().qpn();
        int expected = honest.passive().query().receiving().rqPsn();
        for (int i = 0; i < GUESSES; i++) {
            // The right queue pair with a PSN that is behind or ahead, then a wrong queue pair.
            int psn = Psn.add(expected, i % 2 == 0 ? -1 - random.nextInt(1 << 20) : 1 + random.nextInt(1 << 20));
            cable.b.inject("WRITE_ONLY psn %d qp 0x%x va 0x%x rkey 0x%x len 8 | 8"
                    .formatted(psn, i % 3 == 0 ? qpn ^ 1 + i : qpn, cable.b.memory.address(), random.nextInt()));
            // No packet of the attacker's gets an answer that the peer would accept as an answer to its own
            // packet.
            cable.settle();
        }
        assertThat(cable.b.count("blocked.peers")).isZero();
        assertThat(cable.b.count("cm.suspected")).isZero();
        assertThat(visits.connect().isMade()).isTrue();
    }

    /// The same over TCP, where blocking is the only measure.
    @Test
    @Timeout(180)
    void aPeerThatGuessesOverIwarpIsBlocked() throws Exception {
        try (Context server = Device.named("iwarp").open();
                Context client = Device.named("iwarp@127.0.0.2").open();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var at = new InetSocketAddress(server.gid(1, 0).gid().address(), 0);
            var options = ConnectionOptions.defaults();
            try (var listener = ConnectionListener.bind(at, options.withDevice(server))) {
                for (int i = 0; i < CmSuspects.BLOCKED_AT; i++) {
                    var accepted = threads.submit((Callable<Connection>) listener::accept);
                    try (var guesser = Connection.connect(listener.localAddress(), options.withDevice(client));
                            var asked = accepted.get(30, TimeUnit.SECONDS)) {
                        var out = guesser.allocate(8);
                        var guessed = new RemoteMemory(asked.allocate(8).address(), random.nextInt(), 8);
                        guesser.write(out.slice(0, 8), guessed); // a WRITE over TCP is done when it has left
                        assertThatThrownBy(() -> guesser.read(guessed.slice(0, 8), out.slice(0, 8)))
                                .isInstanceOf(ConnectionException.class);
                    }
                }
                assertThatThrownBy(() -> Connection.connect(listener.localAddress(), options.withDevice(client)))
                        .isInstanceOf(ConnectionException.class);
                assertThat(server.counters()).containsEntry("blocked.peers", 1L);
                // The server's own address is that of all users of this host.
                var accepted = threads.submit((Callable<Connection>) listener::accept);
                Connection.connect(listener.localAddress(), options.withDevice(server))
                        .close();
                accepted.get(30, TimeUnit.SECONDS).close();
            }
        }
    }

    /// A late peer does not count as a guesser: the region existed a moment ago.
    @Test
    void aKeyOfWhatWasClosedLatelyIsNoGuess() {
        var region = cable.b.domain.allocate(64, Access.remoteAll());
        int rkey = region.rkey();
        region.close();
        for (int i = 0; i < 2 * CmSuspects.BLOCKED_AT; i++) {
            Visit visit = visits.connect();
            assertThat(visit.isMade()).as("visit " + i).isTrue();
            assertThat(write(visit, rkey)).isEqualTo(WcStatus.REM_ACCESS_ERR);
            visit.close();
        }
        assertThat(cable.b.count("blocked.peers")).isZero();
    }
}
