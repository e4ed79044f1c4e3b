package verbena.tools.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.tools.kit.Legible;

/// How places are written, and names shown.
class LocationTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "host:a/b   | host     | a/b",
                "10.0.0.3:  | 10.0.0.3 | ''",
                "[::1]:a:b  | ::1      | a:b",
                "[fe80::1%lo]:/x | fe80::1%lo | /x",
                "h:a:b      | h        | a:b",
                "./a:b      |          | ./a:b",
                "a/b:c      |          | a/b:c",
                ":a         |          | :a",
                "file       |          | file"
            })
    void aPlaceIsHereOrThereAsWithScp(String text, String host, String path) {
        assertThat(Location.parse(text)).isEqualTo(new Location(host, path));
    }

    @Test
    void namesAreBytesAndComeBackAsTheyWere() {
        byte[] odd = {'a', '/', (byte) 0xff, (byte) 0xc3, 'z', '%', ' ', '\n'};

        Path path = Names.path(odd);

        assertThat(path.getNameCount()).isEqualTo(2);
        assertThat(path.isAbsolute()).isFalse();
        assertThat(Names.bytes(path)).isEqualTo(odd);
        assertThat(Names.bytes(Names.path("ö/€".getBytes(StandardCharsets.UTF_8))))
                .isEqualTo("ö/€".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aNameDoesNotSpeakToTheTerminal() {
        assertThat(Legible.text("a\u001b[2Jb\u202ec\r".getBytes(StandardCharsets.UTF_8)))
                .isEqualTo("a\\x1b[2Jb\\x202ec\\x0d");
    }
}
