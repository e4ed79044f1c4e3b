package verbena.tools.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Jackson is the judge.
class JsonTest {
    @Test
    void anyTextComesBackAsItWas() throws IOException {
        String text = IntStream.range(0, 0x1_0000)
                .filter(c -> !Character.isSurrogate((char) c))
                .mapToObj(Character::toString)
                .collect(Collectors.joining());

        assertThat(parse(Map.of("\"\\", text + "\ud83d\ude00")).get("\"\\").textValue())
                .isEqualTo(text + "\ud83d\ude00");
    }

    @Test
    void nothingEndsAScriptElement() {
        assertThat(Json.format(Map.of("a", "</script><!--"))).doesNotContain("<");
    }

    @Test
    void numbersHaveSixDigitsAndNoExponent() {
        assertThat(Json.format(List.of(1234.56789, 0.000_012_345_678, 5e9, 0.0, 1L << 60)))
                .isEqualToIgnoringWhitespace("[1234.57, 0.0000123457, 5000000000, 0, 1152921504606846976]");
    }

    @Test
    void whatIsNotThereIsLeftOut() throws IOException {
        var map = new LinkedHashMap<String, Object>();
        map.put("none", null);
        map.put("endless", Double.POSITIVE_INFINITY);
        map.put("empty", List.of());
        map.put("result", new Result(null, 8, 100, null, 1.5, new Latency(1, 2, 3, 4, 5)));

        JsonNode parsed = parse(map);

        assertThat(parsed.fieldNames()).toIterable().containsExactly("result");
        assertThat(parsed.get("result").fieldNames())
                .toIterable()
                .containsExactly("size", "iterations", "messageRateMpps", "latencyUs");
        assertThat(parsed.at("/result/latencyUs/p999").decimalValue()).isEqualTo(BigDecimal.valueOf(4));
    }

    @Test
    void anObjectThatFitsStandsOnOneLine() {
        assertThat(Json.format(Map.of("list", List.of(Map.of("a", 1, "b", List.of("c"))))))
                .isIn("""
                {
                  "list": [{"a": 1, "b": ["c"]}]
                }""", """
                {
                  "list": [{"b": ["c"], "a": 1}]
                }""");
    }

    @Test
    void whatHasNoJsonIsNamed() {
        assertThatThrownBy(() -> Json.format(List.of(Thread.currentThread())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("java.lang.Thread");
    }

    private static JsonNode parse(Object value) throws IOException {
        return new ObjectMapper().readTree(Json.format(value));
    }
}
