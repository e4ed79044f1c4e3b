package verbena.nic.device;

import java.util.Optional;
import java.util.function.BooleanSupplier;
import verbena.nic.engine.Engines;
import verbena.nic.engine.Stepper;
import verbena.provider.EventQueue;
import verbena.verbs.WaitSource;

/// The events of a context whose engine a waiting thread may drive or attend to.
final class DrivenEvents<T> extends EventQueue<T> implements WaitSource.Place {
    private final Engines engines;
    private final BooleanSupplier isOver = this::isOver;

    /// @param owner how messages name the object whose events these are
    /// @param max events held; the oldest is dropped for the newest
    /// @param engines those of the device; when they have no thread, waiting threads drive them
    DrivenEvents(String owner, int max, Engines engines) {
        super(owner, max);
        this.engines = engines;
    }

    @Override
    public void offer(T event) {
        super.offer(event);
        engines.first().wakeGuest();
    }

    @Override
    public Optional<T> await(long nanos) throws InterruptedException {
        if (!engines.hasThread()) {
            return awaitStepping(nanos);
        }
        engines.handOver();
        return super.await(nanos);
    }

    /// Waits as [#await] does, for events that come often: the caller attends to the engine meanwhile, if it can.
    Optional<T> awaitAttending(long nanos) throws InterruptedException {
        long start = System.nanoTime();
        if (engines.attend(isOver, nanos)) {
            return super.await(isOver() ? 0 : nanos - (System.nanoTime() - start));
        }
        engines.parked(1);
        try {
            return super.await(nanos);
        } finally {
            engines.parked(-1);
        }
    }

    /// Attends for a thread that waits for more than these events; false when it cannot.
    @Override
    public boolean attend(BooleanSupplier isWaitOver, long nanos) throws InterruptedException {
        if (engines.hasThread()) {
            return engines.attend(isWaitOver, nanos);
        }
        var stepper = new Stepper(engines.first(), nanos);
        boolean isInTime = true;
        while (isInTime && !isWaitOver.getAsBoolean()) {
            isInTime = stepper.step();
        }
        return true;
    }

    @Override
    public void wakeAttendant() {
        engines.first().wakeGuest();
    }

    /// Returns itself when the waiting thread has to drive the engine: no other thread brings the events.
    @Override
    public Optional<Place> place() {
        return engines.hasThread() ? Optional.empty() : Optional.of(this);
    }

    private Optional<T> awaitStepping(long nanos) throws InterruptedException {
        var stepper = new Stepper(engines.first(), nanos);
        do {
            T event = pollOrThrow();
            if (event != null) {
                return Optional.of(event);
            }
        } while (stepper.step());
        return Optional.empty();
    }

    @Override
    public void close() {
        super.close();
        engines.first().wakeGuest();
    }
}
