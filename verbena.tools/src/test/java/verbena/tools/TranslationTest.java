package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/// The Chinese documents have the chapters, headings, commands, code, figures and links of the English ones.
class TranslationTest {
    private static final Translation PAGE = new Translation("docs/learn/README.md", "docs/learn/zh/README.md");
    /// A digit, and the first letter of each piece and line of code.
    private static final Pattern MATTERS = Pattern.compile("\\d|(?<=`)\\w(?=[^`\\n]*`)|(?m)(?<=^    )\\S");
    private static final String ENGLISH = """
            # Title

            [中文](zh/README.md)

            Run `a -s 64` and `b` for 10,000 bytes, as [chapter 6](06-memory-and-keys.md) says.

            | 2.5 million/s | 5 % |

                ./verbena cp 8    # copies 8 files
            """;
    private static final String CHINESE = """
            # 标题

            [English](../README.md)

            用 `a -s 64` 和 `b` 传 10,000 字节，见[第 6 章](06-memory-and-keys.md)。

            | 250 万/s | 5% |

                ./verbena cp 8    # 拷贝 8 个文件
            """;

    static List<Translation> pages() throws IOException {
        return Translation.all();
    }

    @ParameterizedTest
    @MethodSource("pages")
    void bothLanguagesHaveTheSameCommandsCodeFiguresAndLinks(Translation page) {
        assertThat(page.differences(page.englishText(), page.chineseText())).isEmpty();
    }

    /// No digit and no letter of code can be changed in one language only.
    @ParameterizedTest
    @MethodSource("pages")
    void eachDigitAndEachCommandOfAPageIsCompared(Translation page) {
        String english = page.englishText();
        String chinese = page.chineseText();
        assertThat(placesThatMatter(chinese)
                        .filter(at -> page.differences(english, changedAt(chinese, at))
                                .isEmpty())
                        .mapToObj(at -> chinese.substring(Math.max(0, at - 20), at + 1)))
                .isEmpty();
    }

    private static IntStream placesThatMatter(String text) {
        return MATTERS.matcher(text).results().mapToInt(each -> each.start());
    }

    @Test
    void aPageAndItsTranslationAreEqual() {
        assertThat(PAGE.differences(ENGLISH, CHINESE)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
                    a command,            `a -s 64`,        `a -s 46`
                    the order of commands, '`a -s 64` 和 `b`', '`b` 和 `a -s 64`'
                    a line of code,       verbena cp 8,     verbena mv 8
                    the columns of code,  'cp 8    #',      'cp 8   #'
                    a figure,             '10,000',         '1,000'
                    a unit,               字节,             位
                    a scale,              250 万,           25 万
                    a figure of a comment, 拷贝 8 个,       拷贝 9 个
                    a level of headings,  # 标题,           ## 标题
                    a cell of a table,    /s | 5,           '/s, 5'
                    a link,               06-memory-and-keys.md, 07-polling-and-events.md
                    a link to nothing,    06-memory-and-keys.md, 06-memory.md
                    a link to English,    06-memory-and-keys.md, ../06-memory-and-keys.md
                    the other language,   ../README.md,     ../../README.md
                    a paragraph,          用,     '第一。

                    用'
                    """)
    void aDifferenceIsFound(String what, String is, String becomes) {
        assertThat(CHINESE).contains(is);
        assertThat(PAGE.differences(ENGLISH, CHINESE.replace(is, becomes)))
                .as(what)
                .isNotEmpty();
    }

    private static String changedAt(String text, int at) {
        char changed = text.charAt(at) == '7' ? '8' : '7';
        return text.substring(0, at) + changed + text.substring(at + 1);
    }
}
