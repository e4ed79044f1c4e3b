package verbena.tools.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ReportTest {
    private static final Report REPORT = new Report(
            "WRITE bandwidth <of> one",
            Map.of("device", "rocev2@127.0.0.1"),
            List.of(
                    new Result(null, 8, 1_000, 10.0, 1.25, null),
                    new Result(null, 65_536, 1_000, 1_500.0, 0.024, new Latency(1.5, 2, 3, 4, 500))));

    @Test
    void asJsonItHasTheFieldsThatTheDocumentsName() throws IOException {
        JsonNode json = new ObjectMapper().readTree(REPORT.json());

        assertThat(json.at("/facts/device").textValue()).isEqualTo("rocev2@127.0.0.1");
        assertThat(json.has("goals")).isFalse();
        assertThat(json.at("/results/1")).isEqualTo(new ObjectMapper().readTree("""
                {"size": 65536, "iterations": 1000, "bandwidthMBps": 1500, "messageRateMpps": 0.024,
                 "latencyUs": {"min": 1.5, "p50": 2, "p99": 3, "p999": 4, "max": 500}}"""));
    }

    @Test
    void thePageHoldsAllThatItNeeds() throws IOException {
        String page = REPORT.html();

        assertThat(page).startsWith("<!DOCTYPE html>").contains("var uPlot=").doesNotContain("/*UPLOT", "/*REPORT");
        assertThat(page).as("nothing is loaded").doesNotContainPattern("\\s(src|href)=|@import|url\\(");
        var data = Pattern.compile("<script type=\"application/json\" id=\"report\">(.*?)</script>", Pattern.DOTALL)
                .matcher(page);
        assertThat(data.find()).isTrue();
        assertThat(new ObjectMapper().readTree(data.group(1))).isEqualTo(new ObjectMapper().readTree(REPORT.json()));
    }
}
