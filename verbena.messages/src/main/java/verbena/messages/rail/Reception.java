package verbena.messages.rail;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Rails;
import verbena.verbs.VerbsException;
import verbena.verbs.WorkCompletion;

/// The reception of what has arrived: takes completions apart, by peer. All peers share one queue of receives of
/// each device. Each has as many of them as its window, so every frame finds one, and the memory is claimed once.
/// Under the lock of the worker.
public final class Reception {
    public final LostRails lostRails;
    private final FrameInHand frame;
    private final Departures departures;
    private final Slots slots;
    private final Runnable onRing;
    private final Consumer<Remote> onEnd;
    /// The numbers of each rail, by its index.
    private final List<Numbers<Remote>> numbers = new ArrayList<>();

    private final List<Remote> touched = new ArrayList<>();

    /// @param onRing a read was to end
    /// @param onEnd all that has arrived by a connection is handled, and no more will come
    public Reception(WorkerDevices devices, Departures departures, Runnable onRing, Consumer<Remote> onEnd) {
        this.frame = devices.frame;
        this.slots = devices.slots;
        this.departures = departures;
        this.lostRails = new LostRails(departures, slots);
        this.onRing = onRing;
        this.onEnd = onEnd;
        devices.rails.forEach(_ -> numbers.add(new Numbers<>()));
    }

    /// Returns the peers of a rail.
    public Numbers<Remote> numbers(Rail rail) {
        return numbers.get(rail.index);
    }

    /// Handles completions of a rail.
    ///
    /// @param first null when there are only those of the batch
    /// @param n how many those are
    /// @param areAll whether these are all that were there when the round began
    public void round(Rail rail, @Nullable WorkCompletion first, WorkCompletion[] batch, int n, boolean areAll) {
        assert touched.isEmpty() : "one round at a time";
        if (first != null) {
            completed(rail, first);
        }
        for (int i = 0; i < n; i++) {
            completed(rail, batch[i]);
        }
        for (int i = 0; i < touched.size(); i++) {
            touched.get(i).isTouched = false;
            departures.pump(touched.get(i));
        }
        touched.clear();
        departures.feedStarved();
        if (areAll) {
            numbers(rail).endRound();
        }
    }

    private void completed(Rail rail, WorkCompletion wc) {
        long number = wc.wrId();
        if (number == RequestIds.RING) {
            onRing.run();
            return;
        }
        Remote remote = numbers(rail).get(wc.qpn());
        if (RequestIds.isFrame(number)) {
            received(rail, remote, wc, (int) number);
        } else if (remote != null && remote.rails().isUsable(rail.index) && wc.ok()) {
            if (number >= RequestIds.TELL) {
                // its memory is not used again
            } else if (number >= RequestIds.OPERATION) {
                remote.operations().completed((int) number, slots);
            } else if (number >= RequestIds.PART) {
                partDone(remote, (int) number);
            } else {
                remote.rails().completed(rail.index);
                departures.freeSlots(remote);
            }
        }
        if (remote != null) {
            if (!remote.isTouched) {
                remote.isTouched = true;
                touched.add(remote);
            }
            if (number == RequestIds.END) {
                lostRails.lose(remote, rail.index, "the peer has left, or is gone");
                onEnd.accept(remote);
            } else if (!wc.ok()) {
                lostRails.lose(remote, rail.index, wc.cause() + " (" + wc.status() + ")");
            }
        }
    }

    private void received(Rail rail, @Nullable Remote from, WorkCompletion wc, int slot) {
        rail.taken();
        if (!wc.ok()) {
            rail.give(slot);
            return;
        }
        frame.take(rail, slot);
        if (from != null) {
            arrived(from, rail.index, rail.arrived(slot), rail.behindHeader(slot), wc.byteLength());
        } else {
            numbers(rail).remember(wc.qpn(), rail.arrived(slot).asSlice(0, wc.byteLength()));
        }
        if (frame.isDone()) {
            rail.give(slot);
        }
    }

    private static void partDone(Remote from, int number) {
        try {
            from.transfers().completed(number);
        } catch (VerbsException | IllegalStateException e) { // the program has closed the memory at this moment
            from.lose(String.valueOf(e.getMessage()));
        }
    }

    /// Takes a connection of a peer in: frames may have come by it already.
    public void join(Remote remote, Way way) {
        for (byte[] early : numbers(way.rail).add(way.number(), remote)) {
            MemorySegment whole = MemorySegment.ofArray(early);
            MemorySegment behind = whole.asSlice(Math.min(early.length, Rails.HEADER_BYTES));
            arrived(remote, way.rail.index, whole, behind, early.length);
        }
    }

    /// @param behind the frame without the header that it has when there are several rails
    private void arrived(Remote from, int rail, MemorySegment whole, MemorySegment behind, long bytes) {
        Rails itsRails = from.rails();
        if (from.peer().isLost() || !itsRails.isUsable(rail)) {
            return;
        }
        String wrong;
        try {
            if (!itsRails.areSeveral()) {
                wrong = from.session().onFrame(rail, whole, behind, bytes);
            } else if (from.takesToken(whole, bytes)) {
                wrong = null;
            } else {
                wrong = from.session().onFrame(rail, whole, behind, bytes);
                lostRails.drop(from, from.session().takeTold());
                departures.freeSlots(from);
            }
        } catch (IllegalStateException e) { // the program has closed the memory of a receive at this moment
            wrong = String.valueOf(e.getMessage());
        }
        if (wrong != null) {
            from.lose("the peer does not keep to the protocol: " + wrong);
        }
    }
}
