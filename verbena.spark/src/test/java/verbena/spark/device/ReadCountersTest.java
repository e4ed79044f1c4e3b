package verbena.spark.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.management.MBeanAttributeInfo;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import verbena.verbs.counting.LateBeans;
import verbena.verbs.counting.ProcessCounters;

class ReadCountersTest {
    @Test
    void jmxHasTheCountersThatTheRulesOfOpenTelemetryName() throws Exception {
        var counters = new ReadCounters();
        ProcessCounters.of("Spark").add(counters);
        counters.blocksByRead.add(3);
        LateBeans.begin();
        var server = ManagementFactory.getPlatformMBeanServer();
        var bean = new ObjectName("verbena:type=Counters,of=Spark");
        var there = Arrays.stream(server.getMBeanInfo(bean).getAttributes())
                .map(MBeanAttributeInfo::getName)
                .collect(Collectors.toCollection(TreeSet::new));
        Path rules = Path.of(System.getProperty("verbena.root"), "dist/share/monitoring/opentelemetry-jmx.yaml");
        String text = Files.readString(rules);
        var named = Pattern.compile("(?m)^ {6}([A-Z]\\w*):$")
                .matcher(text.substring(text.indexOf("of=Spark")))
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(named).isEqualTo(there);
        assertThat(server.getAttribute(bean, "BlocksRead")).isEqualTo(3L);
        ProcessCounters.of("Spark").remove(counters);
        assertThat(server.getAttribute(bean, "BlocksRead")).as("kept").isEqualTo(3L);
    }
}
