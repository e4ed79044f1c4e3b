package verbena.tools.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import verbena.tools.Browser;

/// The page, by itself and in a browser.
@Timeout(120)
class HtmlPageTest {
    @TempDir
    private Path folder;

    @Test
    void thePageNeedsNothingElse() {
        assertThat(HtmlPage.of(FixedRecording.RECORDING))
                .startsWith("<!doctype html>")
                .doesNotContainPattern("(src|href)=")
                .doesNotContain("http:", "https:", "@import", "url(");
    }

    @Test
    void whatComesFromTheRunIsText() {
        assertThat(HtmlPage.of(FixedRecording.RECORDING))
                .contains("one of each, &amp; &lt;odd&gt; &quot;signs&quot;; #1")
                .contains("&lt;WRITE_LAST psn 2; #x &lt;y&gt; | 5&gt;")
                .doesNotContain("<odd>", "<y>");
    }

    @Test
    void inABrowserItHasAnArrowForEachPacketOfTheRunAndNoErrors() throws Exception {
        Recording recording = new ScenarioRunner(Scenario.LOST_PACKET, "rocev2", "rocev2", 0).run(0);
        String page = opened(HtmlPage.of(recording), "");

        long packets = recording.events().stream().filter(Event::isPacket).count();
        assertThat(packets).isGreaterThanOrEqualTo(9);
        assertThat(count(page, "<li class=\"event packet [^>]*>(?:(?!</li>).)*<div class=\"arrow\">"))
                .isEqualTo((int) packets);
        assertThat(count(page, "class=\"event packet lost")).isEqualTo(1);
        assertThat(page).contains("WRITE_MIDDLE psn");
        // The script has shown the first packet of the operation in the panel, with its fields and bytes.
        assertThat(panel(page))
                .contains("<h3>WRITE_FIRST", "RETH", "DMA length", "10,000")
                .containsPattern("<span[^>]*>06</span>");
    }

    @Test
    void aChosenEventIsShownInThePanelAndItsFieldLightsUp() throws Exception {
        String page = opened(HtmlPage.of(FixedRecording.RECORDING), """
                <script>
                document.querySelectorAll(".event.packet")[2].click();
                document.querySelector("aside tr[data-f='1']").dispatchEvent(new Event("pointerover", {bubbles: true}));
                document.body.dataset.marked = document.querySelectorAll("aside .marked").length;
                document.querySelector(".event.chosen").dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowUp"}));
                </script>
                """);
        assertThat(page).as("a field and its four bytes").contains("data-marked=\"5\"");
        // The arrow key has moved on, from the NAK to the line before it.
        assertThat(panel(page)).contains("<h3>4 bytes placed at b+0</h3>");
        assertThat(page).containsPattern("class=\"event step[^\"]* chosen\"");
    }

    private String opened(String html, String atTheEnd) throws Exception {
        return Browser.opened(folder, html.replace("</body>", atTheEnd + "</body>"));
    }

    private static String panel(String page) {
        var panel = Pattern.compile("<aside.*?</aside>", Pattern.DOTALL).matcher(page);
        assertThat(panel.find()).isTrue();
        return panel.group();
    }

    private static int count(String page, String pattern) {
        return (int)
                Pattern.compile(pattern, Pattern.DOTALL).matcher(page).results().count();
    }
}
