package verbena.tools.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.tools.kit.CommandFailed;

/// A name is its bytes, also where the locale has no words for them.
class NamesTest {
    /// Parts are never worked out: where a link leads has to be judged by what it says.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "a",
                "a/b",
                "../a",
                "a/../b",
                "\u00e9",
                "../\u00e9",
                "\u00e9/../../x",
                "x/./\u00e9",
                "\uffff/%41",
                "a b"
            })
    void aPathIsWrittenAndReadAsItStands(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        Path path = Names.path(bytes);
        assertThat(path.getNameCount()).isEqualTo(text.split("/", -1).length);
        assertThat(Names.bytes(path)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/tmp/a", "/tmp/\u00e9", "/\u00e9"})
    void anAbsolutePathKeepsItsSlash(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        Path absolute = Path.of("/").resolve(Names.path(bytes));
        assertThat(Names.bytes(absolute)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"//a//b//", "//\u00e9//b//"})
    void slashesMoreThanOneMeanNothing(String text) {
        Path path = Names.path(text.getBytes(StandardCharsets.UTF_8));
        assertThat(path.isAbsolute()).isFalse();
        assertThat(path.getNameCount()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\u00e9/../../x", "a/../../x", "../../\u00e9", "/\u00e9"})
    void aLinkThatLeadsOutStaysBehindWhateverItsLettersAre(String target) {
        byte[] bytes = target.getBytes(StandardCharsets.UTF_8);
        Path path = target.startsWith("/") ? Path.of("/").resolve(Names.path(bytes)) : Names.path(bytes);
        assertThat(Entry.staysBehind(Path.of("tree/link"), path)).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\0b", "\u00e9\0"})
    void noNameHasAZeroByte(String text) {
        assertThatThrownBy(() -> Names.path(text.getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(CommandFailed.class);
    }
}
