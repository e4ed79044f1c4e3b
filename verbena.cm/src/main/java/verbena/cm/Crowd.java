package verbena.cm;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;

/// Those that peers have brought about and that wait, and whose turn it is to go when there is no room for more.
/// What each call costs does not depend on how many they are. Confined to its owner.
public final class Crowd<T> {
    private final Function<T, Gid> peers;
    /// The oldest first.
    private final LinkedHashSet<T> all = new LinkedHashSet<>();

    private final Map<Gid, LinkedHashSet<T>> ofPeer = new HashMap<>();
    /// Peers by how many each has.
    private final TreeMap<Integer, LinkedHashSet<Gid>> byCount = new TreeMap<>();

    /// @param peers returns the peer that a member belongs to
    public Crowd(Function<T, Gid> peers) {
        this.peers = peers;
    }

    /// Adds a member; returns false when it is in here already.
    public boolean add(T one) {
        if (!all.add(one)) {
            return false;
        }
        Gid peer = peers.apply(one);
        LinkedHashSet<T> its = ofPeer.computeIfAbsent(peer, _ -> new LinkedHashSet<>());
        its.add(one);
        move(peer, its.size() - 1, its.size());
        return true;
    }

    /// Removes a member; returns false when it is not in here.
    public boolean remove(T one) {
        if (!all.remove(one)) {
            return false;
        }
        Gid peer = peers.apply(one);
        LinkedHashSet<T> its = ofPeer.getOrDefault(peer, new LinkedHashSet<>());
        boolean wasIn = its.remove(one);
        assert wasIn : "whose it is does not change";
        move(peer, its.size() + 1, its.size());
        if (its.isEmpty()) {
            ofPeer.remove(peer);
        }
        return true;
    }

    private void move(Gid peer, int from, int to) {
        byCount.computeIfPresent(from, (_, with) -> {
            with.remove(peer);
            return with.isEmpty() ? null : with;
        });
        if (to > 0) {
            byCount.computeIfAbsent(to, _ -> new LinkedHashSet<>()).add(peer);
        }
    }

    /// Returns all members, the oldest first.
    public Iterable<T> all() {
        return all;
    }

    public int size() {
        return all.size();
    }

    /// Returns the number of members that belong to a peer.
    public int of(Gid peer) {
        LinkedHashSet<T> its = ofPeer.get(peer);
        return its == null ? 0 : its.size();
    }

    /// Returns the oldest member of the peer that has the most, if those are more than `share`; null when no peer
    /// has so many.
    public @Nullable T oldestBeyond(int share) {
        var most = byCount.lastEntry();
        return most == null || most.getKey() <= share
                ? null
                : ofPeer.getOrDefault(most.getValue().getFirst(), all).getFirst();
    }

    /// Returns the oldest member of all.
    public T oldest() {
        return all.getFirst();
    }
}
