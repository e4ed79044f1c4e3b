package verbena.tools.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TransfersTest {
    private final Transfers transfers = new Transfers();

    @Test
    void anOffsetBelongsToTheDeviceUntilItsWriteIsComplete() throws Exception {
        assertThat(transfers.await(3, Duration.ZERO)).isTrue();
        transfers.begin(7, 3);
        assertThat(transfers.await(3, Duration.ZERO)).isFalse();
        assertThat(transfers.await(4, Duration.ZERO)).isTrue();
        assertThat(transfers.underWay()).containsExactly(3L);
        transfers.end(7);
        assertThat(transfers.await(3, Duration.ZERO)).isTrue();
        assertThat(transfers.underWay()).isEmpty();
    }

    @Test
    void whoWaitsIsWoken() throws Exception {
        transfers.begin(7, 3);
        var waited = new CompletableFuture<Boolean>();
        Thread.ofPlatform().start(() -> {
            try {
                waited.complete(transfers.await(3, Duration.ofMinutes(1)));
            } catch (InterruptedException e) {
                waited.completeExceptionally(e);
            }
        });
        transfers.end(7);
        assertThat(waited.get(1, TimeUnit.MINUTES)).isTrue();
    }
}
