package verbena.messages;

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

/// Which peer's a completion of a rail is, by the number of its queue pair. Under the lock of [Traffic].
final class Numbers {
    /// Peers that have spoken and are not known yet.
    private static final int EARLY_MAX = 1024;
    /// Frames of each: credits, and how to join rails, or which are lost.
    private static final int EARLY_FRAMES = 4;

    private final Map<Integer, Way> byNumber = new HashMap<>();
    /// That of the completion before: most come from one peer, and looking it up makes an object.
    private @Nullable Way last;
    /// The first frames of peers that are being connected.
    private final Map<Integer, List<byte[]>> early = new LinkedHashMap<>();
    /// Numbers of queue pairs that are closed, and whose completions may not have been read yet.
    private final Set<Integer> gone = new HashSet<>();
    /// Those of them that were closed before the last round of completions was read.
    private final Set<Integer> longGone = new HashSet<>();

    /// Null when it is not a peer's.
    @Nullable
    Way get(int number) {
        Way before = last;
        if (before == null || before.number() != number) {
            last = byNumber.get(number);
        }
        return last;
    }

    List<Way> all() {
        return List.copyOf(byNumber.values());
    }

    /// Adds a peer.
    ///
    /// @return the frames that have come already
    List<byte[]> add(Way way) {
        byNumber.put(way.number(), way);
        List<byte[]> frames = early.remove(way.number());
        return frames == null ? List.of() : frames;
    }

    /// False when it is not there.
    boolean remove(Way way) {
        last = null;
        boolean isRemoved = byNumber.remove(way.number(), way);
        if (isRemoved) {
            gone.add(way.number());
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
        List<byte[]> frames = early.computeIfAbsent(number, _ -> new ArrayList<>());
        if (frames.size() < EARLY_FRAMES) {
            frames.add(frame.toArray(ValueLayout.JAVA_BYTE));
        }
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
