package verbena.nic.link.psp;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;
import verbena.cm.noise.KeyExchange;
import verbena.nic.link.UdpSeal;
import verbena.transport.psp.Association;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.psp.PspVersion;

/// The peers of a [PspLink]: found by an SPI of this end, or by the addresses of a packet that leaves. One owner;
/// finding allocates nothing.
final class PspPeers {
    static final int PEERS_MAX = 4_096;
    /// The most peers of one network of IPv6, whose hosts have as many addresses as they like, that may ask for keys.
    static final int OF_NETWORK_MAX = 256;

    /// Longer than any agreement takes.
    private static final long KEPT_NANOS = 60_000_000_000L;

    private static final int INDEX_BITS = 12;
    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;
    private static final int GENERATIONS = 1 << (31 - INDEX_BITS);
    /// Twice as many as peers, so that a search is short.
    private static final int SLOTS = 2 * PEERS_MAX;

    private final @Nullable PspPeer[] byIndex = new PspPeer[PEERS_MAX];
    /// The places in `byIndex`, increased by one; 0 is free. A ring with open addressing.
    private final short[] byAddress = new short[SLOTS];

    private final Map<Integer, UdpSeal> seals = new HashMap<>();
    private final PspVersion version;
    private final PspPolicy policy;
    private final Association.Limits limits;
    private final IntUnaryOperator random;
    private int count;
    private int lastIndex;
    private @Nullable PspPeer lastTo;

    /// @param version of the packets of all
    /// @param policy tells what is asked of each
    /// @param limits of the keys of each
    /// @param random draws a number below its argument
    PspPeers(PspVersion version, PspPolicy policy, Association.Limits limits, IntUnaryOperator random) {
        this.version = version;
        this.policy = policy;
        this.limits = limits;
        this.random = random;
    }

    /// Returns the mode of packets to and from an address.
    PspPolicy.Mode modeOf(long high, long low) {
        return policy.of(high, low);
    }

    int count() {
        return count;
    }

    /// Returns the peer that has been given this SPI, or another SPI of the same place; null when there is none.
    @Nullable
    PspPeer bySpi(int spi) {
        return spi < 0 ? null : byIndex[spi & INDEX_MASK];
    }

    /// Returns the peer that a frame goes to; null when it is not known.
    @Nullable
    PspPeer to(Frame frame) {
        PspPeer last = lastTo;
        if (last != null && last.isTo(frame)) {
            return last;
        }
        int slot = slot(frame.sourceHigh, frame.sourceLow, frame.destinationHigh, frame.destinationLow);
        for (; byAddress[slot] != 0; slot = (slot + 1) % SLOTS) {
            PspPeer peer = byIndex[byAddress[slot] - 1];
            if (peer != null && peer.isTo(frame)) {
                lastTo = peer;
                return peer;
            }
        }
        return null;
    }

    /// Returns the peer that a frame in the clear comes from; null when it is not known.
    @Nullable
    PspPeer from(Frame frame) {
        int slot = slot(frame.destinationHigh, frame.destinationLow, frame.sourceHigh, frame.sourceLow);
        for (; byAddress[slot] != 0; slot = (slot + 1) % SLOTS) {
            PspPeer peer = byIndex[byAddress[slot] - 1];
            if (peer != null && peer.isFrom(frame)) {
                return peer;
            }
        }
        return null;
    }

    @Nullable
    PspPeer of(KeyExchange.Pair pair) {
        for (int slot = slot(pair); byAddress[slot] != 0; slot = (slot + 1) % SLOTS) {
            PspPeer peer = byIndex[byAddress[slot] - 1];
            if (peer != null && peer.pair.equals(pair)) {
                return peer;
            }
        }
        return null;
    }

    /// Returns whether a new peer that asks for keys gets a place.
    boolean hasRoomFor(Gid remote) {
        if (remote.isIpv4()) {
            return count < PEERS_MAX;
        }
        int there = 0;
        for (PspPeer peer : byIndex) {
            there += peer != null && peer.pair.remote().high() == remote.high() ? 1 : 0;
        }
        return count < PEERS_MAX && there < OF_NETWORK_MAX;
    }

    /// Adds a peer; null when there is no room.
    ///
    /// @param sourcePort that packets to it would leave from without PSP
    @Nullable
    PspPeer add(KeyExchange.Pair pair, int sourcePort, long now) {
        if (count == PEERS_MAX) {
            return null;
        }
        while (byIndex[lastIndex] != null) {
            lastIndex = lastIndex + 1 & INDEX_MASK;
        }
        UdpSeal seal = seals.computeIfAbsent(sourcePort, UdpSeal::new);
        var association = new Association(version, policy.cryptOffset(), limits);
        PspPolicy.Mode mode = modeOf(pair.remote().high(), pair.remote().low());
        var peer = new PspPeer(lastIndex, pair, mode, association, seal, random.applyAsInt(GENERATIONS), now);
        peer.keptNanos = now + KEPT_NANOS;
        byIndex[lastIndex] = peer;
        put(peer);
        count++;
        return peer;
    }

    private void put(PspPeer peer) {
        int slot = slot(peer.pair);
        while (byAddress[slot] != 0) {
            slot = (slot + 1) % SLOTS;
        }
        byAddress[slot] = (short) (peer.index + 1);
    }

    /// Chooses an SPI, another one each time: a place, and how many were chosen for it.
    int chooseSpi(PspPeer peer, long now) {
        peer.keptNanos = now + KEPT_NANOS;
        peer.generation = (peer.generation + 1) % GENERATIONS;
        if (peer.generation == 0) {
            peer.generation = 1;
        }
        return peer.generation << INDEX_BITS | peer.index;
    }

    /// Forgets keys that are dead, and peers that have no others and wait for none.
    void forgetDead(long now) {
        int before = count;
        for (int i = 0; i < PEERS_MAX; i++) {
            PspPeer peer = byIndex[i];
            if (peer == null) {
                continue;
            }
            peer.association.onDeadline(now);
            if (peer.association.deadlineNanos() == Association.NEVER && now - peer.keptNanos >= 0) {
                byIndex[i] = null;
                count--;
            }
        }
        if (count < before) {
            lastTo = null;
            Arrays.fill(byAddress, (short) 0);
            for (PspPeer peer : byIndex) {
                if (peer != null) {
                    put(peer);
                }
            }
        }
    }

    /// Returns how the packets of each peer are protected. Any thread.
    List<PspStatus> statuses(long now) {
        var all = new ArrayList<PspStatus>();
        for (PspPeer peer : byIndex) {
            if (peer != null) {
                all.add(peer.status(version, now));
            }
        }
        return all;
    }

    /// Returns how many peers get their packets in the clear.
    int countPlain() {
        int plain = 0;
        for (PspPeer peer : byIndex) {
            plain += peer != null && peer.isPlain ? 1 : 0;
        }
        return plain;
    }

    /// Keeps a peer without keys for a while.
    static void keep(PspPeer peer, long until) {
        peer.keptNanos = until + KEPT_NANOS;
    }

    /// Forgets all keys.
    void close() {
        for (PspPeer peer : byIndex) {
            if (peer != null) {
                peer.association.close();
            }
        }
    }

    private static int slot(KeyExchange.Pair pair) {
        Gid local = pair.local();
        Gid remote = pair.remote();
        return slot(local.high(), local.low(), remote.high(), remote.low());
    }

    private static int slot(long localHigh, long localLow, long remoteHigh, long remoteLow) {
        long mixed = (remoteLow ^ Long.rotateLeft(localLow, 32) ^ remoteHigh ^ Long.rotateLeft(localHigh, 16))
                * 0x9E37_79B9_7F4A_7C15L;
        return (int) (mixed >>> (64 - 13));
    }
}
