package verbena.tools.doctor;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.random.RandomGenerator;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.LinkException;
import verbena.tools.doctor.Surroundings.Echo;
import verbena.tools.doctor.Surroundings.Questions;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;
import verbena.verbs.Mtu;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.CmPath;
import verbena.wire.cm.IpCmHeader;
import verbena.wire.cm.Mra;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;
import verbena.wire.cm.SidrReq;
import verbena.wire.roce.RoceV2;

/// The check of the path to a peer, step by step: its name, the own address and route, the own port, whether the
/// peer speaks RoCE v2, whether a program listens, what size of packet comes through. A step that fails ends it when
/// the next ones could not succeed.
final class WayToPeer implements Check {
    /// A service that does not exist: 0x02 is for those of an operating system's own (IBTA A3.2.3), then "VERBENA".
    private static final long NOBODYS_SERVICE = 0x0256_4552_4245_4E41L;
    /// An address that no host has (RFC 3849).
    private static final Gid NOBODY = Gid.parse("2001:db8::");
    /// A UDP port that hardly any program has, as traceroute(8) takes it: a host complains of what arrives there.
    private static final int CLOSED_PORT = 33_434;
    /// The number of attempts for a silent size, since a datagram may be lost and complaints are rationed: Linux
    /// sends one host some six, then one a second (icmp(7), `icmp_ratelimit`).
    private static final int KNOCKS = 2;
    /// BTH, RETH, immediate data and ICRC: the most that there is around a full payload.
    private static final int AROUND_PAYLOAD_BYTES = 36;

    // What a request for a connection has to say, though this one is never made (rdma_cm's own values).
    private static final int ACK_TIMEOUT = 17;
    private static final int RESPONSE_TIMEOUT = 20;
    private static final int CM_RETRIES = 15;
    private static final int HOP_LIMIT = 64;
    private static final int ETHERNET_LID = 0xFFFF;

    private final String host;
    private final OptionalInt port;
    private final Duration timeout;
    private final RandomGenerator random;
    private final List<Finding> findings = new ArrayList<>();

    /// @param port in the port space of TCP; empty when no program has to listen
    /// @param timeout how long an answer may take
    WayToPeer(String host, OptionalInt port, Duration timeout, RandomGenerator random) {
        this.host = host;
        this.port = port;
        this.timeout = timeout;
        this.random = random;
    }

    @Override
    public List<Finding> look(Surroundings at) {
        findings.clear();
        List<InetAddress> addresses = name(at);
        if (!addresses.isEmpty()) {
            InetAddress peer = addresses.getFirst();
            Candidates candidates = Candidates.towards(peer, at);
            for (InetAddress other : addresses) { // the first that can be reached
                if (candidates.picked().isEmpty()) {
                    peer = other;
                    candidates = Candidates.towards(peer, at);
                }
            }
            ownAddress(peer, candidates);
            if (candidates.picked().isPresent()) {
                walk(peer, candidates.picked().get(), at);
            }
        }
        return List.copyOf(findings);
    }

    private List<InetAddress> name(Surroundings at) {
        try {
            List<InetAddress> addresses = at.resolve(host);
            List<String> texts =
                    addresses.stream().map(Gid::of).map(Gid::toString).toList();
            findings.add(Finding.ok(
                    "name",
                    texts.equals(List.of(host)) ? host + " is an address" : host + " is " + String.join(", ", texts)));
            return addresses;
        } catch (UnknownHostException e) {
            findings.add(Finding.fail(
                    "name",
                    "no such host: \"" + host + "\" (" + e.getMessage() + ")",
                    "check its spelling, /etc/hosts and the name server, or give an address"));
            return List.of();
        }
    }

    private void ownAddress(InetAddress peer, Candidates candidates) {
        Finding finding = candidates
                .picked()
                .map(own -> Finding.ok(
                        "own address",
                        own.gids().isEmpty()
                                ? "one of 127.0.0.0/8 of its own, as every device on loopback has"
                                : own.gids().getFirst().gid() + " on " + own.name()))
                .orElseGet(() -> Finding.fail(
                        "own address",
                        "none reaches " + Gid.of(peer) + ": " + candidates.reason(),
                        Gid.of(peer).isLinkLocal()
                                ? "name the interface, as in " + Gid.of(peer) + "%eth0"
                                : "ip route get " + Gid.of(peer) + " tells more; add an address of its family, or a"
                                        + " route"));
        findings.add(finding.with(candidates.table()));
    }

    private void walk(InetAddress peer, HostInterface own, Surroundings at) {
        Gid to = Gid.of(peer);
        Gid from;
        try (Questions questions = at.questions(own)) {
            from = questions.own();
            findings.add(Finding.ok("own port", "UDP port 4791 at " + from));
            if (!speaks(to, questions)) {
                findings.add(whySilent(peer, from.address(), at));
                return;
            }
            port.ifPresent(service -> findings.add(listens(to, service, own.pathMtu(), questions)));
        } catch (LinkException e) {
            List<String> holders = own.gids().isEmpty()
                    ? List.of()
                    : Port.holders(own.gids().getFirst().gid(), at).stream()
                            .map(finding -> finding.subject() + ": " + finding.seen() + "; " + finding.remedy())
                            .toList();
            findings.add(Finding.fail("own port", String.valueOf(e.getMessage()), "free it, then ask again")
                    .with(holders));
            return;
        }
        findings.add(pathMtu(peer, from.address(), own, at));
    }

    // ---- does the peer speak RoCE v2?

    private boolean speaks(Gid peer, Questions questions) {
        var question = new SidrReq(random.nextLong(), questions.newId(), 0xFFFF, NOBODYS_SERVICE, PrivateData.NONE);
        long started = System.nanoTime();
        Optional<CmMessage> answer = questions.ask(peer, question, timeout);
        long tookNanos = System.nanoTime() - started;
        answer.ifPresent(_ -> findings.add(
                Finding.ok("peer", "%s speaks RoCE v2 and answers in %.1f ms".formatted(peer, tookNanos / 1e6))));
        return answer.isPresent();
    }

    private Finding whySilent(InetAddress peer, InetAddress own, Surroundings at) {
        String subject = "peer";
        Gid gid = Gid.of(peer);
        try {
            return switch (at.knock(own, new InetSocketAddress(peer, RoceV2.UDP_PORT), 1, timeout)) {
                case REFUSED ->
                    Finding.fail(
                            subject,
                            gid + " says that no process has UDP port 4791",
                            "start the program there (a Verbena device exists only while it is open); for soft-RoCE:"
                                    + " rdma link add rxe0 type rxe netdev ETH0. A firewall that rejects, and a card"
                                    + " that does RoCE v1 only, look the same");
                case UNREACHABLE ->
                    Finding.fail(
                            subject,
                            gid + " cannot be reached: a router, a firewall or this host says so",
                            "is the host up, is the address right, and does a firewall forbid it? ip neigh show "
                                    + gid);
                case TOO_LARGE, SILENCE ->
                    at.knock(own, new InetSocketAddress(peer, CLOSED_PORT), 1, timeout) == Echo.REFUSED
                            ? Finding.fail(
                                    subject,
                                    gid + " is up, but does not answer at UDP port 4791",
                                    "does a firewall drop that port, here or there? Is the peer RoCE v1 only, its"
                                            + " kernel without connection manager (modprobe rdma_cm), or a Verbena"
                                            + " program that makes no connections? Is " + gid
                                            + " in its GID table (show_gids)?")
                            : Finding.fail(
                                    subject,
                                    "no answer of any kind from " + gid,
                                    "is the address right, and is the host up? Does a firewall drop UDP port 4791, here, there"
                                            + " or between?");
            };
        } catch (IOException e) {
            return Finding.fail(subject, gid + ": " + e.getMessage(), "does a firewall here forbid UDP port 4791?");
        }
    }

    // ---- does a program listen?

    private Finding listens(Gid peer, int service, Mtu mtu, Questions questions) {
        String subject = "port " + service;
        Req req = request(peer, service, mtu, questions);
        Optional<CmMessage> answer = questions.ask(peer, req, timeout);
        return switch (answer.orElse(null)) {
            case Rej rej -> refusal(subject, rej, service);
            case Rep rep -> {
                questions.tell(peer, reject(req, rep.localCommId(), 1, RejectReason.CONSUMER_REJECT));
                yield Finding.ok(subject, "a program listens, and would have accepted");
            }
            case Mra mra -> {
                questions.tell(peer, reject(req, mra.localCommId(), 2, RejectReason.TIMEOUT));
                yield Finding.ok(subject, "a program listens, and asks for more time");
            }
            case null, default -> {
                questions.tell(peer, reject(req, 0, 2, RejectReason.TIMEOUT));
                yield Finding.warn(
                        subject,
                        "no answer to a request for a connection, though the peer is up",
                        "a program may listen and not decide: is it stuck?");
            }
        };
    }

    /// Returns a request that a peer refuses when it has found the service, and before its program gets it: the
    /// alternate path leads to an address that is not the peer's (IBTA 12.6.7.2, code 18).
    private Req request(Gid peer, int service, Mtu mtu, Questions questions) {
        Gid own = questions.own();
        var header = new IpCmHeader(own.isIpv4(), 0, own.high(), own.low(), peer.high(), peer.low());
        return new Req(
                random.nextLong(),
                questions.newId(),
                IpCmHeader.serviceId(IpCmHeader.PORT_SPACE_TCP, service),
                random.nextLong(1, Long.MAX_VALUE),
                0,
                random.nextInt(2, Endpoint.MULTICAST_QPN),
                1,
                1,
                RESPONSE_TIMEOUT,
                Req.RC,
                false,
                random.nextInt(0x100_0000),
                RESPONSE_TIMEOUT,
                7,
                0xFFFF,
                mtu.code(),
                7,
                CM_RETRIES,
                false,
                path(own, peer),
                path(own, NOBODY),
                header.before(PrivateData.NONE));
    }

    private static CmPath path(Gid from, Gid to) {
        return new CmPath(
                ETHERNET_LID,
                ETHERNET_LID,
                from.high(),
                from.low(),
                to.high(),
                to.low(),
                0,
                0,
                0,
                HOP_LIMIT,
                0,
                false,
                ACK_TIMEOUT);
    }

    private static Rej reject(Req req, int peersCommId, int what, RejectReason reason) {
        return new Rej(
                req.transactionId(),
                req.localCommId(),
                peersCommId,
                what,
                0,
                reason.code(),
                PrivateData.NONE,
                PrivateData.NONE);
    }

    private static Finding refusal(String subject, Rej rej, int service) {
        RejectReason reason = RejectReason.of(rej.reason());
        return switch (reason) {
            case INVALID_SERVICE_ID ->
                Finding.fail(
                        subject,
                        "no program listens there",
                        "start the server, or check its port; RDMA's port " + service + " is not TCP's port "
                                + service);
            case ALTERNATE_GID_REJECTED, ALTERNATE_LID_REJECTED, CONSUMER_REJECT ->
                Finding.ok(subject, "a program listens");
            case NO_RESOURCES, NO_QP ->
                Finding.warn(
                        subject,
                        "a program listens, and refuses for lack of resources",
                        "is the program there stuck, or its backlog too small?");
            case null, default ->
                Finding.warn(
                        subject,
                        "refused with code " + rej.reason()
                                + (reason == null
                                        ? ""
                                        : " ("
                                                + reason.name()
                                                        .toLowerCase(Locale.ROOT)
                                                        .replace('_', ' ') + ")"),
                        "the peer's log may tell more");
        };
    }

    // ---- what size comes through?

    private Finding pathMtu(InetAddress peer, InetAddress own, HostInterface at, Surroundings surroundings) {
        String subject = "path MTU";
        Mtu most = at.pathMtu();
        String of = "of " + most.bytes() + " that " + at.name() + " has room for";
        try {
            if (knocks(surroundings, own, peer, 1) != Echo.REFUSED) {
                return Finding.warn(
                        subject,
                        "not known: the peer does not report packets to a closed port; " + most.bytes() + " is what "
                                + at.name() + " has room for",
                        "when large messages fail and small ones do not, open the device with the option mtu=1024");
            }
            boolean told = false;
            for (Mtu mtu : Mtu.values()) {
                Mtu each = Mtu.values()[Mtu.values().length - 1 - mtu.ordinal()]; // the largest first
                if (each.bytes() > most.bytes()) {
                    continue;
                }
                Echo echo = knocks(surroundings, own, peer, each.bytes() + AROUND_PAYLOAD_BYTES);
                told |= echo == Echo.TOO_LARGE;
                if (echo == Echo.REFUSED) {
                    return each == most
                            ? Finding.ok(subject, each.bytes() + " bytes come through, " + of)
                            : tooNarrow(subject, each, of, told);
                }
            }
            return Finding.fail(
                    subject,
                    "not even 256 bytes come through",
                    "raise the MTU of the links between: 336 is the minimum");
        } catch (IOException e) {
            return Finding.warn(subject, "not known: " + e.getMessage(), "see the findings above");
        }
    }

    /// Returns the finding about a path that is narrower than the interface. Devices take the path MTU from their
    /// interface, so full packets will not arrive.
    private static Finding tooNarrow(String subject, Mtu mtu, String of, boolean told) {
        return Finding.fail(
                subject,
                "only " + mtu.bytes() + " bytes come through, " + of
                        + (told ? "; a router says so" : "; larger packets vanish without an error"),
                "open the device with the option mtu=" + mtu.bytes() + ", or raise the MTU of the links between");
    }

    private Echo knocks(Surroundings at, InetAddress own, InetAddress peer, int bytes) throws IOException {
        Echo echo = Echo.SILENCE;
        for (int i = 0; i < KNOCKS && echo == Echo.SILENCE; i++) {
            echo = at.knock(own, new InetSocketAddress(peer, CLOSED_PORT), bytes, timeout.dividedBy(KNOCKS));
        }
        return echo;
    }
}
