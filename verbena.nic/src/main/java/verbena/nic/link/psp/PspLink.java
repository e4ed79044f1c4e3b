package verbena.nic.link.psp;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.cm.noise.Credentials;
import verbena.cm.noise.KeyExchange;
import verbena.nic.link.ForwardingLink;
import verbena.nic.link.Link;
import verbena.nic.link.LinkException;
import verbena.nic.link.Occupancy;
import verbena.nic.link.OwnSeal;
import verbena.nic.link.PacketPairs;
import verbena.nic.link.PlainSeal;
import verbena.transport.psp.Association;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.psp.PspHeader;
import verbena.wire.psp.PspVerdict;
import verbena.wire.psp.PspVersion;
import verbena.wire.roce.RoceV2;

/// A link that protects packets of a link of UDP by PSP. It agrees on keys with each peer before the first packet
/// leaves ([decision 49](../../../../../../../../docs/decisions/49-psp.md)). Where the policy requires protection,
/// nothing else leaves, and nothing else is taken: what is not protected is counted and dropped. Where it is offered,
/// packets are in the clear to and from a peer that does not answer; where it is off, always.
///
/// The link below leaves packets of PSP as they are ([verbena.nic.link.PlainSeal]). A packet that leaves is sealed
/// into another frame, so the frame above stays as it was. A packet that arrives is opened into memory of this
/// link, which the frame above shows until the next call. Packets to a peer without keys wait, a few of them, until
/// keys are agreed on.
///
/// Threads as in [Link]. Allocates nothing for a packet once there are keys.
public final class PspLink extends ForwardingLink implements PacketPairs {
    /// The bytes that a packet grows by: header, inner UDP header, ICV.
    public static final int OVERHEAD = PspHeader.BYTES + RoceV2.UDP_BYTES + PspHeader.ICV_BYTES;

    private static final int BATCH = 64;
    private static final long SECOND = 1_000_000_000;
    /// A rotation after 10 minutes or 64 GiB; keys are dead after 30 minutes or 256 GiB, fewer bytes than TLS 1.3
    /// allows one key of AES-GCM (RFC 8446, 5.5).
    private static final Association.Limits LIMITS =
            new Association.Limits(1L << 36, 1L << 38, 600 * SECOND, 1_800 * SECOND, 10 * SECOND);

    /// The number of rehearsals after which an agreement takes milliseconds.
    private static final int REHEARSALS = 3;

    private final LongSupplier clock;
    private final Arena arena = Arena.ofShared();
    private final Frame[] departures = Frame.allocate(arena.allocate((long) BATCH * Frame.SLOT_BYTES, 64));
    /// The frames that leave together: those of the batch, and of the engine those in the clear.
    private final Frame[] leaving = new Frame[BATCH];

    private final OpenedPackets opened = new OpenedPackets(arena, BATCH);
    private final Occupancy occupancy = new Occupancy();
    private final PspCiphers ciphers;
    private final PspPeers peers;
    private final PspKeys keys;
    private final PspCounters counters = new PspCounters();

    /// Makes a link whose peers have the secret, and show nothing besides. Otherwise as the other.
    public PspLink(
            Link link,
            byte[] secret,
            PspVersion version,
            PspPolicy policy,
            KeyLog log,
            LongSupplier clock,
            RandomGenerator random) {
        this(link, secret, Credentials.NONE, version, policy, log, clock, random);
    }

    /// @param link closed with this one; it must not seal packets of PSP
    /// @param secret that all devices have which may talk with each other, of at least 16 bytes
    /// @param credentials what this device shows of who it is, and asks for
    /// @param version of the packets, the same at all these devices
    /// @param policy whose packets are protected
    /// @param log gets all keys
    /// @param clock nanoseconds, monotonic
    /// @param random unpredictable to anybody
    public PspLink(
            Link link,
            byte[] secret,
            Credentials credentials,
            PspVersion version,
            PspPolicy policy,
            KeyLog log,
            LongSupplier clock,
            RandomGenerator random) {
        this(
                link,
                secret,
                credentials,
                new PspCiphers(version, PspCiphers.isLibcryptoThere(), log),
                policy,
                clock,
                random,
                LIMITS);
    }

    PspLink(
            Link link,
            byte[] secret,
            Credentials credentials,
            PspCiphers ciphers,
            PspPolicy policy,
            LongSupplier clock,
            RandomGenerator random,
            Association.Limits limits) {
        super(link);
        this.ciphers = ciphers;
        this.clock = clock;
        peers = new PspPeers(ciphers.version(), policy, limits, random::nextInt);
        keys = new PspKeys(link, secret, credentials, ciphers, peers, counters, clock, random, arena);
    }

    /// Prepares this process for agreements, so that the first takes no longer than others.
    public static void rehearse() {
        KeyExchange.rehearse(PspCiphers.curve(PspCiphers.isLibcryptoThere()), REHEARSALS);
    }

    @Override
    public int packetMax() {
        return Math.min(link.packetMax(), Frame.PACKET_MAX) - OVERHEAD & ~3;
    }

    /// Returns the service of the link below, but it has no seal of its own kind: packets look as they would without
    /// PSP.
    @Override
    public <T> @Nullable T service(Class<T> kind) {
        return kind == OwnSeal.class ? null : super.service(kind);
    }

    /// Returns whether both leave now, and the link below keeps them together: they grow by as much.
    @Override
    public boolean keepsTogether(Frame first, Frame next) {
        PspPeer peer = peers.to(first);
        boolean isLeaving = peer == null
                ? peers.modeOf(first.destinationHigh, first.destinationLow) == PspPolicy.Mode.OFF
                : peer.isPlain || peer.hasKeys(clock.getAsLong());
        return isLeaving && link instanceof PacketPairs inside && inside.keepsTogether(first, next);
    }

    // --- receiving

    @Override
    public int receive(Frame[] frames, int from, int count) {
        try (Occupancy.Stay stay = occupancy.move()) {
            if (stay == null) {
                return 0;
            }
            int arrived = link.receive(frames, from, Math.min(count, BATCH));
            long now = clock.getAsLong();
            int taken = 0;
            for (int i = 0; i < arrived; i++) {
                if (take(frames[from + i], frames[from + taken], taken, now)) {
                    taken++;
                }
            }
            keys.onTime(now);
            while (taken < count && keys.plain().hasRefusals()) {
                frames[from + taken++].copyFrom(
                        Objects.requireNonNull(keys.plain().nextRefusal()));
            }
            return taken;
        }
    }

    @Override
    public boolean hasArrivals() {
        return keys.plain().hasRefusals() || link.hasArrivals();
    }

    /// Opens what arrived; whether it is a packet for the engine.
    ///
    /// @param into the frame that shows the packet then; may be the one that arrived
    /// @param place of the packet among those of this call
    private boolean take(Frame frame, Frame into, int place, long now) {
        int port = frame.secondPort;
        frame.secondPort = 0; // above, packets have one port
        if (port == 0 && PlainSeal.isPlain(frame)) {
            return takePlain(frame, into, now);
        }
        if (KeyExchange.isMessage(frame.slot, frame.start, frame.length)) {
            keys.onMessage(frame, port, now);
            return false;
        }
        PspVerdict verdict = PspHeader.check(frame.slot, frame.start, frame.length);
        if (verdict == PspVerdict.ACCEPTED) {
            verdict = open(frame, into, place, port, now);
        }
        if (verdict != PspVerdict.ACCEPTED) {
            counters.count(verdict);
            return false;
        }
        return into.length > 0;
    }

    /// Judges a packet in the clear by the policy.
    private boolean takePlain(Frame frame, Frame into, long now) {
        boolean isWelcome = switch (peers.modeOf(frame.sourceHigh, frame.sourceLow)) {
            case REQUIRED -> false;
            case OFF -> true;
            case OFFERED -> {
                PspPeer peer = peers.from(frame);
                yield peer == null || peer.maySendPlain(now);
            }
        };
        if (!isWelcome) {
            counters.plain.incrementAndGet();
            keys.plain().refuse(frame, now);
            return false;
        }
        counters.taken.incrementAndGet();
        if (into != frame) {
            into.copyFrom(frame);
        }
        return true;
    }

    private PspVerdict open(Frame frame, Frame into, int place, int port, long now) {
        int spi = PspHeader.spi(frame.slot, frame.start);
        PspPeer peer = peers.bySpi(spi);
        if (peer != null && !peer.isFrom(frame)) {
            return PspVerdict.UNEXPECTED;
        }
        PspVerdict verdict = peer == null
                ? PspVerdict.UNKNOWN
                : peer.association.open(
                        frame.slot, frame.start, frame.length, opened.memory(), OpenedPackets.at(place), now);
        if (peer == null || verdict != PspVerdict.ACCEPTED) {
            if (verdict == PspVerdict.UNKNOWN) {
                keys.onUnknown(frame, spi, now);
            }
            return verdict;
        }
        keys.onOpened(peer, spi, port, now);
        return opened.show(place, frame, into);
    }

    // --- sending

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        try (Occupancy.Stay stay = occupancy.move()) {
            return stay == null ? 0 : send(frames, from, count);
        }
    }

    private int send(Frame[] frames, int from, int count) {
        long now = clock.getAsLong();
        int done = 0;
        while (done < count) {
            int run = 0;
            int most = Math.min(count - done, BATCH);
            boolean isLeaving = true;
            while (run < most && isLeaving) {
                Frame next = leaving(frames[from + done + run], departures[run], now);
                isLeaving = next != null;
                if (next != null) {
                    leaving[run++] = next;
                }
            }
            int left = run == 0 ? 0 : link.transmit(leaving, 0, run);
            for (int i = 0; i < left; i++) {
                frames[from + done + i].marks.unsendable |= leaving[i].marks.unsendable;
            }
            done += left;
            if (left < run) {
                break;
            }
            if (!isLeaving) {
                done++; // it waits, or was refused
            }
        }
        keys.publishDue();
        return done;
    }

    /// Returns the frame that leaves in the place of one: the protected form, which is written into another one, or
    /// the same in the clear; null when none leaves now.
    private @Nullable Frame leaving(Frame frame, Frame into, long now) {
        PspPeer peer = peers.to(frame);
        if (peer == null) {
            if (frame.length <= packetMax()) {
                if (peers.modeOf(frame.destinationHigh, frame.destinationLow) == PspPolicy.Mode.OFF) {
                    return frame;
                }
                peer = keys.meet(frame, now);
            }
            if (peer == null) {
                frame.marks.unsendable = true;
                counters.refused.incrementAndGet();
                return null;
            }
        }
        if (peer.wantsKeys(now)) {
            keys.renew(peer, now);
        }
        if (peer.isPlain) {
            return frame;
        }
        if (peer.seal(frame, into, now)) {
            return into;
        }
        keys.keepWaiting(peer, frame, now);
        return null;
    }

    // --- time

    /// Sleeps as [Link#await(long)] does; also returns when a message of an agreement has to be repeated.
    @Override
    public void await(long timeoutNanos) {
        try {
            link.await(keys.sleep().begin(timeoutNanos));
        } finally {
            keys.sleep().end();
        }
    }

    @Override
    public int fallAsleep(long timeoutNanos) {
        int count = link.fallAsleep(keys.sleep().begin(timeoutNanos));
        if (count == 0) {
            keys.sleep().end();
        }
        return count;
    }

    @Override
    public void awake() {
        keys.sleep().end();
        link.awake();
    }

    // --- what it does not do

    /// @throws LinkException always: a group has no keys
    @Override
    public void join(Gid group) {
        throw new LinkException(
                LinkException.Kind.UNSUPPORTED,
                "multicast group " + group + ": psp=on protects packets to one peer, and a group has no keys");
    }

    @Override
    public void leave(Gid group) {}

    // --- counters, and the end

    @Override
    public long unsendable() {
        return link.unsendable() + counters.refused.get();
    }

    /// Returns the counters of the link below; `psp.peers.now`; `psp.port.now`, the port at which peers that can do
    /// it too send to this end; dropped packets, by reason; and agreements.
    @Override
    public Map<String, Long> counters() {
        var all = new TreeMap<>(link.counters());
        counters.report(all);
        all.put("psp.port.now", (long) (keys.port() == 0 ? RoceV2.UDP_PORT : keys.port()));
        return all;
    }

    /// Returns how the packets of each peer are protected. Any thread; the values may be a moment old.
    public List<PspStatus> peers() {
        return peers.statuses(clock.getAsLong());
    }

    @Override
    public void close() {
        if (occupancy.close(link::wakeup)) {
            link.close();
            peers.close();
            ciphers.close();
            arena.close();
        }
    }
}
