package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Which peer a completion is of, by the number of its queue pair. Under the lock of [Traffic].
final class Numbers {
    /// Peers that have spoken and are not known yet.
    private static final int EARLY_MAX = 1024;

    private final Map<Integer, RemoteWorker> byNumber = new HashMap<>();
    /// That of the completion before: most come from one peer, and looking it up makes an object.
    private @Nullable RemoteWorker last;
    /// The first frames of peers that are being connected: credits only.
    private final Map<Integer, byte[]> early = new LinkedHashMap<>();
    /// Numbers of queue pairs that are closed, and whose completions may not have been read yet.
    private final Set<Integer> gone = new HashSet<>();
    /// Those of them that were closed before the last round of completions was read.
    private final Set<Integer> longGone = new HashSet<>();

    /// Null when it is not a peer's.
    @Nullable
    RemoteWorker get(int number) {
        RemoteWorker before = last;
        if (before == null || before.number() != number) {
            last = byNumber.get(number);
        }
        return last;
    }

    List<RemoteWorker> all() {
        return List.copyOf(byNumber.values());
    }

    /// Adds a peer.
    ///
    /// @return the frame that has come already; null for none
    byte @Nullable [] add(RemoteWorker remote) {
        byNumber.put(remote.number(), remote);
        return early.remove(remote.number());
    }

    /// False when it is not there.
    boolean remove(RemoteWorker remote) {
        last = null;
        boolean isRemoved = byNumber.remove(remote.number(), remote);
        if (isRemoved) {
            gone.add(remote.number());
        }
        return isRemoved;
    }

    /// What came from a connection that is no peer's means nothing, after its queue pair is closed. Another queue
    /// pair may get the number.
    void forget(int number) {
        early.remove(number);
        gone.add(number);
    }

    /// A frame of a queue pair that is no peer's yet.
    void remember(int number, MemorySegment frame) {
        if (gone.contains(number)) {
            return;
        }
        early.put(number, frame.toArray(ValueLayout.JAVA_BYTE));
        if (early.size() > EARLY_MAX) {
            early.remove(early.keySet().iterator().next());
        }
    }

    /// All completions were read that were there when the round began.
    void endRound() {
        if (!gone.isEmpty()) {
            gone.removeAll(longGone);
            longGone.clear();
            longGone.addAll(gone);
        }
    }
}
