package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import verbena.tools.report.Json;

/// Opens a page of ours in a browser without a window.
public final class Browser {
    private static final Path PROGRAM = Path.of("/usr/bin/chromium");

    private Browser() {}

    /// Finds out where pages are hard to read: each is opened in light and dark, as wide as a window and as a
    /// phone. Any error of a script fails. Skips the test where there is no browser.
    ///
    /// @param folder for its files
    /// @param pages by name
    /// @return one line for each finding, after one that counts what was looked at
    public static List<String> findings(Path folder, Map<String, String> pages)
            throws IOException, InterruptedException {
        for (var page : pages.entrySet()) {
            Files.writeString(folder.resolve(page.getKey() + ".html"), page.getValue());
        }
        String dom = opened(folder, LOOKING.replace("NAMES", Json.format(List.copyOf(pages.keySet()))));
        int start = dom.indexOf("<pre>") + "<pre>".length();
        return dom.substring(start, dom.indexOf("</pre>")).lines().toList();
    }

    // A frame tells its page the colour scheme that the frame itself has. Contrast is that of WCAG 2.2, 1.4.3.
    private static final String LOOKING = """
            <!DOCTYPE html><meta charset="utf-8"><body><pre></pre><script>
            const frames = [];
            for (const name of NAMES) for (const scheme of ["light", "dark"]) for (const width of [390, 1280]) {
              const frame = document.body.appendChild(document.createElement("iframe"));
              frame.style = `color-scheme: ${scheme}; width: ${width}px; height: 900px; border: 0`;
              frame.src = name + ".html";
              frames.push({frame, scheme, width, what: `${name}, ${scheme}, ${width} px`});
            }
            const channels = color => (color.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
            const isClear = color => channels(color)[3] === 0;
            function luminance(color) {
              const [r, g, b] = channels(color).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
              return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            }
            function ground(element, view) {
              for (let e = element; e; e = e.parentElement) {
                const color = view.getComputedStyle(e).backgroundColor;
                if (!isClear(color)) return color;
              }
              return view.matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(18, 18, 18)" : "rgb(255, 255, 255)";
            }
            addEventListener("load", () => {
              const found = [frames.length + " looked at"];
              for (const {frame, scheme, width, what} of frames) {
                const view = frame.contentWindow, page = frame.contentDocument;
                if (view.matchMedia("(prefers-color-scheme: dark)").matches !== (scheme === "dark")) found.push(what + ": another scheme");
                const over = page.scrollingElement.scrollWidth - view.innerWidth;
                if (over > 0) found.push(`${what}: ${over} px wider than the window`);
                const pale = new Set();
                for (const e of page.body.querySelectorAll("*")) {
                  const hasText = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
                  if (!hasText || !e.getClientRects().length || ["SCRIPT", "STYLE"].includes(e.tagName)) continue;
                  const a = luminance(view.getComputedStyle(e).color), b = luminance(ground(e, view));
                  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
                  if (contrast < 4.5) pale.add(`${what}: contrast ${contrast.toFixed(1)} of <${e.tagName.toLowerCase()} class=${e.className}>`);
                }
                found.push(...pale);
                const ranges = new Map();
                for (const {plot} of page.querySelectorAll(".plot")) {
                  if (!plot) continue;
                  const axes = plot.axes.map(axis => axis.label).join(" over "), {min, max} = plot.scales.y;
                  ranges.set(axes, (ranges.get(axes) || new Set()).add(min + " to " + max));
                  const labels = plot.series.map(series => series.label);
                  if (labels.some(label => !label)) found.push(`${what}: a curve without a name`);
                }
                for (const [axes, each] of ranges) if (each.size > 1) found.push(`${what}: ${axes} on ${[...each].join(", ")}`);
              }
              document.querySelector("pre").textContent = found.join("\\n");
            });
            </script></body>
            """;

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
                        "--allow-file-access-from-files",
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
