package verbena.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Replays the corpora: what the search has found interesting, or wrong once.
class CorpusTest {
    private static final Path CORPUS = Path.of(System.getProperty("verbena.root"), "workshop", "fuzz", "corpus");
    private static final int INPUTS_MIN = 5;
    private static final long BYTES_MAX = 200_000;

    @ParameterizedTest
    @EnumSource
    void everyInputOfTheCorpusKeepsTheContract(Target target) throws IOException {
        List<Path> inputs = inputs(CORPUS.resolve(target.label()));
        assertThat(inputs).hasSizeGreaterThanOrEqualTo(INPUTS_MIN);
        for (Path input : inputs) {
            try {
                target.run(Files.readAllBytes(input));
            } catch (RuntimeException | Error e) {
                throw new AssertionError(CORPUS.relativize(input) + " breaks the contract", e);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void inputsCutShortAtEveryPlaceKeepItToo(Target target) throws IOException {
        for (Path input : inputs(CORPUS.resolve(target.label()))) {
            byte[] whole = Files.readAllBytes(input);
            for (int i = 0; i < 16; i++) {
                int length = whole.length * i / 16;
                try {
                    target.run(java.util.Arrays.copyOf(whole, length));
                } catch (RuntimeException | Error e) {
                    throw new AssertionError(
                            "the first " + length + " bytes of " + CORPUS.relativize(input) + " break the contract", e);
                }
            }
        }
    }

    @Test
    void theCorpusIsSmallAndHasAFolderForEachTarget() throws IOException {
        long bytes = 0;
        for (Path input : inputs(CORPUS)) {
            bytes += Files.size(input);
        }
        assertThat(bytes).isLessThan(BYTES_MAX);
        try (Stream<Path> folders = Files.list(CORPUS)) {
            assertThat(folders.map(folder -> folder.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(
                            Stream.of(Target.values()).map(Target::label).toList());
        }
    }

    private static List<Path> inputs(Path under) throws IOException {
        try (Stream<Path> files = Files.walk(under)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        }
    }
}
