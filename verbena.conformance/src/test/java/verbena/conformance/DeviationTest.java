package verbena.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class DeviationTest {
    @Test
    void everyDeviationIsOfACaseThatThereIs() {
        var names = Suite.cases().stream().map(Case::name).collect(Collectors.toSet());

        assertThat(Deviation.all()).hasSizeGreaterThan(10).allSatisfy(each -> {
            assertThat(names).contains(each.name());
            assertThat(each.reason()).isNotEmpty();
        });
    }

    @Test
    void noCaseIsDeclaredTwiceForTheSameDevice() {
        assertThat(Deviation.all().stream().map(each -> each.kind() + " " + each.name()))
                .doesNotHaveDuplicates();
    }

    @Test
    void ourOwnDevicesDeviateInNothing() {
        for (String kind : new String[] {"rocev2", "rocev1", "iwarp", "shm", "ib"}) {
            assertThat(Suite.cases()).noneMatch(each -> Deviation.of(kind, each).isPresent());
        }
    }

    @Test
    void whatAllDevicesOfTheKernelHaveInCommonIsDeclaredOnce() {
        Case arena = Suite.cases("regions.aClosedArena").getFirst();

        assertThat(Deviation.of("rxe", arena)).isPresent();
        assertThat(Deviation.of("mlx5", arena)).isPresent();
        assertThat(Deviation.of("rocev2", arena)).isEmpty();
    }

    @Test
    void theKindIsWhatANameBeginsWith() {
        assertThat(Suite.kindOf("rxe0")).isEqualTo("rxe");
        assertThat(Suite.kindOf("rocev2_eth0")).isEqualTo("rocev2");
        assertThat(Suite.kindOf("rocev2,link=portable")).isEqualTo("rocev2");
        assertThat(Suite.kindOf("iwarp@10.0.0.1")).isEqualTo("iwarp");
        assertThat(Suite.kindOf("ib0")).isEqualTo("ib");
        assertThat(Suite.kindOf("ibp65s0")).isEqualTo("ibp65s");
        assertThat(Suite.kindOf("mlx5_0")).isEqualTo("mlx5");
        assertThat(Suite.kindOf("bnxt_re0")).isEqualTo("bnxt_re");
    }
}
