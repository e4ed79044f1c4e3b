package verbena.check.rules;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.TrackedDevice;
import verbena.check.TrackedObject;
import verbena.check.TrackedPair;
import verbena.check.TrackedRegion;
import verbena.check.TrackedRequest;
import verbena.check.TrackedRequest.Flag;
import verbena.check.races.RaceLog;
import verbena.check.races.RaceStep.Kind;
import verbena.verbs.QpState;
import verbena.verbs.QueuePairAttributes;
import verbena.verbs.spi.SendOperation;

/// Writes down who accesses which memory, for races between processes.
final class RaceLogger extends RaceWatcher {
    private final RaceLog log;
    private final Map<TrackedObject, Integer> numbers = new HashMap<>();
    private int last;

    RaceLogger(RaceLog log) {
        super(Set.of(Event.MESSAGE, Event.HAND_OVER, Event.REGISTER, Event.UNREGISTERED, Event.MODIFY, Event.EXIT));
        this.log = log;
    }

    private static String gids(TrackedDevice device) {
        return device.context().gids(1).stream()
                .map(entry -> entry.gid().toString())
                .collect(Collectors.joining(","));
    }

    private int number(TrackedPair pair) {
        return numbers.computeIfAbsent(pair, _ -> {
            last++;
            log.write('Q', last, pair.qpn(), gids(pair.device()));
            return last;
        });
    }

    private int number(TrackedRegion region) {
        return numbers.computeIfAbsent(region, _ -> {
            last++;
            log.write(
                    'R',
                    last,
                    region.rkey(),
                    region.region().address(),
                    region.memory() == null ? 0 : region.memory().address(),
                    region.length(),
                    region,
                    gids(region.device()));
            return last;
        });
    }

    @Override
    public synchronized void onRegister(TrackedRegion region) {
        if (region.memory() != null) {
            number(region);
        }
    }

    @Override
    public synchronized void onUnregistered(TrackedRegion region) {
        Integer number = numbers.remove(region);
        if (number != null) {
            log.write('U', number);
        }
    }

    @Override
    public synchronized void onModify(TrackedPair pair, QpState before, List<TrackedRequest> lost) {
        QueuePairAttributes own = pair.attributes();
        super.onModify(pair, before, lost);
        if (isReliable(pair)
                && own != null
                && own.state() != QpState.RESET
                && own.peer().path().isPresent()) {
            log.write(
                    'C',
                    number(pair),
                    own.peer().destinationQpn(),
                    own.peer().path().get().destination());
        }
    }

    @Override
    synchronized void over(TrackedPair pair) {
        Integer number = numbers.remove(pair);
        if (number != null) {
            log.write('X', number);
        }
    }

    @Override
    synchronized void posted(
            TrackedPair pair, TrackedRequest request, SendOperation operation, @Nullable Kind kind, List<Local> local) {
        String pieces = local.stream()
                .map(each -> each.kind() + " " + number(each.region()) + " " + each.from() + " " + each.length())
                .collect(Collectors.joining(";"));
        log.write(
                'S',
                number(pair),
                request.number(),
                operation,
                kind == null ? "-" : kind,
                request.has(Flag.FENCED),
                TrackedPair.takesReceive(request),
                log.place(request.place()),
                request.remoteAddress(),
                request.rkey(),
                bytes(operation, request),
                pieces);
    }

    @Override
    synchronized void ended(TrackedPair pair, long number, boolean isOk) {
        Integer of = numbers.get(pair);
        if (of != null) {
            log.write('E', of, number, isOk);
        }
    }

    @Override
    synchronized void dropped(TrackedPair pair, long number) {
        Integer of = numbers.get(pair);
        if (of != null) {
            log.write('D', of, number);
        }
    }

    @Override
    public synchronized void onMessage(TrackedPair pair) {
        Integer number = numbers.get(pair);
        if (number != null) {
            log.write('G', number);
        }
    }

    @Override
    synchronized void accessed(TrackedRegion region, Kind kind, long from, long length) {
        Integer number = numbers.get(region);
        if (number != null) {
            log.write('A', kind, number, from, length, log.place(CallPlace.here()));
        }
    }

    @Override
    public synchronized void onHandOver(Object by, boolean isRelease) {
        String name = by instanceof String
                ? "text " + by
                : "process " + ProcessHandle.current().pid() + " object " + System.identityHashCode(by);
        log.write(isRelease ? 'L' : 'K', name);
    }

    @Override
    public void onExit(List<TrackedDevice> open) {
        log.flush();
    }
}
