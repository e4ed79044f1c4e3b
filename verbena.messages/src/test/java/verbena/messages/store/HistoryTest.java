package verbena.messages.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.messages.store.History.Operation;

/// The judge of the store's histories is judged by histories whose verdict is known. An operation is `put a 1-2
/// false`, `delete 1-2 true` or `get 1-2 a`, with the times of its call and its return; without a return, its
/// outcome is not known.
class HistoryTest {
    private static List<Operation> history(String text) {
        var operations = new ArrayList<Operation>();
        for (String line : text.split(";", -1)) {
            String[] words = line.strip().split(" +", -1);
            boolean isGet = words[0].equals("get");
            int at = words[0].equals("put") ? 2 : 1;
            String[] times = words[at].split("-", -1);
            String answer = words.length > at + 1 ? words[at + 1] : History.NONE;
            operations.add(new Operation(
                    isGet,
                    isGet ? answer : at == 2 ? words[1] : History.NONE,
                    answer.equals("true"),
                    Long.parseLong(times[0]),
                    times[1].isEmpty() ? History.NEVER : Long.parseLong(times[1])));
        }
        return operations;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "get 1-2",
                "put a 1-2 false; get 3-4 a",
                // A get that overlaps a put sees either.
                "put a 1-9 false; get 2-3; get 4-5 a",
                "put a 1-2 false; delete 3-4 true; get 5-6; delete 7-8 false",
                // Two puts at once: the answers say which was last.
                "put a 1-5 false; put b 1-5 true; get 6-7 b; get 8-9 b",
                "put a 1-5 true; put b 1-5 false; get 6-7 a",
                // A put of unknown outcome takes effect late, or never, or at once.
                "put a 1-; get 3-4; get 5-6 a",
                "put a 1-; get 3-4; put b 5-6 false; get 7-8 b",
                "put a 1-; put b 3-4 true; get 5-6 b",
                "put a 1-2 false; delete 3-; get 4-5 a; get 6-7",
            })
    void linearizableOnesAreAccepted(String text) {
        assertThat(History.isLinearizable(history(text))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // An old value, from a leader that leads no more.
                "put a 1-2 false; put b 3-4 true; get 5-6 a",
                // A change that was acknowledged is lost.
                "put a 1-2 false; get 3-4",
                "put a 1-2 false; put b 3-4 false",
                // A get sees a value, and a later one does not.
                "put a 1-9 false; get 2-3 a; get 4-5",
                "put a 1-; get 2-3 a; get 4-5",
                // Made twice.
                "put a 1-2 false; put b 3-4 true; get 5-6 a; get 7-8 b",
                // A value that no client has put.
                "put a 1-2 false; get 3-4 b",
                "put a 1-2 false; delete 3-4 false",
                // A change that takes effect before it was asked for.
                "get 1-2 a; put a 3-",
                // Two clients do not agree on an order.
                "put a 1-9 false; put b 1-9 true; get 10-11 b; get 12-13 a",
            })
    void othersAreRefused(String text) {
        assertThat(History.isLinearizable(history(text))).isFalse();
    }

    /// Operations that each take effect at one moment, as a register has them, around which they are stretched.
    /// When one get is told an older value than the one that is there throughout, the history is wrong.
    @Test
    void longHistoriesAreAcceptedAndOneOldAnswerInThemIsFound() {
        for (int seed = 0; seed < 30; seed++) {
            var random = new SplittableRandom(seed);
            var operations = new ArrayList<Operation>();
            String value = History.NONE;
            for (int i = 0; i < 100; i++) {
                long moment = 100L * i;
                long called = moment - random.nextLong(250);
                long returned = i % 33 == 32 ? History.NEVER : moment + 1 + random.nextLong(250);
                boolean isGet = random.nextBoolean() && returned != History.NEVER;
                String next = isGet ? value : random.nextInt(4) == 0 ? History.NONE : "v" + i;
                operations.add(new Operation(isGet, next, !value.equals(History.NONE), called, returned));
                value = next;
            }
            assertThat(History.isLinearizable(operations)).as("seed %d", seed).isTrue();

            long end = 100L * 200;
            operations.add(new Operation(false, "last", !value.equals(History.NONE), end, end + 1));
            operations.add(new Operation(true, value, false, end + 2, end + 3));
            operations.add(new Operation(true, "last", false, end + 4, end + 5));
            assertThat(History.isLinearizable(operations)).as("seed %d", seed).isFalse();
        }
    }
}
