package verbena.messages.rail;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.junit.jupiter.api.Test;
import verbena.verbs.Access;

/// Which registrations stay, and for what they are used again. No device has a part in it.
class RegistrationsTest {
    private static final Set<Access> READ = Set.of(Access.REMOTE_READ);

    private final Registrations registrations = new Registrations(1);

    private Registered used(MemorySegment memory) {
        Registered one = registrations.take(memory, READ);
        registrations.end(one, true);
        return one;
    }

    @Test
    void theSameMemoryFindsItsRegistration() {
        MemorySegment memory = Arena.ofAuto().allocate(4096);
        Registered before = used(memory);
        assertThat(registrations.take(memory, READ)).isSameAs(before);
    }

    @Test
    void aPartFindsTheWhole() {
        MemorySegment memory = Arena.ofAuto().allocate(4096);
        Registered whole = used(memory);
        Registered part = registrations.take(memory.asSlice(100, 50), READ);
        assertThat(part).isSameAs(whole);
        assertThat(part.offset(memory.asSlice(100, 50))).isEqualTo(100);
    }

    @Test
    void moreThanThePartIsRegisteredAnew() {
        MemorySegment memory = Arena.ofAuto().allocate(4096);
        Registered part = used(memory.asSlice(0, 100));
        assertThat(registrations.take(memory, READ)).isNotSameAs(part);
        assertThat(registrations.take(memory.asSlice(90, 20), READ)).isNotSameAs(part);
    }

    @Test
    void otherRightsAreAnotherRegistration() {
        MemorySegment memory = Arena.ofAuto().allocate(4096);
        Registered exposed = used(memory);
        assertThat(registrations.take(memory, Access.local())).isNotSameAs(exposed);
    }

    @Test
    void whatHasFailedIsNotUsedAgain() {
        MemorySegment memory = Arena.ofAuto().allocate(4096);
        registrations.end(registrations.take(memory, READ), false);
        assertThat(registrations.size()).isZero();
    }

    /// So the loss of one peer takes nothing from another.
    @Test
    void oneTransferUsesARegistrationAtATime() {
        MemorySegment memory = Arena.ofAuto().allocate(4096);
        Registered first = registrations.take(memory, READ);
        Registered second = registrations.take(memory, READ);
        assertThat(second).isNotSameAs(first);
        registrations.end(first, true);
        registrations.end(second, true);
        assertThat(registrations.take(memory, READ)).as("the last one").isSameAs(second);
        assertThat(registrations.take(memory, READ)).isSameAs(first);
    }

    @Test
    void memoryOfAnArenaThatCanBeClosedIsNotKept() {
        try (Arena shared = Arena.ofShared();
                Arena confined = Arena.ofConfined()) {
            used(shared.allocate(4096));
            used(confined.allocate(4096));
        }
        assertThat(registrations.size()).isZero();
    }

    /// It may be another allocator's: a peer that still has the key must not reach what that has freed.
    @Test
    void memoryOfTheGlobalArenaIsNotKeptForPeers() {
        MemorySegment memory = Arena.global().allocate(4096);
        used(memory);
        assertThat(registrations.size()).isZero();
        Registered target = registrations.take(memory, Access.local());
        registrations.end(target, true);
        assertThat(registrations.take(memory, Access.local())).isSameAs(target);
    }

    @Test
    void memoryOfTheWorkerIsKeptWithoutALimit() {
        try (Arena ofWorker = Arena.ofShared()) {
            MemorySegment memory = ofWorker.allocate(Registrations.AUTOMATIC_BYTES_MAX + 4096);
            registrations.addLasting(memory);
            Registered whole = used(memory);
            assertThat(registrations.take(memory.asSlice(4096, 4096), READ)).isSameAs(whole);
            registrations.close();
        }
    }

    @Test
    void theOldestGoesWhenThereAreTooMany() {
        MemorySegment memory = Arena.ofAuto().allocate(4096L * (Registrations.KEPT_MAX + 1));
        Registered oldest = used(memory.asSlice(0, 4096));
        for (int i = 1; i <= Registrations.KEPT_MAX; i++) {
            used(memory.asSlice(4096L * i, 4096));
        }
        assertThat(registrations.size()).isEqualTo(Registrations.KEPT_MAX);
        assertThat(registrations.take(memory.asSlice(0, 4096), READ)).isNotSameAs(oldest);
    }

    @Test
    void memoryThatWouldBeFreeIsKeptUpToALimit() {
        long half = Registrations.AUTOMATIC_BYTES_MAX / 2;
        used(Arena.ofAuto().allocate(half));
        used(Arena.ofAuto().allocate(half));
        assertThat(registrations.size()).isEqualTo(2);
        used(Arena.ofAuto().allocate(4096));
        assertThat(registrations.size()).isEqualTo(2);
        registrations.close();
        assertThat(registrations.size()).isZero();
    }
}
