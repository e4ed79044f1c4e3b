package verbena.tools.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.tools.Cli;
import verbena.verbs.WcStatus;

class StatusCommandTest {
    @ParameterizedTest
    @EnumSource
    void thePageIsTheOneOfTheDocuments(WcStatus status) throws IOException {
        Cli cli = Cli.run("status", status.name());

        assertThat(cli.status()).isZero();
        assertThat(cli.out()).isEqualTo(Files.readString(Path.of(System.getProperty("verbena.root"), status.page())));
    }

    @ParameterizedTest
    @ValueSource(strings = {"RETRY_EXC_ERR", "retry_exc_err", "IBV_WC_RETRY_EXC_ERR", "12"})
    void aStatusHasSeveralNames(String name) {
        assertThat(Cli.run("status", name).out()).startsWith("# RETRY_EXC_ERR\n");
    }

    @Test
    void withoutANameAllAreListed() {
        assertThat(Cli.run("status").out().lines()).hasSize(WcStatus.values().length);
    }

    @Test
    void whatIsNoneIsWrongUsage() {
        Cli cli = Cli.run("status", "BAD_LUCK");

        assertThat(cli.status()).isEqualTo(2);
        assertThat(cli.err()).contains("there is no 'BAD_LUCK'");
    }
}
