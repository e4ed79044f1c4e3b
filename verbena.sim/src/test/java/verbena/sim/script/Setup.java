package verbena.sim.script;

import java.util.LinkedHashSet;
import java.util.Locale;
import verbena.transport.queue.Path;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.Gid;
import verbena.verbs.PathMigration;
import verbena.verbs.QpState;

/// The lines that make, change and end an end's objects.
final class Setup {
    private Setup() {}

    static void region(End end, Words words) {
        String name = words.next("name");
        int length = PacketScript.AREA_BYTES;
        long iova = end.host.nextIova();
        int domain = End.DOMAIN;
        int access = PacketScript.REMOTE_ALL;
        while (!words.isEmpty()) {
            String word = words.next("word");
            switch (word) {
                case "len" -> length = words.integer("length");
                case "iova" -> iova = words.number("iova");
                case "pd" -> domain = words.integer("protection domain");
                case "access" -> access = access(words);
                default -> throw words.wrong("\"" + word + "\" means nothing here");
            }
        }
        end.host.addArea(name, length, iova, domain, access);
    }

    static void window(End end, Words words) {
        String name = words.next("name");
        words.expect("type");
        int type = words.integer("type");
        end.host.addWindow(name, type, words.accept("pd") ? words.integer("protection domain") : End.DOMAIN);
    }

    static void srq(End end, Words words) {
        int number = words.integer("number");
        int xrcDomain = words.accept("xrcd") ? words.integer("XRC domain") : End.XRC_DOMAIN;
        int domain = words.accept("pd") ? words.integer("protection domain") : End.DOMAIN;
        end.host.xrcQueue(number, xrcDomain, domain, end.completions);
    }

    static void close(End end, Words words) {
        if (words.accept("srq")) {
            end.host.xrcQueues.remove(words.integer("number"));
            return;
        }
        String what = words.next("region, arena, window or srq");
        String name = words.next("name");
        BoundWindow window = end.host.windows.get(name);
        Area area = end.area(name);
        switch (what) {
            case "window" -> {
                if (window == null) {
                    throw words.wrong("no such window");
                }
                end.host.memory.remove(window.window);
            }
            case "region", "arena" -> {
                if (area == null) {
                    throw words.wrong("no such region");
                }
                if (what.equals("arena")) {
                    area.close();
                } else {
                    end.host.memory.remove(area.region);
                }
            }
            default -> throw words.wrong("a region, an arena, a window or a shared receive queue can be closed");
        }
    }

    /// Words of rights, as many as there are; `none` for none.
    static int access(Words words) {
        int bits = 0;
        if (words.accept("none")) {
            return bits;
        }
        while (true) {
            String word = words.peek().toUpperCase(Locale.ROOT).replace('-', '_');
            boolean found = false;
            for (Access access : Access.values()) {
                if (access.name().equals(word)) {
                    bits |= access.bit();
                    found = true;
                }
            }
            if (!found) {
                return bits;
            }
            words.next("right");
        }
    }

    static void modify(Ends ends, End end, Words words, long now) {
        var p = end.parameters;
        QpState to = p.state;
        while (!words.isEmpty()) {
            String word = words.next("attribute");
            switch (word) {
                case "access" -> p.access = access(words);
                case "reads-served" -> p.readsServedMax = words.integer(word);
                case "reads-outstanding" -> p.readsOutstandingMax = words.integer(word);
                case "rnr-timer" -> p.minRnrTimerCode = words.integer(word);
                case "rnr-retry" -> p.rnrRetry = words.integer(word);
                case "retry" -> p.retryCount = words.integer(word);
                case "keep-alive" -> p.keepAliveNanos = VirtualTime.nanos(words.next("time"));
                case "timeout" ->
                    p.ackTimeoutNanos =
                            new AckTimeout(words.integer(word)).duration().toNanos();
                case "qkey" -> p.qkey = words.integer(word);
                case "pkey" -> p.pkeys = new int[] {words.integer(word)};
                case "alternate" -> p.alternate(ends.alternate(end, words), 0, p.ackTimeoutNanos);
                case "migration" -> p.migration(PathMigration.valueOf(words.next("state")));
                case "sq-psn" -> p.sqPsn = words.integer(word);
                case "rq-psn" -> p.rqPsn = words.integer(word);
                case "notify-drained" -> p.notifyWhenDrained = true;
                default -> to = QpState.valueOf(word);
            }
        }
        end.modify(to, now);
    }

    static void set(Ends ends, End end, Words words) {
        Place place = ends.place(end, words);
        if (words.accept("word")) {
            place.area().setWord(place.offset(), words.number("value"));
        } else {
            words.expect("len");
            int length = words.integer("length");
            words.expect("byte");
            place.area().fill(place.offset(), length, (byte) words.integer("byte"));
        }
    }

    /// `handle h1 to b traffic-class 0x20 hop-limit 3 port 0xc123`
    static void handle(Ends ends, End end, Words words) {
        String name = words.next("name");
        words.expect("to");
        Path path = ends.pathTo(end, words.next("end or address"));
        int trafficClass = path.trafficClass();
        int hopLimit = path.hopLimit();
        int sourcePort = path.sourcePort();
        long bitsPerSecond = path.bitsPerSecond();
        while (!words.isEmpty()) {
            String word = words.next("word");
            switch (word) {
                case "traffic-class" -> trafficClass = words.integer(word);
                case "hop-limit" -> hopLimit = words.integer(word);
                case "port" -> sourcePort = words.integer(word);
                case "rate" -> bitsPerSecond = words.number(word);
                default -> throw words.wrong("\"" + word + "\" means nothing here");
            }
        }
        end.handles.put(
                name,
                new Path(
                        path.sourceHigh(),
                        path.sourceLow(),
                        path.destinationHigh(),
                        path.destinationLow(),
                        trafficClass,
                        hopLimit,
                        sourcePort,
                        path.serviceLevel(),
                        path.destinationLid(),
                        path.sourcePathBits(),
                        bitsPerSecond));
    }

    static void attach(End end, Words words) {
        end.host
                .groups
                .computeIfAbsent(Gid.parse(words.next("group")), _ -> new LinkedHashSet<>())
                .add(end);
    }

    static void detach(End end, Words words) {
        end.host
                .groups
                .getOrDefault(Gid.parse(words.next("group")), new LinkedHashSet<>())
                .remove(end);
    }

    /// `direct`, `direct step 40`, `direct off`
    static void direct(End end, Words words) {
        DirectWay way = end.direct(words);
        if (words.accept("off")) {
            way.close();
        } else {
            way.open(words.accept("step") ? words.integer("bytes") : Integer.MAX_VALUE);
        }
    }

    static void arm(End end, Words words) {
        if (words.accept("limit")) {
            end.receives.armLimit(words.integer("limit"));
        } else {
            end.completions.arm(words.accept("solicited"));
        }
    }
}
