package verbena.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Random;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import verbena.verbs.Gid;
import verbena.wire.cm.CmPath;
import verbena.wire.cm.IpCmHeader;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;
import verbena.wire.cm.Rtu;
import verbena.wire.cm.SidrRep;
import verbena.wire.cm.SidrReq;

/// A million requests that lead to nothing (goal S6): what they leave behind stays small, and others still
/// connect.
class FloodTest {
    private static final int REQUESTS = 1_000_000;
    /// Every so many hostile requests an honest peer connects.
    private static final int HONEST_EVERY = 1_000;
    /// His RTU comes so many hostile requests later.
    private static final int RTU_AFTER = 500;

    private static final long OTHER_SERVICE = IpCmHeader.serviceId(IpCmHeader.PORT_SPACE_TCP, 7999);
    private static final Gid SERVER = Gid.parse("10.0.0.2");
    private static final Gid HONEST = Gid.parse("10.9.9.9");
    private static final Gid ATTACKER = Gid.parse("10.6.6.6");

    private final CommunicationManager server =
            new CommunicationManager(0xB, CommunicationManager.NO_SLOT, new Random(1), CmLimits.DEFAULT);
    private final Random random = new Random(2);
    private long now = 1_000;
    private long established;

    /// What the owner does with a request.
    private enum Owner {
        ACCEPTS,
        REJECTS,
        SLEEPS
    }

    private void serve(Owner owner) {
        server.listen(TwoManagers.SERVICE, 128, (connection, event) -> {
            if (event instanceof CmEvent.Established) {
                established++;
            }
            if (!(event instanceof CmEvent.Requested(Req req))) {
                return;
            }
            boolean isHonest = connection.route().remote().equals(HONEST);
            if (owner == Owner.ACCEPTS || isHonest) {
                connection.accept(
                        new CmEnd(req.localQpn(), 1, 1, 1, 7, false, CmExtension.NONE, PrivateData.NONE), now);
            } else if (owner == Owner.REJECTS) {
                connection.reject(RejectReason.CONSUMER_REJECT, PrivateData.NONE, now);
            }
        });
    }

    private Req request(Gid from, long service) {
        return new Req(
                random.nextLong(),
                random.nextInt(),
                service,
                random.nextLong(),
                0,
                random.nextInt(1 << 24),
                1,
                1,
                31, // as long as can be
                Req.RC,
                false,
                0,
                31,
                7,
                0xFFFF,
                3,
                7,
                15,
                false,
                new CmPath(0, 0, from.high(), from.low(), SERVER.high(), SERVER.low(), 0, 0, 0, 64, 0, false, 31),
                CmPath.NONE,
                PrivateData.NONE);
    }

    private void flood(String what, IntFunction<Gid> attackers, long service) {
        System.gc();
        long before = used();
        var pending = new ArrayDeque<Rtu>();
        var nanos = new long[REQUESTS / HONEST_EVERY];
        int honest = 0;
        int answers = 0;
        for (int i = 0; i < REQUESTS; i++) {
            Gid from = attackers.apply(i);
            server.onMessage(request(from, service), new CmRoute(SERVER, from), now);
            for (var out = server.poll(); out != null; out = server.poll()) {
                answers++;
            }
            now += 5_000; // 200,000 a second
            server.onDeadline(now);
            for (var out = server.poll(); out != null; out = server.poll()) {
                answers++;
            }
            if (i % HONEST_EVERY == 0) {
                long start = System.nanoTime();
                server.onMessage(request(HONEST, TwoManagers.SERVICE), new CmRoute(SERVER, HONEST), now);
                for (var out = server.poll(); out != null; out = server.poll()) {
                    if (out.route().remote().equals(HONEST) && out.message() instanceof Rep rep) {
                        int ours = rep.remoteCommId();
                        int theirs = rep.localCommId();
                        pending.add(new Rtu(rep.transactionId(), ours, theirs, PrivateData.NONE));
                        nanos[honest++] = System.nanoTime() - start;
                    }
                }
            }
            if (i % HONEST_EVERY == RTU_AFTER && !pending.isEmpty()) {
                server.onMessage(pending.remove(), new CmRoute(SERVER, HONEST), now);
            }
        }
        System.gc();
        long grown = Math.max(0, used() - before) >> 10;
        Arrays.sort(nanos);
        System.out.printf(
                "S6: %,d requests %s: %,d answers; %d of %d others connected, REP after %d us (p99); %d KiB more, %s%n",
                REQUESTS,
                what,
                answers,
                established,
                nanos.length,
                nanos[nanos.length * 99 / 100] / 1_000,
                grown,
                server);
        assertThat(established).as("others connect").isEqualTo(nanos.length);
        assertThat(nanos[nanos.length * 99 / 100]).as("p99").isLessThan(200_000_000);
        assertThat(grown).as("KiB").isLessThan(64 << 10);
        assertThat(server.size()).isLessThanOrEqualTo(nanos.length + CmLimits.DEFAULT.halfOpen());
        assertThat(answers).as("one for each at most").isLessThanOrEqualTo(REQUESTS);
    }

    private static long used() {
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /// A hundred thousand addresses that an attacker makes up.
    private static Gid madeUp(int i) {
        return new Gid(0, 0xFFFF_0B00_0000L + i * 7_919L % 100_000);
    }

    @Test
    void ofOnePeerThatAreAccepted() {
        serve(Owner.ACCEPTS);
        flood("of one peer, accepted", _ -> ATTACKER, TwoManagers.SERVICE);
        assertThat(server.get(CmCounter.PUT_OFF)).isGreaterThan(REQUESTS / 2);
    }

    @Test
    void ofOnePeerThatAreRejected() {
        serve(Owner.REJECTS);
        flood("of one peer, rejected", _ -> ATTACKER, TwoManagers.SERVICE);
        assertThat(server.get(CmCounter.SHED)).isZero();
    }

    @Test
    void ofOnePeerWithoutDecisions() {
        serve(Owner.SLEEPS);
        flood("of one peer, not decided", _ -> ATTACKER, TwoManagers.SERVICE);
        assertThat(server.get(CmCounter.PUT_OFF)).isGreaterThan(REQUESTS / 2);
    }

    @Test
    void ofOnePeerForNobody() {
        serve(Owner.ACCEPTS);
        flood("of one peer, for no service", _ -> ATTACKER, OTHER_SERVICE);
        assertThat(server.get(CmCounter.REFUSED)).isEqualTo(REQUESTS);
    }

    @Test
    void ofAHundredThousandAddresses() {
        serve(Owner.ACCEPTS);
        flood("of 100,000 addresses, accepted", FloodTest::madeUp, TwoManagers.SERVICE);
        assertThat(server.get(CmCounter.SHED)).isGreaterThan(REQUESTS / 2);
    }

    /// An attacker that makes up addresses can fill the backlog of an owner that does not decide, as with any
    /// listener, and does no other harm.
    @Test
    void ofAHundredThousandAddressesWithoutDecisions() {
        serve(Owner.SLEEPS);
        for (int i = 0; i < REQUESTS; i++) {
            server.onMessage(request(madeUp(i), TwoManagers.SERVICE), new CmRoute(SERVER, madeUp(i)), now);
            assertThat(server.poll() == null).as("request %d waits", i).isEqualTo(i < 128);
        }
        assertThat(server.size()).isEqualTo(128);
    }

    @Test
    void ofSidrRequests() {
        var open = new ArrayDeque<SidrInquiry>();
        server.answer(TwoManagers.SERVICE, inquiry -> {
            if (inquiry.route().remote().equals(HONEST)) {
                inquiry.answer(SidrRep.VALID, 7, 8, PrivateData.NONE);
            } else if (open.size() < 10) {
                open.add(inquiry);
            }
        });
        int answered = 0;
        for (int i = 0; i < REQUESTS; i++) {
            Gid from = i % 2 == 0 ? ATTACKER : madeUp(i);
            server.onMessage(
                    new SidrReq(i, i + 1, 0xFFFF, TwoManagers.SERVICE, PrivateData.NONE),
                    new CmRoute(SERVER, from),
                    now);
            if (i % HONEST_EVERY == 0) {
                server.onMessage(
                        new SidrReq(i, i + 1, 0xFFFF, TwoManagers.SERVICE, PrivateData.NONE),
                        new CmRoute(SERVER, HONEST),
                        now);
                for (var out = server.poll(); out != null; out = server.poll()) {
                    answered += out.route().remote().equals(HONEST) ? 1 : 0;
                }
            }
        }
        assertThat(answered).isEqualTo(REQUESTS / HONEST_EVERY);
        assertThat(server.toString()).contains("; 1024 SIDR requests");
        open.forEach(inquiry -> inquiry.answer(SidrRep.REJECTED, 0, 0, PrivateData.NONE)); // late, and no harm
    }
}
