package verbena.check.rules;

import static verbena.check.Rule.ALL_SIGNALED;
import static verbena.check.Rule.ARENA_CLOSED;
import static verbena.check.Rule.ARM_LOST;
import static verbena.check.Rule.ATOMIC_DEVICES;
import static verbena.check.Rule.ATOMIC_MIXED;
import static verbena.check.Rule.ATOMIC_UNALIGNED;
import static verbena.check.Rule.CLOSE_BUSY;
import static verbena.check.Rule.HANDLE_BUSY;
import static verbena.check.Rule.KEY_CLOSED;
import static verbena.check.Rule.KEY_INVALID;
import static verbena.check.Rule.LEAK;
import static verbena.check.Rule.MTU_MISMATCH;
import static verbena.check.Rule.NOT_INLINE;
import static verbena.check.Rule.NO_ACCESS;
import static verbena.check.Rule.NO_RECEIVE;
import static verbena.check.Rule.ONE_BY_ONE;
import static verbena.check.Rule.PAIRS_MANY;
import static verbena.check.Rule.PEER_OTHER;
import static verbena.check.Rule.PEER_UNREADY;
import static verbena.check.Rule.POLL_IDLE;
import static verbena.check.Rule.PRIVATE_LONG;
import static verbena.check.Rule.PSN_MISMATCH;
import static verbena.check.Rule.QKEY_MISMATCH;
import static verbena.check.Rule.QUEUE_EACH;
import static verbena.check.Rule.QUEUE_SMALL;
import static verbena.check.Rule.QUEUE_STUCK;
import static verbena.check.Rule.RACE_ANNOUNCED;
import static verbena.check.Rule.RACE_LOCAL;
import static verbena.check.Rule.RACE_PROCESSOR;
import static verbena.check.Rule.RACE_READ;
import static verbena.check.Rule.RACE_UNFENCED;
import static verbena.check.Rule.RACE_WRITE;
import static verbena.check.Rule.READ_DEPTH;
import static verbena.check.Rule.READ_UNFENCED;
import static verbena.check.Rule.RECEIVE_SHORT;
import static verbena.check.Rule.REGION_BUSY;
import static verbena.check.Rule.REGISTER_HOT;
import static verbena.check.Rule.REMOTE_BUSY;
import static verbena.check.Rule.RESET_BUSY;
import static verbena.check.Rule.RETRY_ZERO;
import static verbena.check.Rule.RIGHT_UNUSED;
import static verbena.check.Rule.RNR_WAIT;
import static verbena.check.Rule.SEND_CHANGED;
import static verbena.check.Rule.SEND_OVERLAP;
import static verbena.check.Rule.SMALL_REGIONS;
import static verbena.check.Rule.SRQ_UNARMED;
import static verbena.check.Rule.STATUS_IGNORED;
import static verbena.check.Rule.TARGET_SHARED;
import static verbena.check.Rule.TARGET_WRITTEN;
import static verbena.check.Rule.TIMEOUT_NEVER;
import static verbena.check.Rule.UD_SHORT;
import static verbena.check.Rule.UNALIGNED;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import verbena.check.CheckOptions;
import verbena.check.Checker;
import verbena.check.Rule;
import verbena.check.Watcher;
import verbena.check.races.RaceLog;

/// The classes that hear, and for which rules. One whose rules are all off is not made.
public final class Watchers {
    /// The watcher of some rules.
    ///
    /// @param make makes it
    private record Group(Function<Checker, Watcher> make, Set<Rule> rules) {
        Group(Function<Checker, Watcher> make, Rule first, Rule... others) {
            this(make, EnumSet.of(first, others));
        }
    }

    private static final List<Group> GROUPS = List.of(
            new Group(Buffers::new, SEND_CHANGED, SEND_OVERLAP, READ_UNFENCED, TARGET_SHARED, TARGET_WRITTEN),
            new Group(Regions::new, ARENA_CLOSED, REGION_BUSY, REMOTE_BUSY, KEY_CLOSED),
            new Group(Credits::new, UD_SHORT, NO_RECEIVE, RNR_WAIT, RECEIVE_SHORT, SRQ_UNARMED),
            new Group(Completing::new, QUEUE_SMALL, QUEUE_STUCK, ARM_LOST, STATUS_IGNORED),
            new Group(
                    ConnectionRules::new,
                    PEER_UNREADY,
                    PEER_OTHER,
                    READ_DEPTH,
                    PSN_MISMATCH,
                    MTU_MISMATCH,
                    QKEY_MISMATCH,
                    TIMEOUT_NEVER,
                    RETRY_ZERO,
                    HANDLE_BUSY,
                    PRIVATE_LONG,
                    CLOSE_BUSY,
                    RESET_BUSY),
            new Group(PostingCosts::new, ONE_BY_ONE, ALL_SIGNALED, NOT_INLINE, UNALIGNED),
            new Group(MemoryCosts::new, REGISTER_HOT, SMALL_REGIONS),
            new Group(QueueCosts::new, PAIRS_MANY, POLL_IDLE, QUEUE_EACH),
            new Group(Keys::new, ATOMIC_UNALIGNED, KEY_INVALID, NO_ACCESS, RIGHT_UNUSED),
            new Group(PeerBytes::new, RACE_PROCESSOR, TARGET_WRITTEN),
            new Group(Leaks::new, LEAK));

    private static final Set<Rule> RACES = EnumSet.of(
            RACE_WRITE,
            RACE_READ,
            RACE_UNFENCED,
            RACE_LOCAL,
            RACE_ANNOUNCED,
            RACE_PROCESSOR,
            ATOMIC_MIXED,
            ATOMIC_DEVICES);

    private Watchers() {}

    /// Returns what hears for the rules that are on. The threads of the process count as one.
    public static List<Watcher> of(Set<Rule> on, Checker checker) {
        return of(on, checker, CheckOptions.of("on"));
    }

    /// Returns what hears for the rules that are on.
    ///
    /// @param options say whether threads count as one, and whether there is a log
    public static List<Watcher> of(Set<Rule> on, Checker checker, CheckOptions options) {
        List<Watcher> all = new ArrayList<>();
        options.log().ifPresent(file -> all.add(new RaceLogger(new RaceLog(file))));
        if (RACES.stream().anyMatch(on::contains)) {
            all.add(new Races(checker, options.areThreadsApart()));
        }
        for (Group each : GROUPS) {
            if (each.rules.stream().anyMatch(on::contains)) {
                all.add(each.make.apply(checker));
            }
        }
        return all;
    }
}
