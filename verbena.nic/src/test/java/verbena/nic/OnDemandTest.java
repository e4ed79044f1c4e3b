package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import verbena.foreign.Memory;
import verbena.foreign.SystemFunction;
import verbena.foreign.linux.LinuxAbi;
import verbena.verbs.Access;
import verbena.verbs.Advice;
import verbena.verbs.InvalidStateException;
import verbena.verbs.LocalMemory;
import verbena.verbs.MemoryRegion;
import verbena.verbs.OnDemandPaging.Use;
import verbena.verbs.QpType;
import verbena.verbs.RemoteMemory;

/// Memory on demand and null regions: what is there counts when a request touches it, and what is not there ends the
/// request.
class OnDemandTest {
    private static final SystemFunction MMAP = SystemFunction.named("mmap");
    private static final SystemFunction MUNMAP = SystemFunction.named("munmap");
    private static final SystemFunction MPROTECT = SystemFunction.named("mprotect");
    private static final SystemFunction MINCORE = SystemFunction.named("mincore");
    private static final SystemFunction MEMFD_CREATE = SystemFunction.named("memfd_create");
    private static final SystemFunction FTRUNCATE = SystemFunction.named("ftruncate");
    private static final SystemFunction CLOSE = SystemFunction.named("close");

    private static final int PAGE = 4096;
    private static final int BYTES = 16 * PAGE;
    private static final int PROT_READ = 1;
    private static final int PROT_WRITE = 2;
    private static final int MAP_PRIVATE = 2;
    private static final int MAP_FIXED = 0x10;

    /// An address far from where the system puts what the virtual machine maps meanwhile.
    private static final long FAR = 0x2000_0000_0000L;

    private final long at = map(FAR, LinuxAbi.MAP_ANONYMOUS | MAP_PRIVATE, -1);
    private final MemorySegment memory = Memory.at(at, BYTES);
    private Pair pair = Pair.connected();

    @AfterEach
    void unmap() {
        pair.close();
        assertThat(MUNMAP.call(at, BYTES)).isZero();
    }

    private static long map(long where, int flags, int fd) {
        long made = MMAP.call(where, BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);
        assertThat(made).isPositive();
        return made;
    }

    private void mapAgain() {
        assertThat(map(at, LinuxAbi.MAP_ANONYMOUS | MAP_PRIVATE | MAP_FIXED, -1))
                .isEqualTo(at);
    }

    private void unmapAll() {
        assertThat(MUNMAP.call(at, BYTES)).isZero();
    }

    private static Set<Access> onDemand(Access... more) {
        var all = EnumSet.copyOf(Access.remoteAll());
        all.add(Access.ON_DEMAND);
        all.addAll(List.of(more));
        return all;
    }

    /// Begins anew, because an error ends the queue pairs.
    private MemoryRegion anew() {
        pair.close();
        pair = Pair.connected();
        return pair.b.domain.register(memory, onDemand());
    }

    private List<String> write(MemoryRegion to, long offset, int bytes) {
        pair.a.qp.postWrite(1, pair.a.memory.slice(0, bytes), to.remote().slice(offset, bytes));
        pair.settle();
        return pair.a.completions();
    }

    private List<String> read(MemoryRegion from, long offset, int bytes) {
        pair.a.qp.postRead(1, from.remote().slice(offset, bytes), pair.a.memory.slice(0, bytes));
        pair.settle();
        return pair.a.completions();
    }

    private List<String> add(MemoryRegion to) {
        pair.a.qp.postFetchAdd(1, to.remote(), 5, pair.a.memory.slice(0, 8));
        pair.settle();
        return pair.a.completions();
    }

    // ---- there and not there

    @Test
    void aPeersRequestEndsWhereThereIsNoMemory() {
        unmapAll();
        assertThat(write(anew(), 0, 8)).containsExactly("1 REM_ACCESS_ERR");
        assertThat(read(anew(), 0, 8)).containsExactly("1 REM_ACCESS_ERR");
        assertThat(add(anew())).containsExactly("1 REM_ACCESS_ERR");
    }

    @Test
    void aRequestOfThisSideEndsWhereThereIsNoMemory() {
        MemoryRegion region = anew();
        unmapAll();
        pair.b.qp.postWrite(1, region.slice(0, 8), pair.a.memory.remote());
        pair.settle();
        assertThat(pair.b.completions()).containsExactly("1 LOC_PROT_ERR");

        region = anew();
        pair.b.qp.postReceive(2, region.slice(0, 8));
        pair.a.qp.postSend(1, pair.a.memory.slice(0, 8));
        pair.settle();
        assertThat(pair.a.completions()).containsExactly("1 REM_OP_ERR");
        assertThat(pair.b.completions()).containsExactly("2 LOC_PROT_ERR");
    }

    @Test
    void memoryThatComesBackCountsAgain() {
        unmapAll();
        MemoryRegion region = anew();
        mapAgain();
        pair.a.memory.segment().fill((byte) 7);
        assertThat(write(region, 100, 3 * PAGE)).containsExactly("1 SUCCESS");
        assertThat(memory.asSlice(100, 3 * PAGE)
                        .mismatch(pair.a.memory.segment().asSlice(0, 3 * PAGE)))
                .isEqualTo(-1);
        unmapAll();
        mapAgain();
        assertThat(read(region, 100, 8)).containsExactly("1 SUCCESS");
        assertThat(pair.a.memory.segment().get(ValueLayout.JAVA_LONG, 0)).isZero();
    }

    @Test
    void aRequestEndsThatIsThereInPart() {
        unmapAll();
        mapAgain();
        assertThat(MUNMAP.call(at + 8 * PAGE, 8 * PAGE)).isZero();
        assertThat(write(anew(), 8 * PAGE - 8, 8)).containsExactly("1 SUCCESS");
        assertThat(write(anew(), 8 * PAGE - 8, 16)).containsExactly("1 REM_ACCESS_ERR");
        assertThat(read(anew(), 0, 9 * PAGE)).containsExactly("1 REM_ACCESS_ERR");
    }

    @Test
    void protectionCounts() {
        assertThat(MPROTECT.call(at, BYTES, PROT_READ)).isZero();
        assertThat(read(anew(), 0, 8)).containsExactly("1 SUCCESS");
        assertThat(write(anew(), 0, 8)).containsExactly("1 REM_ACCESS_ERR");
        assertThat(add(anew())).containsExactly("1 REM_ACCESS_ERR");
        assertThat(MPROTECT.call(at, BYTES, 0)).isZero();
        assertThat(read(anew(), 0, 8)).containsExactly("1 REM_ACCESS_ERR");
    }

    @Test
    void aFileThatIsCutShortAndGrowsAgain() {
        MemorySegment name = Arena.ofAuto().allocateFrom("verbena-on-demand");
        int fd = (int) MEMFD_CREATE.call(name.address(), 0);
        try {
            assertThat(FTRUNCATE.call(fd, BYTES)).isZero();
            map(at, LinuxAbi.MAP_SHARED | MAP_FIXED, fd);
            assertThat(write(anew(), BYTES - 8, 8)).containsExactly("1 SUCCESS");
            assertThat(FTRUNCATE.call(fd, PAGE)).isZero();
            assertThat(write(anew(), BYTES - 8, 8)).containsExactly("1 REM_ACCESS_ERR");
            assertThat(write(anew(), 0, PAGE)).containsExactly("1 SUCCESS");
            assertThat(FTRUNCATE.call(fd, BYTES)).isZero();
            assertThat(write(anew(), BYTES - 8, 8)).containsExactly("1 SUCCESS");
        } finally {
            assertThat(CLOSE.call(fd)).isZero();
        }
    }

    @Test
    void aClosedArenaIsNotThere() {
        MemoryRegion region;
        try (Arena arena = Arena.ofShared()) {
            region = pair.b.domain.register(arena.allocate(PAGE, PAGE), onDemand());
            assertThat(write(region, 0, 8)).containsExactly("1 SUCCESS");
        }
        assertThat(write(region, 0, 8)).containsExactly("1 REM_ACCESS_ERR");
    }

    @Test
    void atomicsCountOnIt() {
        MemoryRegion region = anew();
        memory.set(ValueLayout.JAVA_LONG, 0, 10);
        assertThat(add(region)).containsExactly("1 SUCCESS");
        assertThat(pair.a.memory.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(10);
        assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(15);
        for (long expected : new long[] {14, 15}) {
            pair.a.qp.postCompareSwap(1, region.remote(), expected, 99, pair.a.memory.slice(0, 8));
            pair.settle();
            assertThat(pair.a.completions()).containsExactly("1 SUCCESS");
            assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(expected == 15 ? 99 : 15);
        }
    }

    // ---- the whole address space

    @Test
    void theWholeAddressSpaceIsARegion() {
        MemoryRegion target = anew();
        MemoryRegion all = pair.a.domain.registerAddressSpace(Access.local());
        assertThat(all.access()).contains(Access.ON_DEMAND);
        assertThat(all.length()).isEqualTo(Long.MAX_VALUE);
        memory.asSlice(0, 8).fill((byte) 3);
        LocalMemory source = all.slice(at, 8);
        pair.a.qp.postWrite(
                1, source.region().slice(source.offset(), 8), target.remote().slice(PAGE, 8));
        pair.settle();
        assertThat(pair.a.completions()).containsExactly("1 SUCCESS");
        assertThat(memory.asSlice(PAGE, 8).mismatch(memory.asSlice(0, 8))).isEqualTo(-1);
        pair.a.qp.postWrite(1, all.slice(PAGE, 8), target.remote());
        pair.settle();
        assertThat(pair.a.completions()).as("the first pages of a process").containsExactly("1 LOC_PROT_ERR");
    }

    @Test
    void peersHaveNoRightsToTheVirtualMachinesOwnMemory() {
        MemoryRegion all = pair.a.domain.registerAddressSpace(Access.local());
        var rights = EnumSet.of(Access.ON_DEMAND, Access.REMOTE_READ);
        assertThatThrownBy(() -> pair.a.domain.registerAddressSpace(rights))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("registerAddressSpace: access: peers would change");
        assertThatThrownBy(() -> all.reregister(pair.a.domain, rights))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("reregister: access: peers would change");
    }

    // ---- advice

    @Test
    void anAwaitedPrefetchBringsPagesIn() {
        MemoryRegion region = pair.b.domain.register(memory, onDemand());
        assertThat(resident()).isZero();
        pair.b.domain.advise(Advice.PREFETCH_NO_FAULT, region);
        pair.b.domain.adviseLater(Advice.PREFETCH_WRITE, region);
        assertThat(resident()).isZero();
        pair.b.domain.advise(Advice.PREFETCH_WRITE, region.slice(PAGE, 1), region.slice(4 * PAGE, 2 * PAGE));
        assertThat(resident()).isEqualTo(3);
        pair.b.domain.advise(Advice.PREFETCH, region);
        assertThat(resident()).isEqualTo(BYTES / PAGE);
    }

    private int resident() {
        MemorySegment pages = Arena.ofAuto().allocate(BYTES / PAGE);
        assertThat(MINCORE.call(at, BYTES, pages.address())).isZero();
        int count = 0;
        for (int i = 0; i < BYTES / PAGE; i++) {
            count += pages.get(ValueLayout.JAVA_BYTE, i) & 1;
        }
        return count;
    }

    @Test
    void adviceNamesMemoryOnDemandThatIsThere() {
        MemoryRegion region = pair.b.domain.register(memory, onDemand());
        MemoryRegion fixed = pair.b.domain.register(memory, Access.remoteAll());
        MemoryRegion read = pair.b.domain.register(memory, EnumSet.of(Access.ON_DEMAND));
        MemoryRegion other = pair.a.domain.register(memory, onDemand());
        assertThatThrownBy(() -> pair.b.domain.advise(Advice.PREFETCH)).hasMessageContaining("at least one");
        assertThatThrownBy(() -> pair.b.domain.advise(Advice.PREFETCH, region, fixed))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is not ON_DEMAND");
        assertThatThrownBy(() -> pair.b.domain.advise(Advice.PREFETCH_WRITE, read))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has no LOCAL_WRITE");
        assertThatThrownBy(() -> pair.b.domain.advise(Advice.PREFETCH, other))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("another protection domain");
        unmapAll();
        assertThatThrownBy(() -> pair.b.domain.advise(Advice.PREFETCH, region))
                .isInstanceOf(InvalidStateException.class)
                .hasMessageContaining("not there");
        pair.b.domain.adviseLater(Advice.PREFETCH, region);
        mapAgain();
        read.close();
        assertThatThrownBy(() -> pair.b.domain.advise(Advice.PREFETCH, read)).isInstanceOf(InvalidStateException.class);
    }

    @Test
    void theDeviceSaysWhatUsesIt() {
        var declared = pair.a.context.attributes().memory().onDemandPaging();
        assertThat(declared.hasAddressSpace()).isTrue();
        assertThat(declared.uses(QpType.RC)).isEqualTo(EnumSet.allOf(Use.class));
        assertThat(declared.uses(QpType.UC))
                .containsExactlyInAnyOrder(Use.SEND, Use.RECEIVE, Use.SHARED_RECEIVE, Use.WRITE);
        assertThat(declared.uses(QpType.UD)).containsExactlyInAnyOrder(Use.SEND, Use.RECEIVE, Use.SHARED_RECEIVE);
        assertThat(declared.uses(QpType.XRC_TARGET)).isEqualTo(declared.uses(QpType.XRC_INITIATOR));
    }

    @Test
    void aRegionStaysOnDemandOrNot() {
        MemoryRegion region = pair.b.domain.register(memory, onDemand());
        assertThatThrownBy(() -> region.reregister(pair.b.domain, Access.remoteAll()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ON_DEMAND cannot change");
        region.reregister(pair.b.domain, EnumSet.of(Access.ON_DEMAND));
        assertThat(write(region, 0, 8)).containsExactly("1 REM_ACCESS_ERR");
    }

    // ---- no memory

    @Test
    void aNullRegionReadsZerosAndForgets() {
        MemoryRegion none = pair.a.domain.allocateNull();
        MemorySegment target = pair.b.memory.segment();
        target.fill((byte) 9);
        pair.a.memory.segment().fill((byte) 5);
        pair.a.qp.postWrite(1, none.slice(12_345, 5_000), pair.b.memory.remote());
        pair.settle();
        assertThat(pair.a.completions()).containsExactly("1 SUCCESS");
        assertThat(target.asSlice(0, 5_000).mismatch(Arena.ofAuto().allocate(5_000)))
                .isEqualTo(-1);
        assertThat(target.get(ValueLayout.JAVA_BYTE, 5_000)).isEqualTo((byte) 9);

        pair.a.qp.postReceive(2, none.slice(Long.MAX_VALUE - 100, 100));
        pair.b.qp.postSend(3, pair.b.memory.slice(0, 100));
        pair.a.qp.postRead(4, pair.b.memory.remote().slice(0, 10_000), none.slice(0, 10_000));
        pair.settle();
        assertThat(pair.a.completions()).containsExactlyInAnyOrder("2 SUCCESS", "4 SUCCESS");
    }

    @Test
    void noPeerUsesANullRegion() {
        MemoryRegion none = pair.b.domain.allocateNull();
        assertThat(none.rkey()).isZero();
        assertThatThrownBy(none::segment).isInstanceOf(InvalidStateException.class);
        assertThatThrownBy(() -> none.reregister(pair.b.domain, Access.local()))
                .isInstanceOf(InvalidStateException.class);
        pair.a.qp.postRead(1, new RemoteMemory(0, none.lkey(), 8), pair.a.memory.slice(0, 8));
        pair.settle();
        assertThat(pair.a.completions()).containsExactly("1 REM_ACCESS_ERR");
        none.close();
    }
}
