package verbena.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Events for a program, and the descriptor that says whether there are any.
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EventInboxTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    private final LinkedBlockingQueue<String> source = new LinkedBlockingQueue<>();
    private final Map<String, EventInbox<String>> homes = new HashMap<>();
    private final List<String> unwanted = Collections.synchronizedList(new ArrayList<>());
    private final EventInbox<String> inbox = inbox();

    /// Events go by their first letter; those of no inbox are unwanted.
    private EventInbox<String> inbox() {
        return new EventInbox<>(
                "verbena-abi-test", source::take, event -> homes.get(event.substring(0, 1)), unwanted::add);
    }

    @AfterEach
    void close() {
        inbox.close();
    }

    @Test
    void theDescriptorIsReadableAsLongAsThereIsAnEvent() {
        homes.put("a", inbox);
        source.add("a1");
        source.add("a2");
        assertThat(isReadable(inbox, SOON)).isTrue();
        assertThat(take()).isEqualTo("a1");
        assertThat(isReadable(inbox, SOON)).isTrue();
        assertThat(take()).isEqualTo("a2");
        assertThat(isReadable(inbox, Duration.ZERO)).isFalse();
        assertThat(inbox.take(_ -> true)).isNull();
    }

    @Test
    void eventsOfWhatIsGoneAreTakenBack() {
        homes.put("a", inbox);
        homes.put("b", inbox);
        source.addAll(List.of("a1", "b1", "a2"));
        awaitEvents(3);
        assertThat(inbox.remove(event -> event.startsWith("a"))).containsExactly("a1", "a2");
        assertThat(isReadable(inbox, Duration.ZERO)).isTrue();
        assertThat(take()).isEqualTo("b1");
        assertThat(isReadable(inbox, Duration.ZERO)).isFalse();
    }

    @Test
    void moreEventsThanTheDescriptorHasRoomForAreAllThere() {
        homes.put("a", inbox);
        for (int i = 0; i < 10_000; i++) {
            source.add("a" + i);
        }
        for (int i = 0; i < 10_000; i++) {
            assertThat(isReadable(inbox, SOON)).isTrue();
            assertThat(take()).isEqualTo("a" + i);
        }
        assertThat(isReadable(inbox, Duration.ZERO)).isFalse();
    }

    @Test
    void anEventThatIsNotWantedWhenItIsTakenIsPassedOver() {
        homes.put("a", inbox);
        source.addAll(List.of("a1", "a2"));
        awaitEvents(2);
        assertThat(inbox.take(event -> event.equals("a2"))).isEqualTo("a2");
        assertThat(unwanted).containsExactly("a1");
        assertThat(isReadable(inbox, Duration.ZERO)).isFalse();
    }

    @Test
    void eventsGoWhereTheyBelongByThen() {
        try (var other = inbox()) {
            homes.put("a", inbox);
            homes.put("b", inbox);
            source.addAll(List.of("a1", "b1", "c1"));
            awaitEvents(2);
            inbox.move(event -> event.startsWith("a"), other, () -> homes.put("a", other));
            source.add("a2");
            assertThat(isReadable(other, SOON)).isTrue();
            assertThat(other.take(_ -> true)).isEqualTo("a1");
            assertThat(isReadable(other, SOON)).isTrue();
            assertThat(other.take(_ -> true)).isEqualTo("a2");
            assertThat(isReadable(other, Duration.ZERO)).isFalse();
            assertThat(take()).isEqualTo("b1");
            assertThat(unwanted).containsExactly("c1");
        }
    }

    /// The dynamic loader's lock, which the caller may hold, is what the filling thread may be waiting for.
    @Test
    void closingDoesNotWaitForTheThreadThatFills() throws InterruptedException {
        var begun = new Semaphore(0);
        var goesOn = new Semaphore(0);
        var closing = new EventInbox<String>(
                "verbena-abi-test",
                () -> {
                    begun.release();
                    goesOn.acquireUninterruptibly();
                    return Thread.currentThread().isInterrupted() ? null : "a";
                },
                _ -> null,
                _ -> {});
        begun.acquire();
        closing.close();
        assertThat(closing.endsWithin(Duration.ZERO))
                .as("the thread is in the middle")
                .isFalse();
        goesOn.release();
        assertThat(closing.endsWithin(SOON)).isTrue();
    }

    @Test
    void aThreadThatWaitsEndsWhenTheInboxIsClosed() throws InterruptedException {
        inbox.close();
        assertThat(inbox.endsWithin(SOON)).isTrue();
    }

    private String take() {
        return String.valueOf(inbox.take(_ -> true));
    }

    /// Until all that was offered has been put somewhere, and so many are here.
    private void awaitEvents(int count) {
        var seen = new ArrayList<String>();
        while (seen.size() < count) {
            seen.clear();
            assertThat(isReadable(inbox, SOON)).isTrue();
            List<String> _ = inbox.remove(event -> {
                seen.add(event);
                return false;
            });
        }
    }

    private static boolean isReadable(EventInbox<String> which, Duration within) {
        try (var arena = Arena.ofConfined()) {
            MemorySegment asked = arena.allocate(ValueLayout.JAVA_LONG); // struct pollfd: fd, POLLIN, revents
            asked.set(ValueLayout.JAVA_LONG, 0, 1L << 32 | which.fd());
            Native.poll(asked, 1, within.toNanos());
            return asked.get(ValueLayout.JAVA_LONG, 0) >>> 48 != 0;
        }
    }
}
