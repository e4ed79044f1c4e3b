package verbena.transport.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import verbena.verbs.Access;

/// Only memory to which nothing can happen is copied in a way that no exception protects.
class LongCopyTest {
    private static final int DOMAIN = 1;
    private static final int QPN = 17;
    private static final int BYTES = 2 * LongCopy.BYTES_MIN;
    private static final int RIGHTS = Access.LOCAL_WRITE.bit() | Access.REMOTE_READ.bit() | Access.REMOTE_WRITE.bit();

    private long copied;
    private final MemoryTable table = new MemoryTable(new SplittableRandom(1), 4, () -> 0, this::copy);
    private final MemorySegment memory = Arena.ofAuto().allocate(BYTES);
    private final MemorySegment packet = Arena.ofAuto().allocate(BYTES).fill((byte) 7);

    private void copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes) {
        MemorySegment.copy(from, fromOffset, to, toOffset, bytes);
        copied += bytes;
    }

    private Region added(Region region) {
        assertThat(table.add(region)).isTrue();
        return region;
    }

    private Region lasting() {
        return added(Region.ofLastingMemory(DOMAIN, memory, 0, RIGHTS));
    }

    private MemoryVerdict write(Region to, int bytes) {
        return table.write(to.key, DOMAIN, QPN, 0, packet, 0, bytes, Access.REMOTE_WRITE.bit());
    }

    private MemoryVerdict scatter(Region to, int bytes) {
        var list = new ScatterList(1);
        list.add(to.key, 0, bytes);
        return table.scatter(list, DOMAIN, 0, packet, 0, bytes);
    }

    @Test
    void longCopiesOfLastingMemoryGoByIt() {
        Region region = lasting();

        assertThat(write(region, BYTES)).isEqualTo(MemoryVerdict.OK);
        assertThat(scatter(region, BYTES)).isEqualTo(MemoryVerdict.OK);

        assertThat(copied).isEqualTo(2L * BYTES);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, BYTES - 1L)).isEqualTo((byte) 7);
    }

    @Test
    void shortOnesDoNot() {
        assertThat(write(lasting(), LongCopy.BYTES_MIN - 1)).isEqualTo(MemoryVerdict.OK);

        assertThat(copied).isZero();
        assertThat(memory.get(ValueLayout.JAVA_BYTE, LongCopy.BYTES_MIN - 2L)).isEqualTo((byte) 7);
    }

    @Test
    void memoryOfTheProgramNeverDoes() {
        Region region = added(new Region(DOMAIN, memory, 0, RIGHTS));

        assertThat(write(region, BYTES)).isEqualTo(MemoryVerdict.OK);
        assertThat(scatter(region, BYTES)).isEqualTo(MemoryVerdict.OK);

        assertThat(copied).isZero();
    }

    @Test
    void eachEntryOfAListGoesItsOwnWay() {
        Region region = lasting();
        Region programs = added(new Region(DOMAIN, Arena.ofAuto().allocate(BYTES), 0, RIGHTS));
        var list = new ScatterList(2);
        list.add(region.key, 0, LongCopy.BYTES_MIN);
        list.add(programs.key, 0, LongCopy.BYTES_MIN);

        assertThat(table.gather(list, DOMAIN, 0, packet, 0, BYTES)).isEqualTo(MemoryVerdict.OK);

        assertThat(copied).isEqualTo(LongCopy.BYTES_MIN);
    }
}
