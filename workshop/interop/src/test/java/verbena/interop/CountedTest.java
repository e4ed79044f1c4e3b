package verbena.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class CountedTest {
    private static final String SUMMARY = """
            verbena.nio rdma-connections=1 rdma-in=100 rdma-out=20 tcp-connections=0 tcp-in=0 tcp-out=0
            verbena.nio rdma-connections=1 rdma-in=20 rdma-out=100 tcp-connections=1 tcp-in=9 tcp-out=1
            """;

    @Test
    void theCountersOfAllProcessesAreAddedUp() {
        assertThat(Counted.of(SUMMARY)).isEqualTo(new Counted(240, 10));
        assertThat(Counted.of(SUMMARY).share()).isEqualTo(0.96);
    }

    @Test
    void noBytesAreNoShare() {
        assertThat(Counted.of("").share()).isZero();
    }

    @Test
    void aProcessWithoutASummaryHasNone() throws IOException {
        assertThat(Counted.in(Path.of("no", "such", "file"))).isEqualTo(new Counted(0, 0));
    }

    @Test
    void lessThanAllIsNotCalledAll() {
        assertThat(new Counted(999_999_999, 1)).hasToString("99.9 % of 1000.0 MB by RDMA");
        assertThat(new Counted(1_000_000, 0)).hasToString("100.0 % of 1.0 MB by RDMA");
    }
}
