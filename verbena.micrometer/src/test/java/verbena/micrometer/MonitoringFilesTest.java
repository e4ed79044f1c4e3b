package verbena.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.BufferedReader;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.verbs.counting.LateBeans;

/// The files for monitoring name only what a process has, and all of it.
@Timeout(180)
class MonitoringFilesTest {
    private static final Path ROOT = Path.of(System.getProperty("verbena.root"));
    private static final Path FILES = ROOT.resolve("dist/share/monitoring");
    private static final Pattern METRIC = Pattern.compile("verbena_[a-z0-9_]+");
    /// The counters of links, which not every device has.
    private static final Pattern OF_LINK =
            Pattern.compile("Device (Shm|Tcp|Ethernet|Psp|Ib|Udp|Faults|Shared|Xdp|Packet|Raw)[A-Z].*");

    @BeforeAll
    static void use() throws Exception {
        Everything.use();
        LateBeans.begin();
    }

    private static String scrape() {
        var registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        try (var metrics = new VerbenaMetrics()) {
            metrics.bindTo(registry);
        }
        return registry.scrape();
    }

    private static Set<String> metrics(String scraped) {
        return scraped.lines()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.split("[{ ]", 2)[0])
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void theDashboardAsksForMetricsThatAreThere() throws Exception {
        JsonNode dashboard =
                new ObjectMapper().readTree(FILES.resolve("grafana.json").toFile());
        Set<String> there = metrics(scrape());
        var asked = new TreeSet<String>();
        var subjects = new TreeSet<String>();
        for (JsonNode panel : dashboard.get("panels")) {
            if (panel.get("type").asText().equals("row")) {
                continue;
            }
            assertThat(panel.get("targets")).as(panel.get("title").asText()).isNotEmpty();
            for (JsonNode target : panel.get("targets")) {
                Matcher found = METRIC.matcher(target.get("expr").asText());
                while (found.find()) {
                    asked.add(found.group());
                    subjects.add(found.group().split("_", -1)[1]);
                }
            }
        }
        assertThat(there).containsAll(asked);
        assertThat(subjects).containsExactlyInAnyOrder("device", "connections", "messages", "streams", "nio", "netty");
    }

    // ---- OpenTelemetry

    /// A rule as the file has it.
    private record Rule(String bean, String prefix, TreeMap<String, String> attributes) {}

    private static List<Rule> rules() throws Exception {
        var rules = new ArrayList<Rule>();
        String attribute = "";
        for (String line : Files.readAllLines(FILES.resolve("opentelemetry-jmx.yaml"))) {
            String text = line.strip();
            if (text.startsWith("- bean: ")) {
                rules.add(new Rule(text.substring("- bean: ".length()), "", new TreeMap<>()));
            } else if (text.startsWith("prefix: ")) {
                Rule last = rules.removeLast();
                rules.add(new Rule(last.bean, text.substring("prefix: ".length()), last.attributes));
            } else if (text.matches("[A-Z]\\w*:")) {
                attribute = text.substring(0, text.length() - 1);
            } else if (text.startsWith("metric: ")) {
                Rule last = rules.getLast();
                last.attributes.put(attribute, last.prefix + text.substring("metric: ".length()));
            }
        }
        return rules;
    }

    @Test
    void theRulesOfOpenTelemetryNameBeansAndAttributesThatAreThere() throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        var registry = new SimpleMeterRegistry();
        try (var metrics = new VerbenaMetrics()) {
            metrics.bindTo(registry);
        }
        Set<String> meters = registry.getMeters().stream()
                .map(Meter::getId)
                .map(Meter.Id::getName)
                .collect(Collectors.toSet());
        var kinds = new TreeSet<String>();
        var named = new TreeSet<String>();
        var found = new TreeSet<String>();
        for (Rule rule : rules()) {
            String kind = new ObjectName(rule.bean).getKeyProperty("of");
            kinds.add(kind);
            if (kind.equals("Spark")) {
                continue; // a test of verbena.spark looks at it
            }
            Set<ObjectName> beans = server.queryNames(new ObjectName(rule.bean), null);
            assertThat(beans).as(rule.bean).isNotEmpty();
            for (ObjectName bean : beans) {
                for (MBeanAttributeInfo each : server.getMBeanInfo(bean).getAttributes()) {
                    found.add(kind + " " + each.getName());
                    assertThat(server.getAttribute(bean, each.getName())).isInstanceOf(Long.class);
                    assertThat(each.getDescriptor().getFieldValue("metricType")).isIn("counter", "gauge");
                }
            }
            rule.attributes.keySet().forEach(each -> named.add(kind + " " + each));
            assertThat(meters).as("Micrometer's names are the same").containsAll(rule.attributes.values());
        }
        found.removeIf(each -> OF_LINK.matcher(each).matches());
        assertThat(named).isEqualTo(found);
        assertThat(kinds)
                .containsExactlyInAnyOrder("Device", "Connections", "Messages", "Streams", "Nio", "Netty", "Spark");
    }

    // ---- the example

    @Test
    void theExampleServesItsMetrics() throws Exception {
        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ROOT.resolve("examples/metrics/Metrics.java").toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader said = program.inputReader(StandardCharsets.UTF_8);
                HttpClient client = HttpClient.newHttpClient()) {
            String url = said.readLine();
            assertThat(url).matches("http://127\\.0\\.0\\.1:\\d+/metrics");
            String body = client.send(
                            HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
            assertThat(body).contains("verbena_connections_open 2.0").contains("verbena_device_completions_total");
            program.getOutputStream().close();
            assertThat(program.waitFor()).isZero();
        } finally {
            program.destroyForcibly();
        }
    }
}
