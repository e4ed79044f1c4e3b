package verbena.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.cm.ConnectionParameters;

/// Writes from registered memory carry what buffers carry, and tell when the memory is free.
@ParameterizedClass
@ValueSource(strings = {"shm", "rocev2", "iwarp", "rocev2,weak=standard,seed=7"})
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RegisteredWriteTest {
    private static final int BYTES = 1_000_003;

    @Parameter
    String name;

    private Context serverDevice;
    private Context clientDevice;
    private ProtectionDomain domain;
    private MemoryRegion region;
    private StreamListener listener;
    private StreamChannel client;
    private StreamChannel server;

    @BeforeEach
    void connect() throws IOException {
        serverDevice = Device.named(name).open();
        clientDevice = Device.named(name).open();
        domain = clientDevice.allocateProtectionDomain();
        region = domain.allocate(BYTES, EnumSet.of(Access.LOCAL_WRITE));
        for (int i = 0; i < BYTES; i++) {
            region.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + i / 256));
        }
        var at = new InetSocketAddress(serverDevice.gid(1, 0).gid().address(), 0);
        listener = StreamListener.bind(at, StreamOptions.defaults().withDevice(serverDevice));
        client = StreamChannel.connect(
                listener.localAddress(),
                StreamOptions.defaults().withProtectionDomain(domain).withTimeout(Duration.ofSeconds(30)));
        server = listener.accept();
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
        listener.close();
        region.close();
        domain.close();
        clientDevice.close();
        serverDevice.close();
    }

    @Test
    void optionsKeepTheirDomainWithItsOwnDeviceOnly() {
        StreamOptions options = StreamOptions.defaults().withProtectionDomain(domain);

        assertThat(options.withDevice(clientDevice).domain()).contains(domain);
        assertThatThrownBy(() -> options.withDevice(serverDevice))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("domain: it belongs to %s", clientDevice);
    }

    private byte[] content(int from, int length) {
        byte[] made = new byte[length];
        MemorySegment.copy(region.segment(), ValueLayout.JAVA_BYTE, from, made, 0, length);
        return made;
    }

    private CompletableFuture<byte[]> reading(int bytes) {
        return CompletableFuture.supplyAsync(() -> {
            ByteBuffer into = ByteBuffer.allocate(bytes);
            try {
                while (into.hasRemaining() && server.read(into) >= 0) {}
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            return into.array();
        });
    }

    @Test
    void aBlockingWriteHasArrivedWhenItReturns() throws Exception {
        CompletableFuture<byte[]> read = reading(BYTES - 7);
        assertThat(client.write(region, 7, BYTES - 7)).isEqualTo(BYTES - 7);
        assertThat(client.unacknowledged()).isZero();
        region.segment().fill((byte) 0); // the memory is free
        byte[] found = read.join();
        for (int i = 0; i < found.length; i++) {
            assertThat(found[i]).isEqualTo((byte) ((i + 7) * 31 + (i + 7) / 256));
        }
    }

    @Test
    void bothKindsOfWritesKeepTheirOrder() throws Exception {
        CompletableFuture<byte[]> read = reading(3 * 5_000 + 2 * 10);
        client.write(region, 0, 5_000);
        client.write(ByteBuffer.wrap(content(5_000, 10)));
        client.write(region, 5_010, 5_000);
        client.write(ByteBuffer.wrap(content(10_010, 10)));
        client.write(region, 10_020, 5_000);
        assertThat(read.join()).isEqualTo(content(0, 3 * 5_000 + 2 * 10));
    }

    @Test
    void aCallThatMayNotWaitTakesWhatThereIsRoomForAndSaysWhatIsUnderWay() throws Exception {
        client.configureBlocking(false);
        long written = 0;
        long now;
        while ((now = client.write(region, written, BYTES - written)) > 0) {
            written += now;
        }
        assertThat(written).as("the peer's ring is full").isBetween(1L << 16, 1L << 17);
        CompletableFuture<byte[]> read = reading(BYTES);
        while (written < BYTES) {
            written += client.write(region, written, BYTES - written);
            assertThat(client.unacknowledged()).isBetween(0L, written);
        }
        assertThat(read.join()).isEqualTo(content(0, BYTES));
        while (client.unacknowledged() > 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void anAcknowledgementIsNoticedByWhoAsksForReadiness() throws Exception {
        client.configureBlocking(false);
        var noticed = new CompletableFuture<Boolean>();
        client.onReadiness(() -> noticed.complete(true));
        int nothingYet = client.readyOps(SelectionKey.OP_READ);
        assertThat(nothingYet).isZero();
        assertThat(client.write(region, 0, 5_000)).isEqualTo(5_000);
        assertThat(noticed.join()).isTrue();
        while (client.unacknowledged() > 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aWriteThatIsNotTakenInTimeSaysSo() throws Exception {
        StreamChannel impatient = StreamChannel.connect(
                listener.localAddress(),
                StreamOptions.defaults().withProtectionDomain(domain).withTimeout(Duration.ofMillis(50)));
        try (StreamChannel idle = listener.accept()) {
            assertThat(idle.isOpen()).isTrue();
            assertThatThrownBy(() -> impatient.write(region, 0, BYTES))
                    .isInstanceOf(SocketTimeoutException.class)
                    .hasMessageContaining("of " + BYTES + " bytes within 50 ms");
        } finally {
            impatient.close();
        }
        assertThat(impatient.unacknowledged())
                .as("a closed channel reads nothing")
                .isZero();
    }

    @Test
    void memoryOfAnotherDomainOrOutsideOrClosedIsRefused() {
        try (ProtectionDomain other = clientDevice.allocateProtectionDomain();
                MemoryRegion foreign = other.allocate(100, EnumSet.of(Access.LOCAL_WRITE))) {
            assertThatThrownBy(() -> client.write(foreign, 0, 100))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("another protection domain");
        }
        assertThatThrownBy(() -> client.write(region, BYTES - 1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
        MemoryRegion gone = domain.allocate(100, EnumSet.of(Access.LOCAL_WRITE));
        gone.close();
        assertThatThrownBy(() -> client.write(gone, 0, 100))
                .isInstanceOf(InvalidStateException.class)
                .hasMessageContaining("closed");
    }

    @Test
    void theDomainDecidesTheDevice() {
        assertThatThrownBy(() -> new StreamOptions(
                        1 << 17,
                        1 << 17,
                        384,
                        Duration.ofSeconds(1),
                        Optional.empty(),
                        Duration.ZERO,
                        ConnectionParameters.defaults(),
                        0,
                        Optional.of(serverDevice),
                        Optional.of(domain)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("domain");
        assertThat(client.domain()).contains(domain);
        assertThat(client.context()).isSameAs(clientDevice);
    }
}
