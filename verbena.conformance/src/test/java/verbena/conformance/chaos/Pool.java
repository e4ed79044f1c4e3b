package verbena.conformance.chaos;

import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Predicate;

/// A few objects of one kind that all actors use: closed ones too, for a while.
final class Pool<T> {
    /// One in so many is taken whether it fits or not.
    private static final int ANYHOW = 12;

    private final AtomicReferenceArray<T> places;

    Pool(int size) {
        places = new AtomicReferenceArray<>(size);
    }

    /// Fills the next place that is free.
    void add(T first) {
        for (int i = 0; i < places.length(); i++) {
            if (places.compareAndSet(i, null, first)) {
                return;
            }
        }
        throw new IllegalStateException("no place is left");
    }

    /// One of them, which mostly is one that fits; empty where nothing was put yet.
    Optional<T> any(SplittableRandom random, Predicate<? super T> fits) {
        int from = random.nextInt(places.length());
        boolean anyhow = random.nextInt(ANYHOW) == 0;
        T last = null;
        for (int i = 0; i < places.length(); i++) {
            T found = places.get((from + i) % places.length());
            if (found != null && (anyhow || fits.test(found))) {
                return Optional.of(found);
            }
            last = found == null ? last : found;
        }
        return Optional.ofNullable(last);
    }

    /// Puts it in place of another, which is given back.
    Optional<T> put(SplittableRandom random, T made) {
        return Optional.ofNullable(places.getAndSet(random.nextInt(places.length()), made));
    }
}
