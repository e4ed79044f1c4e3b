package verbena.sim.card;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.sim.ethernet.EthernetNetwork;
import verbena.sim.ethernet.NetworkMessages;
import verbena.sim.ethernet.NetworkText;
import verbena.sim.ethernet.Switch;

/// A run of some machines with equal cards, from event to event. Between them is a wire of the card's rate and
/// delay, or a network.
///
/// A request passes these stages. A core posts it (`THREAD`), and the card has it (`BEGIN`). Its data are at the card
/// (`SEND`), and then it is at the peer's card (`ARRIVE`). The peer's answer is ready (`ANSWER`) and comes back
/// (`FINISH`). The host sees its completion (`SEEN`).
public final class CardRun {
    static final int THREAD = 0;
    private static final int DOORBELL = 1;
    private static final int BEGIN = 2;
    private static final int SEND = 3;
    private static final int ARRIVE = 4;
    private static final int ANSWER = 5;
    private static final int FINISH = 6;
    static final int SEEN = 7;

    private static final int STAGE_BITS = 3;
    /// A request in the wire's headers besides those of each packet: RETH or AtomicETH.
    private static final int REQUEST_BYTES = 16;
    /// A data segment of 16 bytes, for which an inline header of 4 stands.
    private static final int INLINE_SAVES = 12;

    private static final int LINE_BYTES = 64;

    private final CardTimes times;
    private final CardProgram program;
    private final CardHost[] machines;
    private final CardThreads threads;
    private final Agenda agenda = new Agenda();
    private final CardRequests requests = new CardRequests();
    private final int measured;
    private Latencies latencies = new Latencies();
    private long done;
    private long all;
    private final Account account;
    private final @Nullable NetworkMessages network;

    CardRun(Card card, CardProgram program, int machines, int measured) {
        this(card, program, machines, measured, null);
    }

    /// @param network whose first hosts have the machines' cards; null for a wire
    private CardRun(Card card, CardProgram program, int machines, int measured, @Nullable EthernetNetwork network) {
        this.program = program;
        this.measured = measured;
        times = CardTimes.of(card);
        this.machines = new CardHost[machines];
        for (int i = 0; i < machines; i++) {
            this.machines[i] = new CardHost(card, program.queuePairs());
        }
        threads = new CardThreads(machines * program.threads());
        account = new Account(this.machines, program.threads());
        this.network = network == null ? null : new NetworkMessages(network, (code, now) -> agenda.add(now, code));
    }

    /// Runs a workload until a number of requests are complete, after a tenth of them for a start.
    public static Measured of(Card card, Load load, long seed, long count) {
        return run(card, load, seed, count, null);
    }

    /// Runs a workload over a network ([NetworkText]). The rates and delays are those of its links: the card's own
    /// `rate` and `wire` do not count.
    ///
    /// @throws IllegalArgumentException when the network has fewer hosts than machines, or loses a packet
    public static Networked over(Card card, Load load, long seed, long count, List<String> network) {
        var made = new EthernetNetwork(seed);
        NetworkText.build(made, network);
        if (made.hosts().size() < load.machines()) {
            throw new IllegalArgumentException(
                    "the network has " + made.hosts().size() + " hosts for " + load.machines() + " machines");
        }
        Measured measured = run(card, load, seed, count, made);
        return new Networked(
                measured,
                made.switches().stream().mapToLong(Switch::pausesSent).sum(),
                made.switches().stream().mapToLong(Switch::mostUsed).max().orElse(0));
    }

    /// The result of a run over a network.
    ///
    /// @param pauses   how many the switches asked for
    /// @param mostUsed the most bytes that the buffer of a switch held, without headroom
    public record Networked(Measured cards, long pauses, long mostUsed) {}

    private static Measured run(Card card, Load load, long seed, long count, @Nullable EthernetNetwork network) {
        int measured = load.layout() == Load.Layout.OUTBOUND ? 0 : -1;
        var run = new CardRun(card, load.program(seed), load.machines(), measured, network);
        run.until(count / 10);
        run.begin();
        run.until(count);
        return run.end(load.layout() == Load.Layout.SYMMETRIC ? 2 : 1);
    }

    /// Runs a program of the first of two machines to its end.
    static Measured of(Card card, CardProgram program) {
        var run = new CardRun(card, program, 2, 0);
        run.until(Long.MAX_VALUE);
        return run.end(1);
    }

    private void begin() {
        latencies = new Latencies();
        done = 0;
        all = 0;
        account.begin(agenda.now());
    }

    void start() {
        for (int i = 0; i < threads.count(); i++) {
            at(0, THREAD, i);
        }
    }

    private void until(long count) {
        if (agenda.happened() == 0 && agenda.isEmpty()) {
            start();
        }
        while (done < count && mayGoOn()) {
            step();
        }
    }

    /// Lets the network have what comes before the next event of the cards.
    ///
    /// @return false when nothing is left to happen
    private boolean mayGoOn() {
        NetworkMessages between = network;
        if (between == null) {
            return !agenda.isEmpty();
        }
        while (between.due() != Long.MAX_VALUE
                && between.due() <= agenda.due()
                && (requests.underWay() > 0 || !agenda.isEmpty())) { // a watchdog of a switch never ends
            between.step();
            if (between.lost() > 0) {
                throw new IllegalArgumentException(
                        "the network lost a packet, and a card of the model sends nothing again: let it pause");
            }
        }
        return !agenda.isEmpty();
    }

    /// Lets the next event happen.
    ///
    /// @return its stage
    int step() {
        long code = agenda.next();
        int index = (int) (code >>> STAGE_BITS);
        int stage = (int) code & (1 << STAGE_BITS) - 1;
        switch (stage) {
            case THREAD -> thread(index);
            case DOORBELL -> doorbell(index);
            case BEGIN -> begin(index);
            case SEND -> send(index);
            case ARRIVE -> arrive(index);
            case ANSWER -> answer(index);
            case FINISH -> finish(index);
            default -> seen(index);
        }
        return stage;
    }

    /// Returns the time of the last event, in picoseconds.
    long now() {
        return agenda.now();
    }

    CardHost host(int index) {
        return machines[index];
    }

    /// @param senders how many machines had a part in the requests that were counted, and are told of as one
    private Measured end(int senders) {
        Map<String, Double> busy = account.busy(agenda.now());
        return new Measured(
                done / senders,
                Math.max(1, agenda.now() - account.began()) / 1000.0,
                latencies.percentile(0.5),
                latencies.percentile(0.99),
                new LinkedHashMap<>(busy),
                account.reads() / (double) Math.max(1, all),
                account.writes() / (double) Math.max(1, all),
                account.contextMisses(),
                account.pageMisses(),
                agenda.happened());
    }

    private void at(long time, int stage, int index) {
        agenda.add(time, code(stage, index));
    }

    private static long code(int stage, int index) {
        return (long) index << STAGE_BITS | stage;
    }

    private CardHost source(int slot) {
        return machines[requests.threads[slot] / program.threads()];
    }

    private int targetOf(int slot) {
        int machine = requests.threads[slot] / program.threads();
        return program.target(machine, requests.queuePairs[slot]);
    }

    // ---- the core

    private void thread(int thread) {
        CardHost machine = machines[thread / program.threads()];
        long began = agenda.now();
        ring(thread, machine);
        long now = began + threads.takeCompletions(thread) * times.poll();
        if (threads.hasPost(thread) || fetchPost(thread)) {
            Post next = threads.post(thread);
            if (next.completions > threads.completions(thread)) {
                machine.work(now - began);
                threads.wait(thread, now);
                return;
            }
            now = build(thread, now, next);
            at(now, THREAD, thread);
        }
        machine.work(now - began);
    }

    private boolean fetchPost(int thread) {
        Post next = threads.post(thread);
        next.clear();
        return threads.fetched(thread, program.next(thread, next));
    }

    /// Builds the requests of a post.
    ///
    /// @return when the core rings the doorbell
    private long build(int thread, long from, Post next) {
        long posted = from + next.thinkPicos;
        int first = requests.add(next, 0, thread, posted);
        for (int i = 1, last = first; i < next.count; i++) {
            int slot = requests.add(next, i, thread, posted);
            requests.following[last] = slot;
            last = slot;
        }
        int lines = isStored(first, next.count) ? size(first) / LINE_BYTES : 1;
        threads.posted(thread, first, isStored(first, next.count));
        long built = posted + next.count * times.build() + lines * times.doorbell();
        next.clear();
        return built;
    }

    private boolean isStored(int slot, int count) {
        return count == 1 && size(slot) <= times.blueflame();
    }

    /// Rings the doorbell for what the thread has built.
    private void ring(int thread, CardHost machine) {
        int first = threads.takeBuilt(thread);
        if (first >= 0) {
            boolean isStored = threads.isStored(thread);
            at(machine.pcie.store(agenda.now(), isStored ? size(first) : 8), isStored ? BEGIN : DOORBELL, first);
        }
    }

    private int size(int slot) {
        int bytes = times.wqe() + (requests.inline[slot] ? requests.bytes[slot] - INLINE_SAVES : 0);
        return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    }

    // ---- the requester's card

    private void doorbell(int first) {
        Pcie pcie = source(first).pcie;
        int slot = first;
        while (slot >= 0) {
            int from = slot;
            int bytes = 0;
            do {
                bytes += size(slot);
                slot = requests.following[slot];
            } while (slot >= 0 && bytes + size(slot) <= times.fetch());
            long read = pcie.read(agenda.now(), 0, bytes, false);
            for (int each = from; each != slot; ) {
                int next = requests.following[each];
                requests.following[each] = -1;
                at(read, BEGIN, each);
                each = next;
            }
        }
    }

    private void begin(int slot) {
        CardHost machine = source(slot);
        int queuePair = requests.queuePairs[slot];
        if (requests.operations[slot].isAnswered()) {
            if (machine.reads[queuePair] >= times.reads()) {
                if (machine.waiting[queuePair] < 0) {
                    machine.waiting[queuePair] = slot;
                } else {
                    requests.following[machine.lastWaiting[queuePair]] = slot;
                }
                machine.lastWaiting[queuePair] = slot;
                return;
            }
            machine.reads[queuePair]++;
        }
        long now = work(machine, queuePair, times.request());
        Operation operation = requests.operations[slot];
        if (!operation.isAnswered() && !requests.inline[slot]) {
            at(machine.pcie.read(agenda.now(), now - agenda.now(), requests.bytes[slot], false), SEND, slot);
        } else {
            at(now, SEND, slot);
        }
    }

    /// Lets a unit work on a queue pair, whose context it may have to fetch.
    private long work(CardHost machine, long context, long picos) {
        if (machine.contexts.holds(context)) {
            return machine.units.take(agenda.now(), picos);
        }
        long fetched = machine.pcie.read(agenda.now(), 0, times.contextBytes(), false);
        return Math.max(fetched, machine.units.take(agenda.now(), picos + times.contextMiss()));
    }

    private void send(int slot) {
        Operation operation = requests.operations[slot];
        int bytes = operation.isAnswered() ? 0 : requests.bytes[slot];
        pass(requests.threads[slot] / program.threads(), targetOf(slot), bytes + REQUEST_BYTES, ARRIVE, slot);
    }

    /// Sends bytes from port to port. A stage begins when they have arrived.
    private void pass(int from, int to, int bytes, int stage, int slot) {
        Servers out = machines[from].out;
        Servers in = machines[to].in;
        if (network == null) {
            long picos = times.wirePicos(bytes);
            long sent = out.take(agenda.now(), picos);
            at(Math.max(sent, in.take(agenda.now(), picos)) + times.wire(), stage, slot);
            return;
        }
        int onWire = times.wireBytes(bytes);
        out.take(agenda.now(), onWire * network.picosPerByte(from)); // for the account alone
        in.take(agenda.now(), onWire * network.picosPerByte(to));
        network.send(from, to, bytes, times.mtu(), times.headers(), code(stage, slot), agenda.now());
    }

    // ---- the responder's card

    private void arrive(int slot) {
        int machine = requests.threads[slot] / program.threads();
        int target = targetOf(slot);
        CardHost peer = machines[target];
        if (!program.isPinned() && peer.present.add(requests.pages[slot])) {
            peer.faults++;
            at(agenda.now() + times.fault(), ARRIVE, slot);
            return;
        }
        long context = requests.queuePairs[slot];
        if (machines.length > 2) {
            context |= ((long) machine + 1) << 32;
        }
        long lookUps = 0;
        if (!peer.regions.holds(requests.regions[slot])) {
            lookUps += times.tableMiss();
        }
        if (!peer.pages.holds(requests.pages[slot] << 24 | requests.regions[slot])) {
            lookUps += times.tableMiss();
        }
        Operation operation = requests.operations[slot];
        long answer = operation.isAnswered() ? times.respond() : program.isAcknowledged() ? times.acknowledge() : 0;
        long now = work(peer, context, times.arrive() + answer + lookUps);
        if (lookUps > 0) {
            now = Math.max(now, peer.pcie.read(agenda.now(), 0, 64, false));
        }
        long delay = now - agenda.now();
        switch (operation) {
            case READ -> at(peer.pcie.read(agenda.now(), delay, requests.bytes[slot], isCold()), ANSWER, slot);
            case ATOMIC -> at(atomic(peer, slot) + delay, ANSWER, slot);
            case WRITE, SEND -> {
                long written =
                        peer.pcie.write(agenda.now(), delay, requests.bytes[slot], times.isPast(program.memory()));
                if (operation == Operation.SEND) {
                    peer.pcie.read(agenda.now(), delay, times.wqe(), false);
                    peer.pcie.write(agenda.now(), delay, times.cqe(), times.isPast(times.cqe()));
                }
                at(Math.max(now, written - times.pcieWrite()), ANSWER, slot);
            }
        }
    }

    private boolean isCold() {
        return program.memory() > times.cache();
    }

    /// Reads a word, changes it and writes it back, while no other atomic on it may.
    private long atomic(CardHost peer, int slot) {
        Servers lock = peer.locks[(int) Math.floorMod(Chance.mix(requests.pages[slot]), (long) peer.locks.length)];
        long cold = isCold() ? 2 * times.dram() : 0;
        peer.pcie.read(agenda.now(), 0, 8, false);
        peer.pcie.write(agenda.now(), 0, 8, false);
        return lock.take(agenda.now(), times.atomic() + cold);
    }

    private void answer(int slot) {
        if (!program.isAcknowledged()) {
            at(agenda.now(), FINISH, slot);
            return;
        }
        int bytes = requests.operations[slot].isAnswered() ? requests.bytes[slot] : 0;
        pass(targetOf(slot), requests.threads[slot] / program.threads(), bytes + 4, FINISH, slot);
    }

    // ---- the requester's card again

    private void finish(int slot) {
        CardHost machine = source(slot);
        int queuePair = requests.queuePairs[slot];
        Operation operation = requests.operations[slot];
        long now = program.isAcknowledged() ? work(machine, queuePair, times.finish()) : agenda.now();
        long seen = now;
        if (operation.isAnswered()) {
            seen = machine.pcie.write(
                    agenda.now(), now - agenda.now(), requests.bytes[slot], times.isPast(requests.bytes[slot]));
            machine.reads[queuePair]--;
            int next = machine.waiting[queuePair];
            if (next >= 0) {
                machine.waiting[queuePair] = requests.following[next];
                requests.following[next] = -1;
                at(agenda.now(), BEGIN, next);
            }
        }
        if (requests.signaled[slot]) {
            at(
                    machine.pcie.write(agenda.now(), now - agenda.now(), times.cqe(), times.isPast(times.cqe())),
                    SEEN,
                    slot);
        } else {
            count(slot, seen);
        }
    }

    private void seen(int slot) {
        int thread = requests.threads[slot];
        count(slot, agenda.now());
        if (threads.complete(thread)) {
            long wakes = Math.max(agenda.now(), threads.free(thread));
            if (program.sleeps()) {
                wakes = threads.interrupt(thread, wakes, times.moderation()) + times.interrupt();
            }
            at(wakes, THREAD, thread);
        }
    }

    private void count(int slot, long now) {
        all++;
        if (measured < 0 || requests.threads[slot] / program.threads() == measured) {
            done++;
            latencies.add(now - requests.posted[slot] + times.poll());
        }
        requests.remove(slot);
    }
}
