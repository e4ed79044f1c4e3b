package verbena.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The pipe on which a program waits for events.
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EventPipeTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    /// The dynamic loader's lock, which the caller may hold, is what the writer may be waiting for.
    @Test
    void closingDoesNotWaitForTheWriter() throws InterruptedException {
        var begun = new Semaphore(0);
        var goesOn = new Semaphore(0);
        var pipe = new EventPipe("verbena-abi-test", Long.BYTES, _ -> {
            begun.release();
            goesOn.acquireUninterruptibly();
            return true;
        });
        begun.acquire();
        pipe.close();
        assertThat(pipe.endsWithin(Duration.ZERO))
                .as("the writer is in the middle")
                .isFalse();
        goesOn.release();
        assertThat(pipe.endsWithin(SOON)).isTrue();
    }

    @Test
    void aWriterThatWaitsEndsWhenThePipeIsClosed() throws InterruptedException {
        var begun = new Semaphore(0);
        var pipe = new EventPipe("verbena-abi-test", Long.BYTES, _ -> {
            begun.release();
            new Semaphore(0).acquire();
            return true;
        });
        begun.acquire();
        pipe.close();
        assertThat(pipe.endsWithin(SOON)).isTrue();
    }
}
