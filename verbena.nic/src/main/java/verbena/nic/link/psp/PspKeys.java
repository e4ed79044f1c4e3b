package verbena.nic.link.psp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.cm.noise.Credentials;
import verbena.cm.noise.KeyExchange;
import verbena.cm.noise.X25519;
import verbena.nic.link.Link;
import verbena.nic.link.SecondPort;
import verbena.transport.psp.Association;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;
import verbena.wire.psp.PspCipher;
import verbena.wire.psp.PspMasterKey;
import verbena.wire.roce.RoceV2;

/// The agreements of a [PspLink] with its peers: it begins them, sends their messages, hands out what waited for
/// keys, and forgets keys and peers when their time has come. One owner, the same as that of the link.
final class PspKeys implements KeyExchange.Host {
    private static final System.Logger LOGGER = System.getLogger("verbena.nic");
    private static final long SWEEP_NANOS = 10_000_000_000L;

    private final Link link;
    private final Credentials credentials;
    private final LongSupplier clock;
    private final RandomGenerator random;
    private final PspCiphers ciphers;
    private final PspPeers peers;
    private final PlainPeers plain;
    private final PspCounters counters;
    private final WaitingPackets waiting;
    private final PspSleep sleep;
    private final KeyExchange exchange;
    /// The second port of the link; 0 when it has none.
    private final int port;
    /// The second port if the message that is handled came to it; else 0.
    private int portOfMessage;
    /// The frame of messages and of packets that have waited.
    private final Frame[] single;

    private long sweepNanos;
    /// The time before which no refusal is logged.
    private long silentNanos;
    /// Whether the time of the next deadline may have changed.
    private boolean isDueChanged;

    /// @param link sends
    /// @param secret that all devices have which may talk with each other
    /// @param credentials what this device shows of who it is, and asks for
    /// @param clock nanoseconds, monotonic
    /// @param random unpredictable to anybody
    /// @param arena of the memory for messages
    PspKeys(
            Link link,
            byte[] secret,
            Credentials credentials,
            PspCiphers ciphers,
            PspPeers peers,
            PspCounters counters,
            LongSupplier clock,
            RandomGenerator random,
            Arena arena) {
        this.link = link;
        this.credentials = credentials;
        this.clock = clock;
        this.random = random;
        this.ciphers = ciphers;
        this.peers = peers;
        this.counters = counters;
        waiting = new WaitingPackets(link, counters, arena);
        sleep = new PspSleep(clock);
        single = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64));
        SecondPort second = link.service(SecondPort.class);
        port = second == null ? 0 : second.secondPort();
        long now = clock.getAsLong();
        plain = new PlainPeers(link, peers, waiting, counters, arena, now);
        sweepNanos = now + SWEEP_NANOS;
        silentNanos = now;
        String use = ciphers.version().name() + (credentials == Credentials.NONE ? "" : ", certificates");
        exchange = new KeyExchange(secret, use, this, counters::count, now);
    }

    /// Returns the peers without keys.
    PlainPeers plain() {
        return plain;
    }

    /// Returns the sleep that ends when there is something to do here.
    PspSleep sleep() {
        return sleep;
    }

    static KeyExchange.Pair pairFrom(Frame frame) {
        return new KeyExchange.Pair(
                new Gid(frame.destinationHigh, frame.destinationLow), new Gid(frame.sourceHigh, frame.sourceLow));
    }

    /// Takes a message of an agreement.
    ///
    /// @param at the second port if it came there, else 0
    void onMessage(Frame frame, int at, long now) {
        if (peers.modeOf(frame.sourceHigh, frame.sourceLow) == PspPolicy.Mode.OFF) {
            counters.count(KeyExchange.Count.STRAY);
            return;
        }
        isDueChanged = true;
        portOfMessage = at;
        exchange.onMessage(pairFrom(frame), frame.slot, frame.start, frame.length, now);
    }

    /// Tells the sender of a packet that this end has no keys for its SPI, a few times a second.
    void onUnknown(Frame frame, int spi, long now) {
        if (exchange.mayTellUnknown(now)) {
            exchange.tellUnknown(pairFrom(frame), spi);
        }
    }

    /// Notes that a packet was opened by an SPI: the peer has these keys. Packets to it go where the first came.
    ///
    /// A later packet at the second port shows that both ways there are open. Then the peer had repeated its last
    /// message at the first port only because this end was slow, and packets go to the second port after all.
    ///
    /// @param at the second port if it came there, else 0
    void onOpened(PspPeer peer, int spi, int at, long now) {
        peer.onHeard();
        if (peer.unconfirmedSpi == spi) {
            peer.unconfirmedSpi = 0;
            peer.port = at;
            isDueChanged = true;
            exchange.onConfirmed(peer.pair);
            plain.onKeys(peer);
            waiting.send(peer, now);
        } else if (peer.port == 0 && at != 0 && peer.association.opensUnder(spi)) {
            peer.port = at;
        }
    }

    /// Keeps a packet until there are keys, if there is room.
    void keepWaiting(PspPeer peer, Frame frame, long now) {
        waiting.keep(peer, frame);
        isDueChanged |= plain.isWaiting(peer, now);
    }

    /// Returns the peer that a frame goes to, which is a new one; null when there cannot be one.
    @Nullable
    PspPeer meet(Frame frame, long now) {
        if (RoceV2.isMulticast(frame.destinationHigh, frame.destinationLow)
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
        int from = link.sourcePort(pair.local(), pair.remote());
        PspPeer peer = peers.add(pair, from == 0 ? RoceV2.UDP_PORT : from, now);
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
    void renew(PspPeer peer, long now) {
        if (!isOwn(peer.pair.remote().high(), peer.pair.remote().low())) {
            isDueChanged = true;
            exchange.begin(peer.pair, now);
            return;
        }
        PspPeer mirror = meet(peer.pair.reversed(), now);
        if (mirror == null) {
            return;
        }
        peer.port = port;
        mirror.port = port;
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

    // --- what the exchange asks for

    @Override
    public void send(KeyExchange.Pair pair, byte[] message, int to) {
        MemorySegment.copy(message, 0, single[0].slot, ValueLayout.JAVA_BYTE, Frame.HEADROOM, message.length);
        PspPeer peer = peers.of(pair);
        boolean isClosed = peer != null && peer.port == 0 && peer.association.sealingSpi() != 0;
        transmit(pair, message.length, isClosed ? 0 : to);
    }

    @Override
    public int port() {
        return port;
    }

    /// Sends what was written into the single frame. What finds no room is repeated as if it was lost.
    private void transmit(KeyExchange.Pair pair, int bytes, int to) {
        Frame frame = single[0];
        frame.length = bytes;
        frame.sourceHigh = pair.local().high();
        frame.sourceLow = pair.local().low();
        frame.destinationHigh = pair.remote().high();
        frame.destinationLow = pair.remote().low();
        frame.sourcePort = RoceV2.UDP_PORT;
        frame.secondPort = to;
        frame.trafficClass = 0;
        frame.hopLimit = 0;
        int _ = link.transmit(single, 0, 1);
    }

    @Override
    public int chooseSpi(KeyExchange.Pair pair) {
        long now = clock.getAsLong();
        PspPeer peer = peers.of(pair);
        if (peer == null && peers.hasRoomFor(pair.remote())) {
            peer = meet(pair, now);
        }
        return peer == null ? 0 : peers.chooseSpi(peer, now);
    }

    @Override
    public void onAgreed(KeyExchange.Pair pair, KeyExchange.Agreed agreed) {
        PspPeer peer = peers.of(pair);
        if (peer == null) {
            return; // the agreement took too long
        }
        long now = clock.getAsLong();
        PspEvents.agreed(peer, ciphers.version().name(), agreed.sealingSpi());
        var keys = new Association.Keys(
                agreed.sealingSpi(),
                cipher(agreed.sealing(), agreed.sealingSpi()),
                agreed.openingSpi(),
                cipher(agreed.opening(), agreed.openingSpi()));
        if (agreed.isKnownToPeer()) {
            peer.unconfirmedSpi = 0;
            peer.port = portOfMessage;
            peer.association.install(keys, now);
            plain.onKeys(peer);
            waiting.send(peer, now);
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
        int bytes = peer == null ? Association.NO_KEYS : peer.sealNothing(single[0], clock.getAsLong());
        if (peer != null && bytes != Association.NO_KEYS) {
            peer.port = portOfMessage; // where the peer's last try came through
            transmit(pair, bytes, peer.port);
        }
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
            plain.onSilent(peer, clock.getAsLong());
        }
    }

    @Override
    public void onRefused(KeyExchange.Pair pair, String why) {
        long now = clock.getAsLong();
        if (now - silentNanos >= 0) {
            silentNanos = now + SWEEP_NANOS;
            LOGGER.log(System.Logger.Level.WARNING, "{0} gets no keys: {1}", pair.remote(), why);
        }
    }

    @Override
    public Credentials credentials() {
        return credentials;
    }

    @Override
    public X25519 curve() {
        return ciphers.curve();
    }

    @Override
    public void draw(byte[] into) {
        random.nextBytes(into);
    }

    // --- time

    void onTime(long now) {
        if (sleep.isDue(now)) {
            isDueChanged = true;
            exchange.onDeadline(now);
            plain.onTime(now);
            if (now - sweepNanos >= 0) {
                sweepNanos = now + SWEEP_NANOS;
                peers.forgetDead(now);
                counters.peers = peers.count();
                counters.plainPeers = peers.countPlain();
            }
        }
        publishDue();
    }

    /// Sets the time at which the link has work, and wakes a thread that would sleep beyond it.
    void publishDue() {
        if (!isDueChanged) {
            return;
        }
        isDueChanged = false;
        long due = exchange.deadlineNanos();
        if (peers.count() > 0 && (due == KeyExchange.NEVER || sweepNanos - due < 0)) {
            due = sweepNanos;
        }
        long patience = plain.deadlineNanos();
        if (patience != KeyExchange.NEVER && (due == KeyExchange.NEVER || patience - due < 0)) {
            due = patience;
        }
        if (sleep.set(due)) {
            link.wakeup();
        }
    }
}
