package verbena.nic.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Scanner;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import verbena.verbs.Gid;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.spi.ConnectionService.CallerPort;

class PortTableTest {
    private static final Gid HERE = Gid.of(InetAddress.ofLiteral("10.0.0.1"));
    private static final Gid THERE = Gid.of(InetAddress.ofLiteral("10.0.0.2"));

    private final PortTable table = new PortTable(40_000, 40_003);

    private CallerPort call() {
        return table.call(PortSpace.TCP, HERE);
    }

    private boolean bind(int port) {
        return table.bind(PortSpace.TCP, HERE, port);
    }

    @Test
    void callersGetThePortsOfTheRangeOnceEach() {
        List<CallerPort> all = IntStream.range(0, 4).mapToObj(_ -> call()).toList();
        assertThat(all).extracting(CallerPort::port).containsExactlyInAnyOrder(40_000, 40_001, 40_002, 40_003);
        assertThatThrownBy(this::call)
                .isInstanceOf(ResourceLimitException.class)
                .hasMessage("resolveAddress: ports is 4; all of 10.0.0.1 are taken");
        all.get(2).close();
        assertThat(call().port()).isEqualTo(all.get(2).port());
    }

    /// The kernel gives a listener of TCP the others while it can, and a client these.
    @Test
    void everySecondPortComesFirst() {
        var odd = new PortTable(40_001, 40_005);
        List<Integer> all = IntStream.range(0, 5)
                .map(_ -> odd.call(PortSpace.TCP, HERE).port())
                .boxed()
                .toList();
        assertThat(all.subList(0, 3)).containsExactlyInAnyOrder(40_001, 40_003, 40_005);
        assertThat(all.subList(3, 5)).containsExactlyInAnyOrder(40_002, 40_004);
    }

    @Test
    void theRangeIsTheSystems() throws IOException {
        Path system = Path.of("/proc/sys/net/ipv4/ip_local_port_range");
        assumeTrue(Files.isReadable(system), "no Linux");
        try (var in = new Scanner(system, StandardCharsets.US_ASCII)) {
            int first = in.nextInt();
            int last = in.nextInt();
            int[] seen = IntStream.range(0, 200)
                    .map(_ -> PortTable.OF_PROCESS.call(PortSpace.IB, HERE).port())
                    .toArray();
            assertThat(Arrays.stream(seen).allMatch(port -> port >= first && port <= last))
                    .as("%d to %d: %s", first, last, Arrays.toString(seen))
                    .isTrue();
        }
    }

    @Test
    void eachAddressAndEachPortSpaceHasPortsOfItsOwn() {
        for (int i = 0; i < 4; i++) {
            call();
            table.call(PortSpace.UDP, HERE);
            table.call(PortSpace.TCP, THERE);
        }
        assertThatThrownBy(() -> table.call(PortSpace.UDP, HERE)).isInstanceOf(ResourceLimitException.class);
    }

    @Test
    void aBoundPortIsNoCallers() {
        assertThat(bind(40_001)).isTrue();
        assertThat(bind(40_001)).as("by another device").isTrue();
        table.unbind(PortSpace.TCP, HERE, 40_001);
        var called = new ArrayList<Integer>();
        for (int i = 0; i < 3; i++) {
            called.add(call().port());
        }
        assertThat(called).doesNotContain(40_001);
        assertThatThrownBy(this::call).isInstanceOf(ResourceLimitException.class);
        table.unbind(PortSpace.TCP, HERE, 40_001);
        assertThat(call().port()).isEqualTo(40_001);
    }

    @Test
    void aCallersPortIsNotBound() {
        CallerPort called = call();
        assertThat(bind(called.port())).isFalse();
        called.close();
        assertThat(bind(called.port())).isTrue();
    }
}
