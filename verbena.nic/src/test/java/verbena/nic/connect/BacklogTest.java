package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// More peers ask than there is room for: they wait, as with a socket. All are of one host.
@Timeout(120)
class BacklogTest {
    @Nested
    class OverRocev2 extends Crowded {
        OverRocev2() {
            super("rocev2");
        }
    }

    @Nested
    class OverIwarp extends Crowded {
        OverIwarp() {
            super("iwarp");
        }
    }

    abstract static class Crowded extends ConnectingDevices {
        private Crowded(String name) {
            super(name);
        }

        @Test
        void whoFindsTheBacklogFullWaits() throws Exception {
            crowd(2, 12);
        }

        @Test
        void oneHostMayHaveTheWholeBacklog() throws Exception {
            crowd(1_000, 300);
        }

        /// So many connect at once, and are accepted only when all have begun.
        private void crowd(int backlog, int count) throws Exception {
            var options = ConnectionOptions.defaults().withDevice(serverDevice);
            try (var listener = ConnectionListener.bind(at(0), options, backlog)) {
                var begun = new CountDownLatch(count);
                var connecting = new ArrayList<Future<Connection>>();
                for (int i = 0; i < count; i++) {
                    connecting.add(meanwhile(() -> {
                        begun.countDown();
                        return connect(listener);
                    }));
                }
                begun.await();
                var ends = new ArrayList<Connection>();
                for (int i = 0; i < count; i++) {
                    ends.add(listener.accept());
                }
                for (Future<Connection> each : connecting) {
                    ends.add(get(each));
                }
                assertThat(ends).hasSize(2 * count);
                ends.forEach(Connection::close);
            }
        }
    }
}
