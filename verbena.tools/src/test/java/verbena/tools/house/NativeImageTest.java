package verbena.tools.house;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Guards the metadata for GraalVM's native image: it has to name each shape in which Java calls C, because an image
/// has no linker. No image is built here ([docs/systems.md](../../../../../../../docs/systems.md)).
/// `-Dverbena.reachability.write=true` writes it anew.
class NativeImageTest {
    private static final Path METADATA = House.ROOT.resolve("verbena.foreign/src/main/resources/META-INF/native-image/"
            + "dev.verbena/verbena.foreign/reachability-metadata.json");

    @Test
    @Timeout(60)
    void theMetadataNamesEachShapeInWhichJavaCallsC() throws IOException, InterruptedException {
        String found = metadata(linked());
        if (Boolean.getBoolean("verbena.reachability.write")) {
            Files.createDirectories(METADATA.getParent());
            Files.writeString(METADATA, found);
        }
        assertThat(Files.readString(METADATA)).isEqualTo(found);
    }

    /// Returns the shapes that a JVM of its own links.
    private static List<String> linked() throws IOException, InterruptedException {
        var process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--add-opens=java.base/jdk.internal.foreign.abi=ALL-UNNAMED",
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        LinkedCalls.class.getName(),
                        House.ROOT.resolve("verbena.foreign").toString(),
                        House.ROOT.resolve("verbena.ibverbs").toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<String> shapes = process.inputReader().readAllLines();
        assertThat(process.waitFor()).isZero();
        assertThat(shapes).hasSizeGreaterThan(20);
        return shapes;
    }

    private static String metadata(List<String> shapes) {
        return shapes.stream()
                .map(each -> "      " + each)
                .collect(joining(",\n", "{\n  \"foreign\": {\n    \"downcalls\": [\n", "\n    ]\n  }\n}\n"));
    }
}
