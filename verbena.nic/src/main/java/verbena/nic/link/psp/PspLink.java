package verbena.nic.link.psp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.cm.noise.KeyExchange;
import verbena.cm.noise.X25519;
import verbena.nic.link.ForwardingLink;
import verbena.nic.link.Link;
import verbena.nic.link.LinkException;
import verbena.nic.link.Occupancy;
import verbena.nic.link.OwnSeal;
import verbena.nic.link.PacketPairs;
import verbena.transport.psp.Association;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.psp.PspCipher;
import verbena.wire.psp.PspHeader;
import verbena.wire.psp.PspMasterKey;
import verbena.wire.psp.PspVerdict;
import verbena.wire.psp.PspVersion;
import verbena.wire.roce.RoceV2;

/// A link that protects all packets of a link of UDP by PSP. It agrees on keys with each peer before the first
/// packet leaves ([decision 49](../../../../../../../../docs/decisions/49-psp.md)). Nothing else
/// leaves, and nothing else is taken: what is not protected is counted and dropped.
///
/// The link below leaves packets as they are ([verbena.nic.link.NoSeal]). A packet that leaves is sealed into another
/// frame, so the frame above stays as it was. A packet that arrives is opened into memory of this link, which the
/// frame above shows until the next call. Packets to a peer without keys wait, a few of them, until keys are agreed
/// on.
///
/// Threads as in [Link]. Allocates nothing for a packet once there are keys.
public final class PspLink extends ForwardingLink {
    /// The bytes that a packet grows by: header, inner UDP header, ICV.
    public static final int OVERHEAD = PspHeader.BYTES + RoceV2.UDP_BYTES + PspHeader.ICV_BYTES;

    private static final int BATCH = 64;
    private static final int SINGLE = BATCH;
    private static final long SECOND = 1_000_000_000;
    /// A rotation after 10 minutes or 2^30 packets; keys are dead after 30 minutes or 2^32 packets.
    private static final Association.Limits LIMITS =
            new Association.Limits(1L << 30, 1L << 32, 600 * SECOND, 1_800 * SECOND, 10 * SECOND);
    private static final long SWEEP_NANOS = 10 * SECOND;
    /// The number of packets that wait for the keys of a peer, and for those of all peers.
    private static final int WAITING_MAX = 8;
    private static final int ALL_WAITING_MAX = 256;

    /// The number of rehearsals after which an agreement takes milliseconds.
    private static final int REHEARSALS = 3;

    private static final int TRANSPORT_VERSION_BITS = 0xF;

    private final LongSupplier clock;
    private final RandomGenerator random;
    private final Arena arena = Arena.ofShared();
    private final PspCiphers ciphers;
    /// The frames of a batch, and one for messages of this link.
    private final Frame[] departures = Frame.allocate(arena.allocate((BATCH + 1L) * Frame.SLOT_BYTES, 64));
    private final OpenedPackets opened = new OpenedPackets(arena, BATCH);
    private final Occupancy occupancy = new Occupancy();
    private final KeyExchange exchange;
    private final PspPeers peers;
    private final PspCounters counters = new PspCounters();
    private final PspSleep sleep;
    private final PlainRefusal refusal;
    private int waiting;
    private long sweepNanos;
    /// Whether the time of the next deadline may have changed.
    private boolean isDueChanged;

    /// @param link closed with this one; it must not seal
    /// @param secret that all devices have which may talk with each other, of at least 16 bytes
    /// @param version of the packets, the same at all these devices
    /// @param log gets all keys
    /// @param clock nanoseconds, monotonic
    /// @param random unpredictable to anybody
    public PspLink(
            Link link, byte[] secret, PspVersion version, KeyLog log, LongSupplier clock, RandomGenerator random) {
        this(link, secret, new PspCiphers(version, PspCiphers.isLibcryptoThere(), log), clock, random, LIMITS);
    }

    PspLink(
            Link link,
            byte[] secret,
            PspCiphers ciphers,
            LongSupplier clock,
            RandomGenerator random,
            Association.Limits limits) {
        super(link);
        this.ciphers = ciphers;
        this.clock = clock;
        this.random = random;
        sleep = new PspSleep(clock);
        peers = new PspPeers(ciphers.version(), limits, random::nextInt);
        long now = clock.getAsLong();
        sweepNanos = now + SWEEP_NANOS;
        refusal = new PlainRefusal(link, now);
        exchange = new KeyExchange(secret, ciphers.version().name(), new Host(), counters::count, now);
    }

    /// Prepares this process for agreements, so that the first takes no longer than others.
    public static void rehearse() {
        KeyExchange.rehearse(PspCiphers.curve(PspCiphers.isLibcryptoThere()), REHEARSALS);
    }

    @Override
    public int packetMax() {
        return Math.min(link.packetMax(), Frame.PACKET_MAX) - OVERHEAD & ~3;
    }

    /// Returns the service of the link below, but none for pairs: packets of a pair grow, so they may not fit into
    /// one piece any more. Nor has it a seal of its own kind: packets look as they would without PSP.
    @Override
    public <T> @Nullable T service(Class<T> kind) {
        return kind == PacketPairs.class || kind == OwnSeal.class ? null : super.service(kind);
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
            onTime(now);
            return taken;
        }
    }

    /// Opens what arrived; whether it is a packet for the engine.
    ///
    /// @param into the frame that shows the packet then; may be the one that arrived
    /// @param place of the packet among those of this call
    private boolean take(Frame frame, Frame into, int place, long now) {
        if (KeyExchange.isMessage(frame.slot, frame.start, frame.length)) {
            isDueChanged = true;
            exchange.onMessage(pairFrom(frame), frame.slot, frame.start, frame.length, now);
            return false;
        }
        // Plain packets have a transport version of 0 where a header of PSP has its length, 1 or more.
        if ((BigEndian.u8(frame.slot, frame.start + 1) & TRANSPORT_VERSION_BITS) == 0) {
            counters.plain.incrementAndGet();
            if (refusal.answer(frame, departures[SINGLE], now)) {
                int _ = link.transmit(departures, SINGLE, 1);
            }
            return false;
        }
        PspVerdict verdict = PspHeader.check(frame.slot, frame.start, frame.length);
        if (verdict == PspVerdict.ACCEPTED) {
            verdict = open(frame, into, place, now);
        }
        if (verdict != PspVerdict.ACCEPTED) {
            counters.count(verdict);
            return false;
        }
        return into.length > 0;
    }

    private PspVerdict open(Frame frame, Frame into, int place, long now) {
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
            if (verdict == PspVerdict.UNKNOWN && exchange.mayTellUnknown(now)) {
                exchange.tellUnknown(pairFrom(frame), spi);
            }
            return verdict;
        }
        if (peer.unconfirmedSpi == spi) {
            peer.unconfirmedSpi = 0;
            isDueChanged = true;
            exchange.onConfirmed(peer.pair);
            sendWaiting(peer, now);
        }
        return opened.show(place, frame, into);
    }

    private static KeyExchange.Pair pairFrom(Frame frame) {
        return new KeyExchange.Pair(
                new Gid(frame.destinationHigh, frame.destinationLow), new Gid(frame.sourceHigh, frame.sourceLow));
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
            boolean isSealed = true;
            while (run < most && isSealed) {
                isSealed = seal(frames[from + done + run], departures[run], now);
                run += isSealed ? 1 : 0;
            }
            int left = run == 0 ? 0 : link.transmit(departures, 0, run);
            for (int i = 0; i < left; i++) {
                frames[from + done + i].marks.unsendable |= departures[i].marks.unsendable;
            }
            done += left;
            if (left < run) {
                break;
            }
            if (!isSealed) {
                done++; // it waits, or was refused
            }
        }
        publishDue();
        return done;
    }

    /// Writes the protected form of a frame into another one; false when it does not leave now.
    private boolean seal(Frame frame, Frame into, long now) {
        PspPeer peer = peers.to(frame);
        if (peer == null) {
            peer = meet(frame, now);
            if (peer == null) {
                frame.marks.unsendable = true;
                counters.refused.incrementAndGet();
                return false;
            }
        }
        if (peer.association.wantsKeys(now)) {
            renew(peer, now);
        }
        peer.seal.seal(frame, 0);
        int udpAt = frame.start - RoceV2.UDP_BYTES; // scratch of the frame
        int udpBytes = RoceV2.UDP_BYTES + frame.length;
        BigEndian.put32(frame.slot, udpAt, frame.sourcePort << 16 | RoceV2.UDP_PORT);
        BigEndian.put32(frame.slot, udpAt + 4, udpBytes << 16);
        int bytes =
                peer.association.seal(frame.slot, udpAt, udpBytes, into.slot, Frame.HEADROOM, OpenedPackets.UDP, now);
        if (bytes == Association.NO_KEYS) {
            keepWaiting(peer, frame);
            return false;
        }
        into.length = bytes;
        into.copyWay(frame);
        into.marks.unsendable = false;
        return true;
    }

    /// Adds the peer that a frame goes to; null when there cannot be one.
    private @Nullable PspPeer meet(Frame frame, long now) {
        if (RoceV2.isMulticast(frame.destinationHigh, frame.destinationLow)
                || frame.length > packetMax()
                || !isOwn(frame.sourceHigh, frame.sourceLow)) {
            return null;
        }
        return meet(
                new KeyExchange.Pair(
                        new Gid(frame.sourceHigh, frame.sourceLow),
                        new Gid(frame.destinationHigh, frame.destinationLow)),
                now);
    }

    private @Nullable PspPeer meet(KeyExchange.Pair pair, long now) {
        PspPeer known = peers.of(pair);
        if (known != null) {
            return known;
        }
        int port = link.sourcePort(pair.local(), pair.remote());
        PspPeer peer = peers.add(pair, port == 0 ? RoceV2.UDP_PORT : port, now);
        counters.peers = peers.count();
        isDueChanged = true; // there is something to sweep
        return peer;
    }

    private boolean isOwn(long high, long low) {
        for (GidEntry entry : link.gids()) {
            if (entry.gid().low() == low && entry.gid().high() == high) {
                return true;
            }
        }
        return false;
    }

    /// Begins to agree on other keys. Two own addresses get them without a peer.
    private void renew(PspPeer peer, long now) {
        if (!isOwn(peer.pair.remote().high(), peer.pair.remote().low())) {
            isDueChanged = true;
            exchange.begin(peer.pair, now);
            return;
        }
        PspPeer mirror = meet(peer.pair.reversed(), now);
        if (mirror == null) {
            return;
        }
        byte[] there = drawn();
        byte[] back = mirror == peer ? there : drawn();
        int spi = peers.chooseSpi(peer, now);
        int mirrorSpi = mirror == peer ? spi : peers.chooseSpi(mirror, now);
        peer.association.install(
                new Association.Keys(mirrorSpi, ciphers.cipher(mirrorSpi, there), spi, ciphers.cipher(spi, back)), now);
        if (mirror != peer) {
            mirror.association.install(
                    new Association.Keys(spi, ciphers.cipher(spi, back), mirrorSpi, ciphers.cipher(mirrorSpi, there)),
                    now);
        }
    }

    private byte[] drawn() {
        byte[] key = new byte[ciphers.version().keyBytes()];
        random.nextBytes(key);
        return key;
    }

    // --- packets that wait for keys

    private void keepWaiting(PspPeer peer, Frame frame) {
        if (peer.waiting.size() == WAITING_MAX || waiting == ALL_WAITING_MAX) {
            counters.unsealed.incrementAndGet();
            return;
        }
        Frame copy = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 64))[0];
        copy.copyFrom(frame);
        peer.waiting.add(copy);
        waiting++;
    }

    private void sendWaiting(PspPeer peer, long now) {
        for (Frame frame = peer.waiting.poll(); frame != null; frame = peer.waiting.poll()) {
            waiting--;
            if (!seal(frame, departures[SINGLE], now) || link.transmit(departures, SINGLE, 1) == 0) {
                counters.unsealed.incrementAndGet();
            }
        }
    }

    /// The link as the exchange of keys uses it.
    private final class Host implements KeyExchange.Host {
        @Override
        public void send(KeyExchange.Pair pair, byte[] message) {
            Frame frame = departures[SINGLE];
            MemorySegment.copy(message, 0, frame.slot, ValueLayout.JAVA_BYTE, Frame.HEADROOM, message.length);
            transmit(pair, message.length);
        }

        @Override
        public int chooseSpi(KeyExchange.Pair pair) {
            long now = clock.getAsLong();
            PspPeer peer = meet(pair, now);
            return peer == null ? 0 : peers.chooseSpi(peer, now);
        }

        @Override
        public void onAgreed(KeyExchange.Pair pair, KeyExchange.Agreed agreed) {
            PspPeer peer = peers.of(pair);
            if (peer == null) {
                return; // the agreement took too long
            }
            long now = clock.getAsLong();
            var keys = new Association.Keys(
                    agreed.sealingSpi(),
                    cipher(agreed.sealing(), agreed.sealingSpi()),
                    agreed.openingSpi(),
                    cipher(agreed.opening(), agreed.openingSpi()));
            if (agreed.isKnownToPeer()) {
                peer.unconfirmedSpi = 0;
                peer.association.install(keys, now);
                sendWaiting(peer, now);
            } else {
                peer.unconfirmedSpi = agreed.openingSpi();
                peer.association.offer(keys, now);
            }
        }

        private PspCipher cipher(byte[] master, int spi) {
            return ciphers.cipher(spi, new PspMasterKey(master).derive(spi, ciphers.version()));
        }

        @Override
        public void confirm(KeyExchange.Pair pair) {
            PspPeer peer = peers.of(pair);
            int bytes = peer == null
                    ? Association.NO_KEYS
                    : peer.association.seal(
                            departures[SINGLE].slot,
                            0,
                            0,
                            departures[SINGLE].slot,
                            Frame.HEADROOM,
                            OpenedPackets.NOTHING,
                            clock.getAsLong());
            if (bytes != Association.NO_KEYS) {
                transmit(pair, bytes);
            }
        }

        /// Sends what was written into the single frame. What finds no room is repeated as if it was lost.
        private void transmit(KeyExchange.Pair pair, int bytes) {
            Frame frame = departures[SINGLE];
            frame.length = bytes;
            frame.sourceHigh = pair.local().high();
            frame.sourceLow = pair.local().low();
            frame.destinationHigh = pair.remote().high();
            frame.destinationLow = pair.remote().low();
            frame.sourcePort = RoceV2.UDP_PORT;
            frame.trafficClass = 0;
            frame.hopLimit = 0;
            int _ = link.transmit(departures, SINGLE, 1);
        }

        @Override
        public boolean sealsUnder(KeyExchange.Pair pair, int spi) {
            PspPeer peer = peers.of(pair);
            return peer != null && peer.association.sealsUnder(spi);
        }

        @Override
        public void onFailed(KeyExchange.Pair pair) {
            PspPeer peer = peers.of(pair);
            if (peer != null) {
                waiting -= peer.waiting.size();
                counters.unsealed.addAndGet(peer.waiting.size());
                peer.waiting.clear();
            }
        }

        @Override
        public X25519 curve() {
            return ciphers.curve();
        }

        @Override
        public void draw(byte[] into) {
            random.nextBytes(into);
        }
    }

    // --- time

    private void onTime(long now) {
        if (sleep.isDue(now)) {
            isDueChanged = true;
            exchange.onDeadline(now);
            if (now - sweepNanos >= 0) {
                sweepNanos = now + SWEEP_NANOS;
                peers.forgetDead(now);
                counters.peers = peers.count();
            }
        }
        publishDue();
    }

    private void publishDue() {
        if (!isDueChanged) {
            return;
        }
        isDueChanged = false;
        long due = exchange.deadlineNanos();
        if (peers.count() > 0 && (due == KeyExchange.NEVER || sweepNanos - due < 0)) {
            due = sweepNanos;
        }
        if (sleep.set(due)) {
            link.wakeup();
        }
    }

    /// Sleeps as [Link#await(long)] does; also returns when a message of an agreement has to be repeated.
    @Override
    public void await(long timeoutNanos) {
        try {
            link.await(sleep.begin(timeoutNanos));
        } finally {
            sleep.end();
        }
    }

    @Override
    public int fallAsleep(long timeoutNanos) {
        int count = link.fallAsleep(sleep.begin(timeoutNanos));
        if (count == 0) {
            sleep.end();
        }
        return count;
    }

    @Override
    public void awake() {
        sleep.end();
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

    /// Returns the counters of the link below; `psp.peers.now`; dropped packets, by reason; and agreements.
    @Override
    public Map<String, Long> counters() {
        var all = new TreeMap<>(link.counters());
        counters.report(all);
        return all;
    }

    @Override
    public void close() {
        if (occupancy.close(link::wakeup)) {
            link.close();
            peers.close();
            arena.close();
        }
    }
}
