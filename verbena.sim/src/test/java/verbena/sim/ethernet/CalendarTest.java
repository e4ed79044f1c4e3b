package verbena.sim.ethernet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CalendarTest {
    private final Calendar calendar = new Calendar();
    private final List<String> rung = new ArrayList<>();

    private Alarm alarm(String name) {
        return new Alarm() {
            @Override
            void ring(long now) {
                rung.add(name + " at " + now);
            }
        };
    }

    @Test
    void alarmsRingInTheirOrderAndThoseOfOneMomentAsTheyWereSet() {
        calendar.set(alarm("late"), 30);
        calendar.set(alarm("first"), 10);
        calendar.set(alarm("second"), 10);
        while (calendar.step(100)) {
            // all
        }
        assertThat(rung).containsExactly("first at 10", "second at 10", "late at 30");
    }

    @Test
    void anAlarmThatIsSetAgainRingsOnceAndACancelledOneNever() {
        Alarm moved = alarm("moved");
        Alarm cancelled = alarm("cancelled");
        calendar.set(moved, 50);
        calendar.set(cancelled, 20);
        calendar.set(moved, 10);
        calendar.cancel(cancelled);
        calendar.cancel(cancelled);
        while (calendar.step(100)) {
            // all
        }
        assertThat(rung).containsExactly("moved at 10");
        assertThat(moved.isSet()).isFalse();
    }

    @Test
    void nothingRingsAtTheEndOrAfterIt() {
        calendar.set(alarm("end"), 40);
        assertThat(calendar.step(40)).isFalse();
        calendar.pass(40);
        assertThat(calendar.now()).isEqualTo(40);
        assertThat(calendar.step(41)).isTrue();
    }

    @Test
    void aTimeThatHasPassedIsNow() {
        calendar.pass(100);
        calendar.set(alarm("late"), 20);
        assertThat(calendar.step(101)).isTrue();
        assertThat(rung).containsExactly("late at 100");
    }

    @Test
    void randomAlarmsRingAsASortedListWould() {
        var random = new Random(7);
        record Entry(Alarm alarm, long at, int order, String name) {}
        List<Entry> entries = new ArrayList<>();
        int orders = 0;
        for (int i = 0; i < 5_000; i++) {
            int choice = random.nextInt(10);
            if (choice < 6 || entries.isEmpty()) {
                String name = "a" + i;
                var entry = new Entry(alarm(name), random.nextInt(1_000), orders++, name);
                calendar.set(entry.alarm, entry.at);
                entries.add(entry);
            } else {
                Entry old = entries.remove(random.nextInt(entries.size()));
                if (choice < 8) {
                    calendar.cancel(old.alarm);
                } else {
                    var entry = new Entry(old.alarm, random.nextInt(1_000), orders++, old.name);
                    calendar.set(entry.alarm, entry.at);
                    entries.add(entry);
                }
            }
        }
        while (calendar.step(Calendar.NEVER)) {
            // all
        }
        entries.sort(Comparator.comparingLong(Entry::at).thenComparingInt(Entry::order));
        assertThat(rung)
                .isEqualTo(entries.stream()
                        .map(entry -> entry.name + " at " + entry.at)
                        .toList());
    }
}
