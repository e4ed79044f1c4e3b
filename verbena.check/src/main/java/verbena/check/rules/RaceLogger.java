package verbena.check.rules;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import verbena.check.CallPlace;
import verbena.check.TrackedDevice;
import verbena.check.TrackedObject;
import verbena.check.TrackedPair;
import verbena.check.TrackedRegion;
import verbena.check.TrackedRequest;
import verbena.check.TrackedRequest.Piece;
import verbena.check.Watcher;
import verbena.check.races.RaceLog;
import verbena.check.races.RaceStep.Kind;
import verbena.verbs.QpAttributes;
import verbena.verbs.QpState;
import verbena.verbs.spi.SendOperation;

/// Writes down who accesses which memory, for races between processes.
final class RaceLogger extends Watcher {
    private final RaceLog log;
    private final Map<TrackedObject, Integer> numbers = new HashMap<>();
    private int last;

    RaceLogger(RaceLog log) {
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
        QpAttributes own = pair.attributes();
        if (!Races.isReliable(pair) || own == null) {
            return;
        }
        if (own.state() == QpState.RESET) {
            log.write('X', number(pair));
            numbers.remove(pair);
        } else if (own.path().isPresent()) {
            log.write('C', number(pair), own.destinationQpn(), own.path().get().destination());
        }
    }

    @Override
    public synchronized void onClose(TrackedPair pair, QpState before, List<TrackedRequest> lost) {
        Integer number = numbers.remove(pair);
        if (number != null) {
            log.write('X', number);
        }
    }

    @Override
    public synchronized void onPost(TrackedRequest request) {
        TrackedPair pair = TrackedPair.of(request);
        SendOperation operation = request.operation();
        if (pair == null || operation == null || !Races.isReliable(pair) || request.isFaulty()) {
            return;
        }
        Kind kind = Races.kind(operation);
        var local = new StringBuilder();
        for (Piece each : request.pieces()) {
            TrackedRegion region = each.region();
            if (region != null && each.memory() != null) {
                local.append(local.isEmpty() ? "" : "\t")
                        .append(request.fillsMemory() ? Kind.FILL : Kind.GATHER)
                        .append(' ')
                        .append(number(region))
                        .append(' ')
                        .append(each.memory().address())
                        .append(' ')
                        .append(each.length());
            }
        }
        log.write(
                'S',
                number(pair),
                request.number(),
                operation,
                kind == null ? "-" : kind,
                request.isFenced(),
                TrackedPair.takesReceive(request),
                log.place(request.place()),
                request.remoteAddress(),
                request.rkey(),
                Races.bytes(operation, request),
                local.toString().replace('\t', ';'));
    }

    @Override
    public synchronized void onEnd(TrackedRequest request, boolean isOk) {
        TrackedPair pair = TrackedPair.of(request);
        Integer number = pair == null || request.isReceive() ? null : numbers.get(pair);
        if (number != null) {
            log.write('E', number, request.number(), isOk);
        }
    }

    @Override
    public synchronized void onDrop(TrackedRequest request) {
        TrackedPair pair = TrackedPair.of(request);
        Integer number = pair == null || request.isReceive() ? null : numbers.get(pair);
        if (number != null) {
            log.write('D', number, request.number());
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
    public void onAccess(TrackedRegion region, long offset, long length, boolean isStore) {
        CallPlace here = CallPlace.here();
        synchronized (this) {
            Integer number = numbers.get(region);
            if (number != null && region.memory() != null) {
                Kind kind = isStore ? Kind.STORE : Kind.LOAD;
                long address = region.memory().address() + offset;
                log.write('A', kind, number, address, length, log.place(here));
            }
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
