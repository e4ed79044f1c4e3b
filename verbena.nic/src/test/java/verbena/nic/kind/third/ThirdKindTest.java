package verbena.nic.kind.third;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import verbena.nic.device.DeviceContext;
import verbena.nic.kind.LocalQueuePair;
import verbena.nic.link.FramelessLink;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Gid;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.UnsupportedException;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// A third kind of device, [SwitchboardKind], works with the device objects as they are: it is a package of its
/// own and needs no change in theirs.
class ThirdKindTest {
    private static final int BYTES = 64;

    private final End a = new End("10.0.0.1");
    private final End b = new End("10.0.0.2");

    /// One device of the third kind, with a queue pair.
    private static final class End implements AutoCloseable {
        final DeviceContext context;
        final ProtectionDomain domain;
        final CompletionQueue completions;
        final MemoryRegion region;
        final QueuePair queuePair;
        final WorkCompletion wc = new WorkCompletion();

        End(String address) {
            var bell = new Bell(Gid.parse(address));
            context = DeviceContext.open(
                    new SwitchboardDevice("switchboard-" + address, bell),
                    List.of(new FramelessLink(bell)),
                    SwitchboardKind::new,
                    Mtu.MTU_4096);
            domain = context.allocateProtectionDomain();
            completions = context.createCompletionQueue(16);
            region = domain.register(Arena.ofAuto().allocate(BYTES, 8), Set.of(Access.LOCAL_WRITE));
            queuePair = domain.createQueuePair(QueuePairOptions.of(QpType.RC, completions));
        }

        void to(QpState... states) {
            for (QpState state : states) {
                queuePair.modify(new QpModification().withState(state));
            }
        }

        void send(String text) {
            region.segment().setString(0, text);
            queuePair.postSend(1, region.slice(0, BYTES));
        }

        void receive() {
            queuePair.postReceive(2, region.slice(0, BYTES));
        }

        WorkCompletion await() throws InterruptedException {
            assertThat(completions.await(wc, Duration.ofSeconds(10))).isTrue();
            return wc;
        }

        @Override
        public void close() {
            queuePair.close();
            region.close();
            completions.close();
            domain.close();
            context.close();
        }
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    private void connect() {
        SwitchboardDriver.join((LocalQueuePair) a.queuePair, (LocalQueuePair) b.queuePair);
        a.to(QpState.INIT, QpState.RTR, QpState.RTS);
        b.to(QpState.INIT, QpState.RTR, QpState.RTS);
    }

    @Test
    void aMessageGoesFromMemoryToMemory() throws Exception {
        connect();
        b.receive();

        a.send("from afar");

        assertThat(b.await().status()).isEqualTo(WcStatus.SUCCESS);
        assertThat(b.wc.byteLength()).isEqualTo(BYTES);
        assertThat(b.region.segment().getString(0)).isEqualTo("from afar");
        assertThat(a.await().status()).isEqualTo(WcStatus.SUCCESS);
        assertThat(a.wc.wrId()).isEqualTo(1);
    }

    @Test
    void theKindGivesTheMemoryOfRegionsByTheirRights() {
        List<String> events = ((SwitchboardKind) a.context.kind()).memory().events;
        MemoryRegion small = a.domain.allocate(100, Set.of(Access.REMOTE_READ));
        MemoryRegion large = a.domain.allocate(100_000, Set.of(Access.LOCAL_WRITE));
        assertThat(events)
                .containsExactly("100 [REMOTE_READ]", "source 1048576", "100000 [LOCAL_WRITE]", "source 100000");
        assertThat(small.segment().mismatch(MemorySegment.ofArray(new byte[100])))
                .isEqualTo(-1);

        MemorySegment memory = large.segment();
        large.close();
        assertThat(memory.scope().isAlive()).isFalse();
        small.close();
        a.close();
        assertThat(events).last().isEqualTo("closed");
    }

    @Test
    void aMessageWaitsForAReceive() throws Exception {
        connect();
        a.send("early");

        b.receive(); // rings, because the driver says that it is stalled

        assertThat(b.await().status()).isEqualTo(WcStatus.SUCCESS);
        assertThat(b.region.segment().getString(0)).isEqualTo("early");
    }

    @Test
    void whatIsPostedWhenItEndsIsFlushed() throws Exception {
        connect();
        b.receive();

        b.to(QpState.ERR);

        assertThat(b.await().status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
    }

    @Test
    void itsProfileSaysWhatThereIs() {
        assertThat(a.context.attributes().capabilities()).containsExactly(Capability.RC);
        assertThat(a.context.counters()).containsEntry("switchboard.messages", 0L);
        assertThat(a.context.gids(1)).extracting(entry -> entry.gid()).containsExactly(Gid.parse("10.0.0.1"));
        assertThatThrownBy(() -> a.domain.createQueuePair(QueuePairOptions.of(QpType.UD, a.completions)))
                .isInstanceOf(UnsupportedException.class);
    }
}
