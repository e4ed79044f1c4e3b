package verbena.sim.script;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import verbena.transport.queue.Path;
import verbena.verbs.Gid;
import verbena.wire.ib.Bth;
import verbena.wire.notation.Names;
import verbena.wire.roce.RoceV2;

/// The ends of a script, and what its lines name: ends, places in memory, keys, windows and groups.
final class Ends implements Names {
    private static final int HOP_LIMIT = 64;

    private final Map<String, End> ends = new LinkedHashMap<>();

    void add(End end) {
        ends.put(end.name, end);
    }

    /// In the order in which they were added.
    Collection<End> all() {
        return ends.values();
    }

    End get(String name, Words words) {
        End end = ends.get(name);
        if (end == null) {
            throw words.wrong("there is no end called " + name);
        }
        return end;
    }

    /// The end that has sent what `as` compares with: the one that is named, or the peer.
    End sender(End receiver, Words words) {
        return ends.containsKey(words.peek()) ? get(words.next("end"), words) : receiver.peer;
    }

    /// The way from an end to another one or, by address, to a multicast group.
    Path pathTo(End from, String name) {
        End to = ends.get(name);
        if (to != null) {
            return path(from, to);
        }
        return Path.of(from.host.address, Gid.parse(name), 0, HOP_LIMIT);
    }

    /// The way from an end's second address to another, which is the peer's second address as a rule.
    Path alternate(End from, Words words) {
        Gid own = from.host.other;
        if (own == null) {
            throw words.wrong("the wire has no path migration");
        }
        Gid to = Gid.parse(words.next("address"));
        Path path = path(from, from.peer);
        return new Path(own.high(), own.low(), to.high(), to.low(), 0, HOP_LIMIT, path.sourcePort(), 0, 0, 0, 0);
    }

    /// The queue pair number of an end; that of all multicasts for an address.
    int qpnOf(String name) {
        End to = ends.get(name);
        return to == null ? Bth.MULTICAST_QP : to.parameters.qpn;
    }

    /// The way from one end to another.
    static Path path(End from, End to) {
        Gid source = from.host.address;
        Gid destination = to.host.address;
        int port = RoceV2.udpSourcePort(from.parameters.qpn, to.parameters.qpn);
        return new Path(
                source.high(),
                source.low(),
                destination.high(),
                destination.low(),
                0,
                HOP_LIMIT,
                port,
                0,
                0,
                0,
                from.host.bitsPerSecond);
    }

    // ---- memory

    /// `region+offset` of one end's own.
    Place place(End end, Words words) {
        String word = words.next("region+offset");
        int plus = word.indexOf('+');
        Area area = plus < 0 ? null : end.area(word.substring(0, plus));
        if (area == null) {
            throw words.wrong(end.name + " has no region for \"" + word + "\"");
        }
        return new Place(area, new Words(word.substring(plus + 1)).number("offset"));
    }

    // ---- names

    int key(String word, Words words) {
        Names.Region region = region(word);
        return region == null ? new Words(word).integer("key") : region.rkey();
    }

    @Override
    public Names.@Nullable Region region(String name) {
        for (End end : ends.values()) {
            Area area = end.host.areas.get(name);
            if (area != null) {
                return new Names.Region(name, area.region.key(), area.region.iova());
            }
            int dot = name.indexOf('.');
            BoundWindow window = end.host.windows.get(dot < 0 ? name : name.substring(0, dot));
            if (window != null) {
                int key = dot < 0 ? window.window.key() : window.keys.get(Integer.parseInt(name.substring(dot + 1)));
                return new Names.Region(name, key, window.virtualAddress);
            }
        }
        return null;
    }

    @Override
    public Names.@Nullable Region region(int rkey) {
        for (End end : ends.values()) {
            for (Area area : end.host.areas.values()) {
                if (area.region.key() == rkey) {
                    return new Names.Region(area.name, rkey, area.region.iova());
                }
            }
            for (BoundWindow window : end.host.windows.values()) {
                int which = window.keys.indexOf(rkey);
                if (which >= 0) {
                    String name = rkey == window.window.key() ? window.name : window.name + "." + which;
                    return new Names.Region(name, rkey, window.virtualAddress);
                }
            }
        }
        return null;
    }

    @Override
    public @Nullable String queuePair(int qpn) {
        boolean isKnown = ends.values().stream().anyMatch(end -> end.parameters.qpn == qpn);
        return isKnown ? null : "0x%06x".formatted(qpn);
    }

    @Override
    public OptionalInt queuePair(String name) {
        End end = ends.get(name);
        return end == null ? OptionalInt.empty() : OptionalInt.of(end.parameters.qpn);
    }
}
