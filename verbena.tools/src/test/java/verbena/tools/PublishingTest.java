package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// What Maven Central relies on, and each project that imports the BOM.
class PublishingTest {
    private static final String BOM = "verbena-bom";

    @Test
    void theBomListsWhatIsPublishedUnderTheVersionOfAll() {
        String parent = pom("");
        List<String> published = all("<module>(.*?)</module>", parent).stream()
                .filter(module -> !module.equals(BOM))
                .filter(module -> !pom(module).contains("<maven.deploy.skip>true</maven.deploy.skip>"))
                .toList();
        assertThat(published)
                .contains("verbena.verbs", "verbena.nic")
                .doesNotContain("workshop/bench", "workshop/fuzz", "workshop/jcstress", "workshop/lab");

        String bom = pom(BOM);
        List<String> listed = all("<artifactId>(verbena\\..*?)</artifactId>", bom);
        assertThat(listed).containsExactlyInAnyOrderElementsOf(published);
        assertThat(bom).contains(version(parent)).doesNotContain("<parent>");
        published.forEach(
                module -> assertThat(pom(module)).contains(version(parent), "<name>" + module, "<description>"));
    }

    @Test
    void whatIsPublishedSaysWhatCentralAsksFor() {
        for (String module : List.of("", BOM)) {
            assertThat(pom(module))
                    .contains("<name>", "<description>", "<url>", "<license>", "<developer>", "<scm", "<connection>");
        }
    }

    @Test
    void theRepositorysAddressStandsOnceInEachOfTheTwoThatHaveNoParent() {
        String parent = pom("");
        List<String> address = all("<repository.url>(.*?)</repository.url>", parent);
        assertThat(address).hasSize(1).isEqualTo(all("<repository.url>(.*?)</repository.url>", pom(BOM)));
        for (String module : List.of("", BOM)) {
            assertThat(pom(module)).containsOnlyOnce(address.getFirst());
        }
    }

    @Test
    void theDependencyInTheDocumentsIsThisVersion() throws IOException {
        String document = Files.readString(Cli.root().resolve("docs/start.md"));
        String version = version(pom("")).replaceAll("</?version>", "");
        assertThat(all("dev\\.verbena:verbena-bom:(.*?)\"", document)).containsExactly(version);
        assertThat(all("<version>(.*?)</version>", document)).containsExactly(version);
    }

    private static String version(String pom) {
        return all("(<version>.*?</version>)", pom).getFirst();
    }

    private static List<String> all(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map(result -> result.group(1))
                .toList();
    }

    private static String pom(String module) {
        Path file = Cli.root().resolve(module).resolve("pom.xml");
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError("no " + file, e);
        }
    }
}
