package verbena.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.tools.doctor.FakeSurroundings.OWN;
import static verbena.tools.doctor.FakeSurroundings.PEER;
import static verbena.tools.doctor.FakeSurroundings.about;
import static verbena.tools.doctor.FakeSurroundings.nic;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.nic.link.LinkException;
import verbena.nic.link.LinkKind;
import verbena.nic.link.udp.UdpLinks;
import verbena.nic.link.udp.UdpOptions;
import verbena.tools.doctor.Finding.Level;
import verbena.tools.doctor.Surroundings.Echo;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.CmPath;
import verbena.wire.cm.Mra;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;
import verbena.wire.cm.SidrRep;
import verbena.wire.cm.SidrReq;

/// Each thing that can be wrong on the way to a peer is made wrong, and found.
class WayToPeerTest {
    @TempDir
    private Path root;

    private FakeSurroundings host;

    @BeforeEach
    void aPeerThatAnswers() {
        host = new FakeSurroundings(root);
        host.peer = WayToPeerTest::answersQuestions;
    }

    private static CmMessage answersQuestions(CmMessage question) {
        return question instanceof SidrReq sidr
                ? new SidrRep(
                        sidr.transactionId(),
                        sidr.requestId(),
                        SidrRep.NOT_SUPPORTED,
                        0,
                        0,
                        sidr.serviceId(),
                        0,
                        PrivateData.NONE,
                        PrivateData.NONE)
                : null;
    }

    /// Answers requests for connections, too.
    private void answersRequests(Function<Req, CmMessage> answer) {
        host.peer = question -> question instanceof Req req ? answer.apply(req) : answersQuestions(question);
    }

    private List<Finding> look(String to) {
        return new WayToPeer(to, OptionalInt.empty(), Duration.ofMillis(100), new Random(1)).look(host);
    }

    private Finding lookAtPort() {
        List<Finding> findings =
                new WayToPeer(PEER, OptionalInt.of(7471), Duration.ofMillis(100), new Random(1)).look(host);
        assertThat(about("port 7471", findings)).hasSize(1);
        return about("port 7471", findings).getFirst();
    }

    private static Finding last(List<Finding> findings) {
        return findings.getLast();
    }

    @Test
    void aHealthyWayIsWell() {
        List<Finding> findings = look(PEER);

        assertThat(findings).extracting(Finding::level).containsOnly(Level.OK);
        assertThat(findings)
                .extracting(Finding::subject)
                .containsExactly("name", "own address", "own port", "peer", "path MTU");
        assertThat(last(findings).seen()).startsWith("1024 bytes come through");
    }

    // ---- name, address and route

    @Test
    void aNameThatNobodyKnowsEndsTheWay() {
        List<Finding> findings = look("nosuchhost");

        assertThat(findings).hasSize(1);
        assertThat(last(findings).level()).isEqualTo(Level.FAIL);
        assertThat(last(findings).seen()).contains("\"nosuchhost\"");
    }

    @Test
    void ofSeveralAddressesTheFirstThatCanBeReachedIsTaken() {
        host.names.put("db", List.of("fd00::9", PEER));

        List<Finding> findings = look("db");

        assertThat(findings.getFirst().seen()).isEqualTo("db is fd00::9, " + PEER);
        assertThat(about("own address", findings).getFirst().seen()).isEqualTo(OWN + " on eth0");
    }

    @Test
    void theTableTellsWhyEachAddressWasTakenOrNot() {
        host.interfaces.add(nic("eth1", 1_500, false, "10.2.0.3"));
        host.interfaces.add(nic("eth2", 1_500, true, "10.3.0.3", "fe80::5"));

        assertThat(String.join("\n", about("own address", look(PEER)).getFirst().details()))
                .containsPattern("lo +127.0.0.1 +RoCE v2 +host +no: it reaches this host only")
                .containsPattern("lo +::1 +RoCE v2 +host +no: IPv6, the peer is IPv4")
                .containsPattern("eth0 +10.0.0.3 +RoCE v2 +global +picked: packets to 10.0.0.9 leave from it")
                .containsPattern("eth0 +fd00::3 +RoCE v2 +global +no: IPv6, the peer is IPv4")
                .containsPattern("eth1 +10.2.0.3 +RoCE v2 +global +no: eth1 is down")
                .containsPattern("eth2 +10.3.0.3 +RoCE v2 +global +no: the route leaves from 10.0.0.3")
                .containsPattern("eth2 +fe80::5 +RoCE v2 +link +no: IPv6, the peer is IPv4");
    }

    @Test
    void linkLocalAddressesFitOnlyEachOther() {
        host.interfaces.add(nic("eth2", 1_500, true, "fe80::5", "fd00::5"));
        host.routes.put("fd00::9", "fd00::3");
        host.routes.put("fe80::9", "fe80::5");

        assertThat(String.join(
                        "\n", about("own address", look("fd00::9")).getFirst().details()))
                .containsPattern("fe80::5 .* no: link-local, the peer is not");
        assertThat(String.join(
                        "\n", about("own address", look("fe80::9")).getFirst().details()))
                .containsPattern("fd00::5 .* no: not link-local, the peer is");
    }

    @Test
    void aMissingRouteEndsTheWay() {
        host.routes.clear();

        Finding finding = last(look(PEER));

        assertThat(finding.level()).isEqualTo(Level.FAIL);
        assertThat(finding.subject()).isEqualTo("own address");
        assertThat(finding.seen()).contains("no route", "Network is unreachable");
        assertThat(finding.details()).isNotEmpty();
    }

    @Test
    void aLinkLocalPeerNeedsItsInterface() {
        assertThat(last(look("fe80::9")).remedy()).contains("fe80::9%");
    }

    @Test
    void aSourceThatIsOnNoInterfaceIsTold() {
        host.routes.put(PEER, "10.99.0.1");

        assertThat(last(look(PEER)).seen()).contains("10.99.0.1, which is on no interface");
    }

    @Test
    void anOwnPortThatSomebodyElseHasEndsTheWayAndTellsWho() throws IOException {
        host.questionsFail = portInUse();
        host.file("proc/net/udp", "heading\n 1: 0300000A:12B7 00000000:0000 07 0:0 00:0 0  0        0 77 2 0 0\n")
                .file("etc/passwd", "root:x:0:0::/:/bin/sh\n");

        Finding finding = last(look(PEER));

        assertThat(finding.level()).isEqualTo(Level.FAIL);
        assertThat(finding.subject()).isEqualTo("own port");
        assertThat(finding.details()).singleElement().asString().contains("10.0.0.3", "user root");
    }

    private static LinkException portInUse() {
        var address = List.of(nic("lo", 65_536, true, "127.77.1.4").gids().getFirst());
        var options = UdpOptions.DEFAULT.with(LinkKind.PORTABLE);
        try (var _ = UdpLinks.open(address, 4791, options)) {
            UdpLinks.open(address, 4791, options).close();
            throw new AssertionError("two sockets at one address");
        } catch (LinkException e) {
            return e;
        }
    }

    // ---- the peer

    @Test
    void aPeerWithoutThePortIsTold() {
        host.peer = _ -> null;
        host.network = (_, _) -> Echo.REFUSED;

        Finding finding = last(look(PEER));

        assertThat(finding.level()).isEqualTo(Level.FAIL);
        assertThat(finding.seen()).contains("no process has UDP port 4791");
    }

    @Test
    void aPeerThatCannotBeReachedIsTold() {
        host.peer = _ -> null;
        host.network = (_, _) -> Echo.UNREACHABLE;

        assertThat(last(look(PEER)).seen()).contains("cannot be reached");
    }

    @Test
    void aPeerThatIsThereButSilentAtThePortPointsToAFirewall() {
        host.peer = _ -> null;
        host.network = (port, _) -> port == 4791 ? Echo.SILENCE : Echo.REFUSED;

        Finding finding = last(look(PEER));

        assertThat(finding.level()).isEqualTo(Level.FAIL);
        assertThat(finding.seen()).contains("is up, but does not answer at UDP port 4791");
        assertThat(finding.remedy()).contains("firewall", "RoCE v1", "modprobe rdma_cm");
    }

    @Test
    void silenceEverywhereIsTold() {
        host.peer = _ -> null;
        host.network = (_, _) -> Echo.SILENCE;

        assertThat(last(look(PEER)).seen()).contains("no answer of any kind from");
    }

    @Test
    void aHostThatForbidsToSendIsTold() {
        host.peer = _ -> null;
        host.network = (_, _) -> {
            throw new IOException("Operation not permitted");
        };

        Finding finding = last(look(PEER));

        assertThat(finding.level()).isEqualTo(Level.FAIL);
        assertThat(finding.seen()).contains("Operation not permitted");
    }

    // ---- the service

    private static Rej reject(Req req, RejectReason reason) {
        return new Rej(
                req.transactionId(), 5, req.localCommId(), 0, 0, reason.code(), PrivateData.NONE, PrivateData.NONE);
    }

    @Test
    void aPortWithoutListenerFails() {
        answersRequests(req -> reject(req, RejectReason.INVALID_SERVICE_ID));

        assertThat(lookAtPort().level()).isEqualTo(Level.FAIL);
        assertThat(lookAtPort().seen()).isEqualTo("no program listens there");
    }

    @Test
    void aListenerIsKnownByItsRefusalOfTheAlternatePath() {
        answersRequests(
                req -> req.serviceId() == 0x0106_1D2FL && !req.alternate().equals(CmPath.NONE)
                        ? reject(req, RejectReason.ALTERNATE_GID_REJECTED)
                        : null);

        assertThat(lookAtPort().level()).isEqualTo(Level.OK);
        assertThat(host.told).isEmpty();
    }

    @Test
    void aListenerThatAcceptsIsTurnedDown() {
        answersRequests(req -> new Rep(
                req.transactionId(),
                5,
                req.localCommId(),
                0,
                9,
                0,
                1,
                1,
                15,
                0,
                false,
                7,
                false,
                77,
                PrivateData.NONE));

        assertThat(lookAtPort().level()).isEqualTo(Level.OK);
        assertThat(host.told).singleElement().isInstanceOfSatisfying(Rej.class, rej -> {
            assertThat(rej.remoteCommId()).isEqualTo(5);
            assertThat(rej.reason()).isEqualTo(RejectReason.CONSUMER_REJECT.code());
        });
    }

    @Test
    void aListenerThatAsksForPatienceIsToldThatItIsOver() {
        answersRequests(req -> new Mra(req.transactionId(), 5, req.localCommId(), 0, 24, PrivateData.NONE));

        assertThat(lookAtPort().level()).isEqualTo(Level.OK);
        assertThat(host.told).singleElement().isInstanceOf(Rej.class);
    }

    @Test
    void aListenerThatDoesNotDecideIsAWarning() {
        assertThat(lookAtPort().level()).isEqualTo(Level.WARN);
        assertThat(host.told)
                .singleElement()
                .isInstanceOfSatisfying(
                        Rej.class, rej -> assertThat(rej.reason()).isEqualTo(RejectReason.TIMEOUT.code()));
    }

    @Test
    void aListenerWithoutRoomOrWithOtherReasonsIsAWarning() {
        answersRequests(req -> reject(req, RejectReason.NO_RESOURCES));
        assertThat(lookAtPort().seen()).contains("lack of resources");

        answersRequests(req -> reject(req, RejectReason.INVALID_PATH_MTU));
        assertThat(lookAtPort().level()).isEqualTo(Level.WARN);
        assertThat(lookAtPort().seen()).isEqualTo("refused with code 26 (invalid path mtu)");
    }

    // ---- the path MTU

    private Finding pathMtu(int largest, Echo beyond) {
        host.interfaces.set(1, nic("eth0", 9_000, true, OWN));
        host.network = (_, bytes) -> bytes <= largest ? Echo.REFUSED : beyond;
        return last(look(PEER));
    }

    @Test
    void whatARouterRefusesIsTheLimit() {
        Finding finding = pathMtu(1_472, Echo.TOO_LARGE); // 1,500 bytes of IPv4

        assertThat(finding.level()).isEqualTo(Level.FAIL);
        assertThat(finding.seen()).startsWith("only 1024 bytes come through").endsWith("a router says so");
        assertThat(finding.remedy()).contains("mtu=1024");
    }

    @Test
    void whatVanishesIsTheLimitToo() {
        assertThat(pathMtu(1_472, Echo.SILENCE).seen()).endsWith("larger packets vanish without an error");
        assertThat(pathMtu(2_100, Echo.SILENCE).seen()).startsWith("only 2048 bytes");
        assertThat(pathMtu(300, Echo.SILENCE).seen()).startsWith("only 256 bytes");
    }

    @Test
    void aPathForSmallPacketsOnlyFails() {
        assertThat(pathMtu(100, Echo.TOO_LARGE).seen()).isEqualTo("not even 256 bytes come through");
    }

    @Test
    void aPathThatCarriesWhatTheInterfaceDoesIsWell() {
        assertThat(pathMtu(9_000, Echo.SILENCE).seen()).startsWith("4096 bytes come through");
        assertThat(pathMtu(9_000, Echo.SILENCE).level()).isEqualTo(Level.OK);
    }

    @Test
    void aPeerThatComplainsOfNothingLeavesTheMtuUnknown() {
        host.network = (_, _) -> Echo.SILENCE;

        Finding finding = last(look(PEER));

        assertThat(finding.level()).isEqualTo(Level.WARN);
        assertThat(finding.seen()).startsWith("not known");
    }
}
