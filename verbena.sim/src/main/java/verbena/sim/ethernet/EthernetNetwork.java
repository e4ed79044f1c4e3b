package verbena.sim.ethernet;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.LongConsumer;

/// Hosts, switches and links, the transfers between hosts, and the virtual time in which all of it happens. One
/// thread. The same program with the same seed does the same, to the picosecond.
///
/// First come hosts, switches and links, then [#begin], then transfers and [#run].
public final class EthernetNetwork {
    private final Calendar calendar = new Calendar();
    private final PacketPool pool = new PacketPool();
    private final Random chance;
    private final List<Host> hosts = new ArrayList<>();
    private final List<Switch> switches = new ArrayList<>();
    private final List<Transfer> transfers = new ArrayList<>();
    private int ended;
    private int open;
    private boolean hasBegun;

    public EthernetNetwork(long seed) {
        chance = new Random(seed);
    }

    // ---- what it is made of

    /// Adds a host.
    public Host addHost(String name) {
        var host = new Host(name, hosts.size(), calendar, pool);
        hosts.add(host);
        return host;
    }

    /// Adds a switch.
    public Switch addSwitch(String name, SwitchOptions options) {
        var made = new Switch(name, options, calendar, pool, chance);
        switches.add(made);
        return made;
    }

    /// Adds a link. A host has one.
    ///
    /// @param bitsPerSecond its rate in each direction, a divisor of 8,000 Gbit/s
    /// @param delayNanos    how long a bit takes to the other end
    public void link(Node a, Node b, double bitsPerSecond, long delayNanos) {
        link(a, b, bitsPerSecond, delayNanos, 0);
    }

    /// Links two nodes by a bad cable.
    ///
    /// @param loss the share of packets that get lost in each direction by chance, 0 to 1; pauses do not
    public void link(Node a, Node b, double bitsPerSecond, long delayNanos, double loss) {
        if (!(loss >= 0 && loss <= 1)) {
            throw new IllegalArgumentException("loss: " + loss + " is not between 0 and 1");
        }
        long picosPerByte = Math.round(8e12 / bitsPerSecond);
        if (hasBegun || picosPerByte < 1 || delayNanos < 0) {
            throw new IllegalArgumentException("bitsPerSecond, delayNanos: " + bitsPerSecond + " and " + delayNanos
                    + (hasBegun ? "; the network has begun" : "; at most 8,000 Gbit/s, and no negative delay"));
        }
        for (Node end : List.of(a, b)) {
            if (end instanceof Host && !end.ports.isEmpty()) {
                throw new IllegalArgumentException("a, b: the host " + end + " has a link already");
            }
        }
        var one = new Port(a, picosPerByte, delayNanos * Calendar.NANO, loss, chance, calendar, pool);
        var other = new Port(b, picosPerByte, delayNanos * Calendar.NANO, loss, chance, calendar, pool);
        one.connect(other);
        other.connect(one);
    }

    /// Finds the shortest ways; from now on there are transfers.
    ///
    /// @throws IllegalArgumentException when a host cannot reach another
    public void begin() {
        begin(Routes.shortest(hosts, switches));
    }

    /// Begins as [#begin()] does, by routes of the caller's choice.
    void begin(Routes routes) {
        hasBegun = true;
        for (Switch each : switches) {
            each.begin(routes.of(each));
        }
    }

    public List<Host> hosts() {
        return Collections.unmodifiableList(hosts);
    }

    public List<Switch> switches() {
        return Collections.unmodifiableList(switches);
    }

    // ---- transfers

    /// Plans a transfer.
    ///
    /// @param startNanos when it begins, in virtual time
    public Transfer transfer(Host from, Host to, long bytes, long startNanos, TransferOptions options) {
        if (from == to || bytes <= 0) {
            throw new IllegalArgumentException(
                    "from, to, bytes: " + from + ", " + to + " and " + bytes + "; two hosts, and at least one byte");
        }
        int hash = chance.nextInt();
        Transfer transfer = options.recovery() == TransferOptions.Recovery.GO_BACK_N
                ? new GoBackN(from, to, bytes, hash, options, this::ended)
                : new SelectiveRepeat(from, to, bytes, hash, options, this::ended);
        transfers.add(transfer);
        open++;
        at(startNanos, now -> transfer.start(now * Calendar.NANO));
        return transfer;
    }

    private void ended() {
        ended++;
        open--;
    }

    public List<Transfer> transfers() {
        return Collections.unmodifiableList(transfers);
    }

    /// Returns the number of transfers that are over.
    public int endedTransfers() {
        return ended;
    }

    // ---- time

    /// Plans something.
    ///
    /// @param action gets the time, in nanoseconds
    public void at(long nanos, LongConsumer action) {
        calendar.set(
                new Alarm() {
                    @Override
                    void ring(long now) {
                        action.accept(now / Calendar.NANO);
                    }
                },
                nanos * Calendar.NANO);
    }

    /// Does something again and again, first after one period.
    public void every(long periodNanos, LongConsumer action) {
        at(nowNanos() + periodNanos, now -> {
            action.accept(now);
            every(periodNanos, action);
        });
    }

    /// Lets time pass until `nanos`.
    public void run(long nanos) {
        long end = nanos * Calendar.NANO;
        while (calendar.step(end)) {
            // until then
        }
        calendar.pass(end);
    }

    /// Lets time pass until all transfers are over, at most until `nanos`; whether they are.
    public boolean runToEnd(long nanos) {
        long end = nanos * Calendar.NANO;
        while (open > 0 && calendar.step(end)) {
            // until the last one is over
        }
        return open == 0;
    }

    public long nowNanos() {
        return calendar.nowNanos();
    }

    /// Returns the number of events.
    public long events() {
        return calendar.rung();
    }

    // ---- figures

    /// Returns the bytes that wait in a switch for a neighbour.
    public long queued(Switch at, Node neighbour) {
        return at.queuedTo(neighbour);
    }

    Calendar calendar() {
        return calendar;
    }

    PacketPool pool() {
        return pool;
    }
}
