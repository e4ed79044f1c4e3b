package verbena.spark.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Secret;

class DirectoryTest {
    private final Directory directory = new Directory(
            Secret.of(new byte[32]),
            List.of(
                    new Directory.Entrance("host", true, 0, "127.0.0.1", 70, new RemoteMemory(1L << 40, -5, 4096)),
                    new Directory.Entrance(
                            "InfiniBand RoCE v2", false, 1, "::1", 65_535, new RemoteMemory(3, 4, 4096))));

    @Test
    void aReaderUnderstandsWhatAnExecutorSays() throws IOException {
        assertThat(Directory.read(new ByteArrayInputStream(directory.bytes()))).isEqualTo(directory);
    }

    @Test
    void whatIsCutOrDamagedIsRefusedOrDifferent() {
        byte[] whole = directory.bytes();
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> Directory.read(new ByteArrayInputStream(cut)))
                    .isInstanceOf(IOException.class);
        }
        var random = new SplittableRandom(1);
        for (int i = 0; i < 2_000; i++) {
            byte[] damaged = whole.clone();
            damaged[random.nextInt(whole.length)] = (byte) random.nextInt();
            try {
                Directory.read(new ByteArrayInputStream(damaged));
            } catch (IOException e) {
                assertThat(e).isNotNull(); // the only way to refuse
            }
        }
    }
}
