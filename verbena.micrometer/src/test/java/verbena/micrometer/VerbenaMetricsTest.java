package verbena.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;

@Timeout(180)
class VerbenaMetricsTest {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    private double counter(String name) {
        return registry.get(name).functionCounters().stream()
                .mapToDouble(each -> each.count())
                .sum();
    }

    private double gauge(String name) {
        return registry.get(name).gauges().stream()
                .mapToDouble(each -> each.value())
                .sum();
    }

    private Set<Meter.Id> ids() {
        return registry.getMeters().stream().map(Meter::getId).collect(Collectors.toSet());
    }

    @Test
    void whatWasUsedIsCountedAfterItsClose() throws Exception {
        try (var metrics = new VerbenaMetrics(Tags.of("service", "test"))) {
            metrics.bindTo(registry);
            Everything.use();
            double connected = counter("verbena.connections.connected");
            double calls = counter("verbena.messages.calls");
            double answered = counter("verbena.messages.calls.answered");
            double read = counter("verbena.streams.in.bytes");
            double packets = counter("verbena.device.sent.packets");
            double accepted = counter("verbena.device.accepted");
            Everything.use();
            assertThat(counter("verbena.connections.connected")).isGreaterThan(connected);
            assertThat(counter("verbena.messages.calls")).isEqualTo(calls + 1);
            assertThat(counter("verbena.messages.calls.answered")).isEqualTo(answered + 1);
            assertThat(counter("verbena.messages.calls.failed")).isZero();
            assertThat(counter("verbena.streams.in.bytes")).isEqualTo(read + Everything.BYTES.length);
            assertThat(counter("verbena.streams.out.bytes")).isEqualTo(read + Everything.BYTES.length);
            assertThat(counter("verbena.device.sent.packets")).isGreaterThan(packets);
            assertThat(counter("verbena.device.accepted")).isGreaterThan(accepted);
            for (String open : List.of("device", "connections", "streams")) {
                assertThat(gauge("verbena." + open + ".open")).as(open).isZero();
            }
            assertThat(gauge("verbena.messages.workers")).isZero();
            assertThat(gauge("verbena.messages.peers")).isZero();
            assertThat(ids()).allMatch(id -> Objects.equals(id.getTag("service"), "test"));
        }
    }

    @Test
    void queuePairsAreSummedAndGetNoMetersOfTheirOwn() {
        try (var metrics = new VerbenaMetrics();
                Context device = Device.named("rocev2").open();
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue queue = device.createCompletionQueue(100)) {
            metrics.bindTo(registry);
            Set<Meter.Id> before = ids();
            double pairs = gauge("verbena.device.queue.pairs");
            var made = new ArrayList<QueuePair>();
            for (int i = 0; i < 20; i++) {
                made.add(domain.createQueuePair(QueuePairOptions.rc(queue)));
            }
            assertThat(gauge("verbena.device.queue.pairs")).isEqualTo(pairs + 20);
            assertThat(gauge("verbena.device.queue.pairs.failed")).isZero();
            assertThat(gauge("verbena.device.open")).isPositive();
            assertThat(ids()).isEqualTo(before);
            made.forEach(QueuePair::close);
        }
    }

    @Test
    void aDeviceThatOpensLaterIsCountedAndOptionsAreNoTag() {
        try (var metrics = new VerbenaMetrics()) {
            metrics.bindTo(registry);
            for (String name : List.of("shm", "rocev2,mtu=1024", "rocev2,mtu=2048")) {
                Device.named(name).open().close();
            }
            Set<String> devices = registry.get("verbena.device.sent.packets").functionCounters().stream()
                    .map(each -> Objects.requireNonNull(each.getId().getTag("device")))
                    .collect(Collectors.toSet());
            assertThat(devices).contains("shm").allMatch(each -> !each.contains(","));
            assertThat(registry.get("verbena.device.dropped.packets").functionCounters())
                    .extracting(each -> each.getId().getTag("reason"))
                    .contains("icrc", "unknown-qp");
        }
    }

    @Test
    void aClosedBinderMakesNoMoreMeters() {
        var metrics = new VerbenaMetrics();
        metrics.bindTo(registry);
        metrics.close();
        Set<Meter.Id> before = ids();
        Device.named("iwarp").open().close();
        assertThat(ids().stream()
                        .filter(id -> id.getTags().contains(Tag.of("device", "iwarp")))
                        .toList())
                .isEqualTo(before.stream()
                        .filter(id -> id.getTags().contains(Tag.of("device", "iwarp")))
                        .toList());
    }
}
