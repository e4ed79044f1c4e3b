package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Chinese documents can be read once, too: short sentences, the punctuation of Chinese, a space before and behind
/// Latin words, one word for each thing, and its English name where a document has it first.
class ChineseProseTest {
    /// Of characters, where a Latin word or a number counts as one.
    private static final int SENTENCE_MAX = 70;

    private static final Pattern FENCE = Pattern.compile("(?ms)^```.*?^```$");
    private static final Pattern INDENTED = Pattern.compile("(?m)^    .*$");
    private static final Pattern COMMENT = Pattern.compile("(?m)(?:#|//) (?=.*\\p{IsHan})(.*)$");
    private static final Pattern CODE = Pattern.compile("`[^`]+`");
    private static final Pattern LINK = Pattern.compile("\\[([^]]*)]\\([^)]*\\)");
    private static final Pattern SENTENCE_END = Pattern.compile("[。！？；\\n|]");
    private static final Pattern LENGTH = Pattern.compile("\\p{IsHan}|[\\p{Alnum}_.,/-]+");

    /// What is wrong wherever it stands, and why.
    private static final Map<String, Pattern> WRONG = new TreeMap<>(Map.of(
            "Chinese punctuation behind a Chinese character", Pattern.compile("\\p{IsHan}\\*{0,2} ?[,;:?!()]"),
            "Chinese punctuation before a Chinese character", Pattern.compile("[,;:?!(] ?\\*{0,2}\\p{IsHan}"),
            "a space before a Latin word", Pattern.compile("\\p{IsHan}\\*{0,2}[\\p{Alnum}`]"),
            "a space behind a Latin word", Pattern.compile("[\\p{Alnum}`%]\\*{0,2}\\p{IsHan}"),
            "no space at Chinese punctuation",
                    Pattern.compile("[，。：；！？、（）“”]\\*{0,2} +[^|\\s]|[^|\\s-] +[，。：；！？、（）“”]"),
            "no space between Chinese characters", Pattern.compile("\\p{IsHan} +\\p{IsHan}"),
            "no new line in a paragraph, which shows as a space",
                    Pattern.compile("[\\p{IsHan}，。：；！？、）”]\\n[^\\n|#-]")));

    private static final Pattern EMPHASIS = Pattern.compile("(.?)\\*{1,2}([^*\\n]+)\\*{1,2}(?=(.?))");

    /// Other words for the same thing.
    private static final Map<String, String> WORDS = Map.of(
            "数据包", "报文",
            "分组", "报文",
            "完成事件", "完成项",
            "内存区(?!域)", "内存区域",
            "队列偶", "队列对",
            "重发", "重传",
            "旁通", "旁路",
            "远端", "对端",
            "秘钥", "密钥");

    /// The terms of the field. A reader meets them in English everywhere else.
    private static final Map<String, String> TERMS = Map.ofEntries(
            Map.entry("零拷贝", "zero copy"),
            Map.entry("内核旁路", "kernel bypass"),
            Map.entry("卸载", "offload"),
            Map.entry("门铃", "doorbell"),
            Map.entry("队列对", "queue pair"),
            Map.entry("工作请求", "work request"),
            Map.entry("完成项", "completion"),
            Map.entry("完成队列", "completion queue"),
            Map.entry("共享接收队列", "shared receive queue"),
            Map.entry("保护域", "protection domain"),
            Map.entry("内存区域", "memory region"),
            Map.entry("内存窗口", "memory window"),
            Map.entry("注册", "regist"),
            Map.entry("单边", "one-sided"),
            Map.entry("双边", "two-sided"),
            Map.entry("立即数", "immediate"),
            Map.entry("请求端", "requester"),
            Map.entry("响应端", "responder"),
            Map.entry("轮询", "polling"),
            Map.entry("数据报", "datagram"),
            Map.entry("多播", "multicast"),
            Map.entry("重传", "retransmission"),
            Map.entry("选择性重传", "selective repeat"),
            Map.entry("拥塞控制", "congestion control"),
            Map.entry("连接管理器", "connection manager"),
            Map.entry("私有数据", "private data"));

    static List<String> documents() throws IOException {
        return Translation.all().stream().map(Translation::chinese).toList();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void aDocumentCanBeReadOnce(String document) {
        assertThat(findings(Translation.text(document))).isEmpty();
    }

    /// The table of contents has only titles, and each chapter says its terms itself.
    @ParameterizedTest
    @MethodSource("documents")
    void aTermHasItsEnglishNameWhereItComesFirst(String document) {
        if (!document.endsWith("zh/README.md")) {
            assertThat(termsWithoutEnglish(Translation.text(document))).isEmpty();
        }
    }

    @Test
    void everyKindOfFindingIsFound() {
        assertThat(findings("字".repeat(SENTENCE_MAX) + "。短句。")).isEmpty();
        assertThat(findings("字".repeat(SENTENCE_MAX) + "，长。")).hasSize(1);
        for (String wrong : List.of(
                "网卡,内核。",
                "RDMA (网卡)。",
                "用RDMA 传。",
                "用 RDMA传。",
                "用 `perf`测。",
                "网卡 ，内核。",
                "网 卡。",
                "第一行\n第二行。",
                "**答案：**没有。",
                "叫**“网卡”**。",
                "**网卡。** 内核。",
                "一个数据包。")) {
            assertThat(findings(wrong)).as(wrong).isNotEmpty();
        }
        assertThat(findings("""
                # 标题

                - **网卡**（NIC）用 `perf` 测，见[第 6 章](a.md)：5 % 的 64 字节。

                | 网卡 | 8 |

                    perf,内核    # 网卡，8 个
                """)).isEmpty();
        assertThat(termsWithoutEnglish("# 门铃\n\n按**门铃**（doorbell），再按门铃。")).isEmpty();
        assertThat(termsWithoutEnglish("按门铃，再按门铃（doorbell）。")).hasSize(1);
    }

    private static List<String> findings(String document) {
        var findings = new ArrayList<String>();
        String prose = prose(document);
        WRONG.forEach((why, pattern) -> pattern.matcher(prose)
                .results()
                .forEach(each -> findings.add(why + ": " + around(prose, each.start()))));
        WORDS.forEach((word, better) -> Pattern.compile(word)
                .matcher(prose)
                .results()
                .forEach(each -> findings.add(better + " is the word: " + around(prose, each.start()))));
        EMPHASIS.matcher(prose)
                .results()
                .filter(ChineseProseTest::isNoEmphasis)
                .forEach(each -> findings.add("punctuation outside of emphasis, else the mark shows: " + each.group()));
        for (String sentence : SENTENCE_END.split(prose, -1)) {
            long length = LENGTH.matcher(sentence).results().count();
            if (length > SENTENCE_MAX) {
                findings.add(length + " characters: " + sentence);
            }
        }
        return findings;
    }

    /// Markdown takes a mark between a letter and punctuation for one that looks the other way.
    private static boolean isNoEmphasis(MatchResult emphasis) {
        String inside = emphasis.group(2);
        return (isWord(emphasis.group(1)) && !isWord(inside.substring(0, 1)))
                || (isWord(emphasis.group(3)) && !isWord(inside.substring(inside.length() - 1)));
    }

    private static boolean isWord(String text) {
        return text.codePoints().anyMatch(Character::isLetterOrDigit);
    }

    private static List<String> termsWithoutEnglish(String document) {
        String prose = prose(document).replaceAll("(?m)^#.*$", "").replace("*", "");
        return TERMS.entrySet().stream()
                .filter(term -> {
                    Matcher first = Pattern.compile(
                                    term.getKey() + "([^（，。；：、|\\n]{0,8}（[^）]*" + term.getValue() + ")?")
                            .matcher(prose);
                    return first.find() && first.group(1) == null;
                })
                .map(term -> term.getKey() + " without (" + term.getValue() + ")")
                .toList();
    }

    /// A document without code, but with the Chinese comments of code, each a paragraph.
    private static String prose(String document) {
        var comments = new StringBuilder();
        Matcher code =
                Pattern.compile(FENCE.pattern() + "|" + INDENTED.pattern()).matcher(document);
        while (code.find()) {
            COMMENT.matcher(code.group())
                    .results()
                    .forEach(each -> comments.append(each.group(1)).append("\n\n"));
        }
        String text = code.replaceAll("");
        return LINK.matcher(CODE.matcher(text).replaceAll("`c`")).replaceAll("$1") + "\n\n" + comments;
    }

    private static String around(String text, int at) {
        return text.substring(Math.max(0, at - 10), Math.min(text.length(), at + 12))
                .replace("\n", "\\n");
    }
}
