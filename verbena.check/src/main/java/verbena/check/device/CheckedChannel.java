package verbena.check.device;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import verbena.check.CallPlace;
import verbena.check.TrackedQueue;
import verbena.check.Watcher.Event;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.WaitSource;
import verbena.verbs.internal.WaitableChannel;

/// The layer in front of a completion channel.
class CheckedChannel extends CheckedObject<CompletionChannel> implements CompletionChannel, WaitSource {
    private final List<TrackedQueue> queues = new CopyOnWriteArrayList<>();

    CheckedChannel(Layer layer, CompletionChannel inner) {
        super(layer, inner);
    }

    /// Returns the open queues that report here.
    final List<TrackedQueue> queues() {
        return queues;
    }

    /// Tells that a thread is about to wait.
    ///
    /// @param isAlone whether it waits for this channel alone
    final void waiting(boolean isAlone) {
        layer().checker().hear(Event.WAIT, watcher -> watcher.onWait(queues, isAlone && !hasEvent()));
    }

    /// Returns whether an event is there, as far as that is known.
    private boolean hasEvent() {
        return inner() instanceof WaitableChannel known && known.notifications() > 0;
    }

    /// Handles an event that the program takes.
    final CompletionQueue taken(CompletionQueue queue) {
        for (TrackedQueue each : queues) {
            if (each.queue() == queue) {
                each.eventTaken(CallPlace.here(), TrackedQueue.polls(queues));
            }
        }
        return layer().known(CompletionQueue.class, queue).orElse(queue);
    }

    @Override
    public final Context context() {
        return layer().outer(Context.class, inner().context());
    }

    @Override
    public final Optional<CompletionQueue> await(Duration timeout) throws InterruptedException {
        waiting(true);
        return inner().await(timeout).map(this::taken);
    }

    @Override
    public final CompletionQueue await() throws InterruptedException {
        waiting(true);
        return taken(inner().await());
    }

    @Override
    public final Optional<CompletionQueue> poll() {
        return inner().poll().map(this::taken);
    }

    @Override
    public final boolean isReady() {
        return inner().isReady();
    }

    @Override
    public final WaitSource waitSource() {
        return this;
    }

    @Override
    public final void addListener(Runnable listener) {
        inner().waitSource().addListener(listener);
    }

    @Override
    public final void removeListener(Runnable listener) {
        inner().waitSource().removeListener(listener);
    }

    @Override
    public final boolean hasEnded() {
        return inner().waitSource().hasEnded();
    }

    @Override
    public final Optional<Place> place() {
        return inner().waitSource().place().map(Attended::new);
    }

    /// The place of the device, where a thread says that it waits.
    private final class Attended implements Place {
        private final Place place;

        private Attended(Place place) {
            this.place = place;
        }

        @Override
        public boolean attend(BooleanSupplier isOver, long nanos) throws InterruptedException {
            waiting(false);
            return place.attend(isOver, nanos);
        }

        @Override
        public void wakeAttendant() {
            place.wakeAttendant();
        }
    }
}
