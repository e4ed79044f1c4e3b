package verbena.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Set;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Access;
import verbena.verbs.ConnectionException;
import verbena.verbs.Pending;

/// Memory of a peer, on real links of this host.
@Timeout(120)
class RemoteMemoryTest {
    private static MemorySegment pattern(MemorySegment memory) {
        for (long i = 0; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + i / 1000));
        }
        return memory;
    }

    /// Short and long, arrays and native memory, at an offset.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "rocev2,faults=loss:5%,seed:7", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void whatIsPutCanBeGot(String device) throws Exception {
        try (var pair = TwoWorkers.of(device);
                Arena arena = Arena.ofShared();
                var shared = pair.server().share(arena.allocate(1 << 20, 8), Access.remoteAll())) {
            PeerMemory there = pair.toServer().memory(shared.token());
            assertThat(there.length()).isEqualTo(1 << 20);
            for (int bytes : new int[] {0, 1, 1024, 1025, 1_000_000}) {
                for (boolean isNative : new boolean[] {true, false}) {
                    MemorySegment from =
                            pattern(isNative ? arena.allocate(bytes) : MemorySegment.ofArray(new byte[bytes]));
                    MemorySegment into = isNative ? arena.allocate(bytes) : MemorySegment.ofArray(new byte[bytes]);
                    shared.segment().fill((byte) 0);
                    there.postWrite(from, 8).await();
                    there.postFlush().await();
                    assertThat(shared.segment().asSlice(8, bytes).mismatch(from))
                            .isEqualTo(-1);
                    assertThat(shared.segment().get(ValueLayout.JAVA_BYTE, 7)).isZero();
                    assertThat(shared.segment().get(ValueLayout.JAVA_BYTE, 8 + bytes))
                            .isZero();
                    there.postRead(8, into).await();
                    assertThat(into.mismatch(from)).isEqualTo(-1);
                }
            }
        }
    }

    /// Many more than may be under way, and messages beside them.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "rocev2,faults=loss:5%,seed:7", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void operationsBeginInOrder(String device) throws Exception {
        try (var pair = TwoWorkers.of(device);
                Arena arena = Arena.ofShared();
                var shared = pair.server().share(arena.allocate(64, 8), Access.remoteAll())) {
            PeerMemory there = pair.toServer().memory(shared.token());
            var puts = new ArrayList<Pending<Void>>();
            for (int i = 1; i <= 500; i++) {
                MemorySegment value = MemorySegment.ofArray(new long[] {i});
                puts.add(there.postWrite(value, 0));
                pair.toServer().postSend(i, "beside");
            }
            there.fence();
            MemorySegment last = MemorySegment.ofArray(new long[1]);
            there.postRead(0, last).await();
            assertThat(last.get(ValueLayout.JAVA_LONG_UNALIGNED, 0)).isEqualTo(500);
            for (Pending<Void> each : puts) {
                assertThat(each.isDone()).isTrue(); // they were before the fence
            }
            for (int i = 1; i <= 500; i++) {
                assertThat(pair.server()
                                .postReceive(TagFilter.any(), MemorySegment.ofArray(new byte[10]))
                                .await()
                                .tag())
                        .isEqualTo(i);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void atomicsGiveTheValueBefore(String device) throws Exception {
        try (var pair = TwoWorkers.of(device);
                Arena arena = Arena.ofShared();
                var shared = pair.server().share(arena.allocate(64, 8), Access.remoteAll())) {
            PeerMemory there = pair.toServer().memory(shared.token());
            assertThat(there.postFetchAdd(8, 5).await()).isZero();
            assertThat(there.postFetchAdd(8, -2).await()).isEqualTo(5);
            assertThat(there.postCompareSwap(8, 4, 100).await()).isEqualTo(3);
            assertThat(there.postCompareSwap(8, 3, 100).await()).isEqualTo(3);
            assertThat(shared.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(100);
            assertThatIllegalArgumentException().isThrownBy(() -> there.postFetchAdd(4, 1));
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> there.postFetchAdd(64, 1));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void memoryThatIsTakenBackEndsThePeerThatUsesIt(String device) throws Exception {
        try (var pair = TwoWorkers.of(device);
                Arena arena = Arena.ofShared()) {
            var shared = pair.server().share(arena.allocate(64, 8), Set.of(Access.REMOTE_READ));
            PeerMemory there = pair.toServer().memory(shared.token());
            MemorySegment into = MemorySegment.ofArray(new byte[64]);
            there.postRead(0, into).await();
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> there.postRead(1, into));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.toServer().memory(new byte[19]));
            shared.close();
            Pending<Received> waiting = pair.toServer().postReceive(TagFilter.any(), into);
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> there.postRead(0, into).await());
            assertThatExceptionOfType(ConnectionException.class).isThrownBy(waiting::await);
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> there.postFlush().await());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void aClosedWorkerEndsOperationsAndClosesWhatItShares(String device) throws Exception {
        try (var pair = TwoWorkers.of(device);
                Arena arena = Arena.ofShared()) {
            var shared = pair.server().share(arena.allocate(64, 8), Access.remoteAll());
            PeerMemory there = pair.toServer().memory(shared.token());
            pair.server().close();
            MemorySegment into = MemorySegment.ofArray(new byte[64]);
            assertThatExceptionOfType(ConnectionException.class).isThrownBy(() -> {
                while (true) { // until it is noticed
                    assertThat(there.postRead(0, into).await(Duration.ofSeconds(60)))
                            .isTrue();
                }
            });
            shared.close();
        }
    }
}
