package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/// Opens a page of ours in a browser without a window.
public final class Browser {
    private static final Path PROGRAM = Path.of("/usr/bin/chromium");

    private Browser() {}

    /// What the browser makes of a page; any error of a script fails. Skips the test where there is no browser.
    ///
    /// @param folder for its files
    public static String opened(Path folder, String html) throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(PROGRAM), "no browser: " + PROGRAM);
        Path page = folder.resolve("page.html");
        Path errors = folder.resolve("errors");
        Path dom = folder.resolve("dom");
        Files.writeString(page, html);
        var browser = new ProcessBuilder(
                        PROGRAM.toString(),
                        "--headless",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--window-size=1280,900",
                        "--enable-logging=stderr",
                        "--user-data-dir=" + folder.resolve("profile"),
                        "--dump-dom",
                        page.toUri().toString())
                .redirectOutput(dom.toFile())
                .redirectError(errors.toFile())
                .start();
        try {
            assertThat(browser.waitFor(60, TimeUnit.SECONDS))
                    .as("the browser ends")
                    .isTrue();
        } finally {
            browser.destroyForcibly();
        }
        assertThat(Files.readString(errors, StandardCharsets.UTF_8).lines().filter(line -> line.contains("CONSOLE")))
                .as("errors of the page")
                .isEmpty();
        return Files.readString(dom, StandardCharsets.UTF_8);
    }
}
