package verbena.tools.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

/// The line that tells how far a copy has come.
class ProgressTest {
    private final PrintWriter nowhere = new PrintWriter(new StringWriter());

    @Test
    void aCopyWithoutBytesIsNoHundredPercentOfNothing() {
        try (var progress = new Progress(nowhere, nowhere, "cp", true, false)) {
            assertThat(progress.text(0)).isEqualTo("looks for what there is to copy  ");
            progress.total(3, 0);
            progress.begins("file", 0, 0);
            assertThat(progress.text(0)).isEqualTo("no bytes to copy  file");
            progress.total(1, 2048);
            progress.moved(1024);
            assertThat(progress.text(1024)).isEqualTo(" 50 %  1.0 KiB of 2.0 KiB  1.0 KiB/s  1.0 s left  file");
        }
    }
}
