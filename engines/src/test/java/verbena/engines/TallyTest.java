package verbena.engines;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class TallyTest {
    private static final String SUMMARY = """
            verbena.nio rdma-connections=1 rdma-in=100 rdma-out=20 tcp-connections=0 tcp-in=0 tcp-out=0
            verbena.nio rdma-connections=1 rdma-in=20 rdma-out=100 tcp-connections=1 tcp-in=9 tcp-out=1
            """;

    @Test
    void theCountersOfAllProcessesAreAddedUp() {
        assertThat(Tally.of(SUMMARY)).isEqualTo(new Tally(240, 10));
        assertThat(Tally.of(SUMMARY).share()).isEqualTo(0.96);
    }

    @Test
    void noBytesAreNoShare() {
        assertThat(Tally.of("").share()).isZero();
    }

    @Test
    void aProcessWithoutASummaryHasNone() throws IOException {
        assertThat(Tally.in(Path.of("no", "such", "file"))).isEqualTo(new Tally(0, 0));
    }

    @Test
    void lessThanAllIsNotCalledAll() {
        assertThat(new Tally(999_999_999, 1)).hasToString("99.9 % of 1000.0 MB by RDMA");
        assertThat(new Tally(1_000_000, 0)).hasToString("100.0 % of 1.0 MB by RDMA");
    }
}
