package verbena.messages.rail;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The peers of a rail, by the number of their queue pairs. Under the lock of the worker.
///
/// @param <P> a peer
public final class Numbers<P> {
    /// Peers that have spoken and are not known yet.
    private static final int EARLY_MAX = 1024;
    /// Frames of each: credits, and how to join rails, or which are lost.
    private static final int EARLY_FRAMES = 4;

    private final Map<Integer, P> byNumber = new HashMap<>();
    /// The peer of the completion before: most come from one peer, and looking it up makes an object.
    private @Nullable P last;

    private int lastNumber;
    /// The first frames of peers that are being connected.
    private final Map<Integer, List<byte[]>> early = new LinkedHashMap<>();
    /// Numbers of queue pairs that are closed, and whose completions may not have been read yet.
    private final Set<Integer> gone = new HashSet<>();
    /// Those of them that were closed before the last round of completions was read.
    private final Set<Integer> longGone = new HashSet<>();

    /// Returns the peer of a number; null when it has none.
    @Nullable
    P get(int number) {
        if (last == null || lastNumber != number) {
            last = byNumber.get(number);
            lastNumber = number;
        }
        return last;
    }

    public List<P> all() {
        return List.copyOf(byNumber.values());
    }

    /// Adds a peer.
    ///
    /// @return the frames that have come already
    List<byte[]> add(int number, P peer) {
        byNumber.put(number, peer);
        List<byte[]> frames = early.remove(number);
        return frames == null ? List.of() : frames;
    }

    /// Removes a peer; returns false when it is not there.
    public boolean remove(int number, P peer) {
        last = null;
        boolean isRemoved = byNumber.remove(number, peer);
        if (isRemoved) {
            gone.add(number);
        }
        return isRemoved;
    }

    /// Forgets the frames of a connection that is no peer's, after its queue pair is closed. Another queue pair may
    /// get the number.
    public void forget(int number) {
        early.remove(number);
        gone.add(number);
    }

    /// Keeps a frame of a queue pair that is no peer's yet.
    void remember(int number, MemorySegment frame) {
        if (gone.contains(number)) {
            return;
        }
        List<byte[]> frames = early.computeIfAbsent(number, _ -> new ArrayList<>());
        if (frames.size() < EARLY_FRAMES) {
            frames.add(frame.toArray(ValueLayout.JAVA_BYTE));
        }
        if (early.size() > EARLY_MAX) {
            early.remove(early.keySet().iterator().next());
        }
    }

    /// Ends a round: all completions were read that were there when it began.
    void endRound() {
        if (!gone.isEmpty()) {
            gone.removeAll(longGone);
            longGone.clear();
            longGone.addAll(gone);
        }
    }
}
