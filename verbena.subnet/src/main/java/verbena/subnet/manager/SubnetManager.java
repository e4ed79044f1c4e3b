package verbena.subnet.manager;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import verbena.subnet.Datagram;
import verbena.subnet.MadRoute;
import verbena.subnet.manager.Configuration.Phase;
import verbena.subnet.manager.SubnetNode.SubnetPort;
import verbena.subnet.manager.Sweep.Colleague;
import verbena.subnet.node.Node;
import verbena.wire.mad.Mad;
import verbena.wire.mad.NodeInfo;
import verbena.wire.mad.Notice;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.SmInfo;
import verbena.wire.mad.Smp;
import verbena.wire.mad.SwitchInfo;

/// A subnet manager at a port of a [Node] (IBTA 14.4): finds the subnet, gives addresses, writes routes,
/// activates ports, and does so again when something changes. Of several managers one is the master; another
/// takes over when that is gone.
///
/// The owner hands it what [Node#pollForManager] has, and the datagrams of subnet administration that arrive at
/// queue pair 1. It hands what [#poll] has to [Node#send] when it is for queue pair 0, else to the link. One
/// thread at a time uses it. Whatever arrives, no method throws.
public final class SubnetManager {
    /// States of the manager: IBTA 14.4.1.
    public enum State {
        /// The manager leaves the subnet alone.
        NOT_ACTIVE(SmInfo.NOT_ACTIVE),
        /// The manager looks whether there is a master.
        DISCOVERING(SmInfo.DISCOVERING),
        /// Another manager is the master, which this manager watches.
        STANDBY(SmInfo.STANDBY),
        /// The manager manages the subnet.
        MASTER(SmInfo.MASTER);

        private final int code;

        State(int code) {
            this.code = code;
        }
    }

    private static final long POLL_NANOS = 1_000_000_000L;
    private static final int POLLS_MAX = 3;
    /// The time to the next sweep after a sweep in which a node has not answered.
    private static final long AGAIN_NANOS = 1_000_000_000L;

    private final Node node;
    private final int port;
    private final ManagerOptions options;
    private final Queue<Datagram> departures = new ArrayDeque<>();
    private final SubnetRequests requests;
    private final Configuration configuration;
    private final Administration administration;
    private final Lids lids = new Lids();

    private State state = State.NOT_ACTIVE;
    private @Nullable Sweep sweep;
    private @Nullable Phase phase;
    private @Nullable Subnet subnet;
    private @Nullable Colleague master;
    private boolean takesOver;
    private boolean sweepAgain;
    private long dueNanos = Long.MAX_VALUE;
    private int pollsMissed;
    private int actCount;
    private long sweeps;
    private long failedBefore;
    private boolean failedLast;
    private long nowNanos;

    /// @param port where the manager is: of an adapter, or 0 at a switch
    /// @param firstTransactionId where its transactions begin; another one for each manager
    public SubnetManager(Node node, int port, ManagerOptions options, long firstTransactionId) {
        this.node = node;
        this.port = node.port(port).number();
        this.options = options;
        requests = new SubnetRequests(port, options.mkey(), firstTransactionId, departures);
        configuration = new Configuration(requests, options);
        administration = new Administration(configuration, departures);
    }

    public State state() {
        return state;
    }

    /// Returns the subnet as the last sweep has found it; null before the first has ended, or when this manager is
    /// no master.
    public @Nullable Subnet subnet() {
        return state == State.MASTER ? subnet : null;
    }

    /// Returns whether the manager is the master and nothing is left to do.
    public boolean isUp() {
        return state == State.MASTER && sweep == null && phase == null && requests.isIdle() && !sweepAgain;
    }

    /// Returns the number of heavy sweeps.
    public long sweeps() {
        return sweeps;
    }

    /// Returns the subnet administration, which counts its groups, services and subscriptions.
    public Administration administration() {
        return administration;
    }

    /// Begins.
    public void start(long nowNanos) {
        this.nowNanos = nowNanos;
        node.setManager(port, true, nowNanos);
        discover(false);
        step();
    }

    /// Stops the manager: it neither asks nor answers any more. A colleague that waits takes over.
    public void stop(long nowNanos) {
        this.nowNanos = nowNanos;
        node.setManager(port, false, nowNanos);
        become(State.NOT_ACTIVE);
    }

    private void become(State next) {
        state = next;
        requests.clear();
        sweep = null;
        phase = null;
        sweepAgain = false;
        dueNanos = Long.MAX_VALUE;
        pollsMissed = 0;
    }

    private void discover(boolean takesOver) {
        become(State.DISCOVERING);
        this.takesOver = takesOver;
        configuration.forget();
        heavySweep();
    }

    private void heavySweep() {
        requests.clear();
        phase = null;
        sweepAgain = false;
        sweeps++;
        failedBefore = requests.failed();
        sweep = new Sweep(requests);
        dueNanos = Long.MAX_VALUE;
    }

    /// Sends the requests that wait, and goes on when all are answered.
    private void step() {
        requests.advance(nowNanos);
        while (requests.isIdle() && (sweep != null || phase != null)) {
            if (sweep != null) {
                onSwept(sweep);
            } else {
                onPhase(Objects.requireNonNull(phase));
            }
            requests.advance(nowNanos);
        }
        if (state == State.MASTER && sweep == null && phase == null && requests.isIdle()) {
            if (sweepAgain) {
                heavySweep();
                requests.advance(nowNanos);
            } else {
                administration.flush(nowNanos);
                requests.advance(nowNanos);
                if (requests.isIdle()) {
                    administration.onWritten();
                }
            }
        }
    }

    private void onSwept(Sweep done) {
        sweep = null;
        SubnetPort own = done.own();
        if (own == null) {
            dueNanos = nowNanos + AGAIN_NANOS;
            return;
        }
        for (Colleague colleague : done.colleagues()) {
            if (state == State.DISCOVERING && !takesOver && isAbove(colleague)) {
                master = colleague;
                become(State.STANDBY);
                dueNanos = nowNanos + POLL_NANOS;
                return;
            }
            if (state == State.MASTER && isBetter(colleague)) {
                handOver(colleague);
                return;
            }
        }
        if (state == State.DISCOVERING) {
            state = State.MASTER;
            if (takesOver && master != null) {
                acknowledge(master);
            }
        }
        // A switch that was switched off and on has lost its tables.
        for (SubnetNode one : done.nodes().values()) {
            MemorySegment info = done.switchInfo(one.guid());
            if (info != null && SwitchInfo.LINEAR_FDB_TOP.getInt(info) == 0) {
                configuration.forget(one);
            }
        }
        subnet = new Subnet(done.nodes(), own, lids, options.lmc());
        administration.onSubnet(subnet);
        phase = Phase.ADDRESSES;
        configuration.begin(Phase.ADDRESSES, subnet);
    }

    private void onPhase(Phase done) {
        Subnet current = Objects.requireNonNull(subnet);
        switch (done) {
            case ADDRESSES -> {
                phase = Phase.TABLES;
                configuration.begin(Phase.TABLES, current);
                administration.writeGroups();
            }
            case TABLES -> {
                phase = Phase.ARM;
                configuration.begin(Phase.ARM, current);
            }
            case ARM -> {
                phase = Phase.ACTIVATE;
                configuration.begin(Phase.ACTIVATE, current);
            }
            case ACTIVATE -> {
                phase = null;
                boolean failed = requests.failed() > failedBefore;
                // What fails twice will fail again: that waits for the next regular sweep.
                dueNanos = nowNanos + (failed && !failedLast ? AGAIN_NANOS : options.sweepNanos());
                failedLast = failed;
                administration.onUp(nowNanos);
            }
        }
    }

    /// Asks each switch whether something has changed, and the neighbour whether it is there (IBTA 14.4.3).
    private void lightSweep() {
        Subnet current = Objects.requireNonNull(subnet);
        dueNanos = nowNanos + options.sweepNanos();
        for (SubnetNode one : current.switches()) {
            requests.get(one.path(), SwitchInfo.ATTRIBUTE, 0, mad -> {
                if (mad == null || SwitchInfo.PORT_STATE_CHANGE.getBoolean(Smp.data(mad))) {
                    sweepAgain = true;
                }
            });
        }
        SubnetPort own = current.own();
        if (own.number() > 0) {
            boolean hadLink = own.peer() != null;
            int now = node.port(own.number()).state();
            if (hadLink != (now != PortInfo.DOWN) || (hadLink && now != PortInfo.ACTIVE)) {
                sweepAgain = true;
            } else if (hadLink) {
                byte[] path = {(byte) own.number()};
                requests.get(path, NodeInfo.ATTRIBUTE, 0, mad -> sweepAgain |= mad == null);
            }
        }
    }

    // Colleagues

    /// Returns whether the colleague is to be the master rather than this manager, which has just begun (IBTA
    /// 14.4.1).
    private boolean isAbove(Colleague colleague) {
        return switch (colleague.state()) {
            case SmInfo.MASTER -> true;
            case SmInfo.DISCOVERING, SmInfo.STANDBY -> isBetter(colleague);
            default -> false;
        };
    }

    /// Returns whether the colleague has the higher priority or, at the same priority, the lower GUID. A standby of
    /// the same priority leaves the master alone.
    private boolean isBetter(Colleague colleague) {
        if (colleague.state() == SmInfo.NOT_ACTIVE) {
            return false;
        }
        if (colleague.priority() != options.priority()) {
            return colleague.priority() > options.priority();
        }
        boolean running = state == State.MASTER && colleague.state() != SmInfo.MASTER;
        return !running && Long.compareUnsigned(colleague.guid(), guid()) < 0;
    }

    private long guid() {
        return node.endPort(port).guid();
    }

    private void handOver(Colleague colleague) {
        become(State.STANDBY);
        master = colleague;
        dueNanos = nowNanos + POLL_NANOS;
        control(colleague, SmInfo.SET_HANDOVER);
    }

    private void acknowledge(Colleague colleague) {
        control(colleague, SmInfo.SET_ACKNOWLEDGE);
    }

    private void control(Colleague colleague, int modifier) {
        requests.ask(colleague.path(), Mad.METHOD_SET, SmInfo.ATTRIBUTE, modifier, this::describe, _ -> {});
    }

    private void describe(MemorySegment info) {
        SmInfo.GUID.put(info, guid());
        SmInfo.SM_KEY.put(info, options.smKey());
        SmInfo.ACT_COUNT.put(info, actCount);
        SmInfo.PRIORITY.put(info, options.priority());
        SmInfo.STATE.put(info, state.code);
    }

    private void pollMaster() {
        dueNanos = nowNanos + POLL_NANOS;
        requests.get(Objects.requireNonNull(master).path(), SmInfo.ATTRIBUTE, 0, mad -> {
            if (state != State.STANDBY) {
                return;
            }
            if (mad != null && SmInfo.STATE.getInt(Smp.data(mad)) >= SmInfo.DISCOVERING && isSame(mad)) {
                pollsMissed = 0;
                return;
            }
            pollsMissed++;
            if (pollsMissed >= POLLS_MAX) {
                discover(false);
            }
        });
    }

    private boolean isSame(MemorySegment mad) {
        return SmInfo.GUID.get(Smp.data(mad)) == Objects.requireNonNull(master).guid();
    }

    /// Handles a colleague's SMInfo request: replies, and changes the state when the colleague asks for that (IBTA
    /// 14.4.1).
    private void onColleague(Datagram request) {
        MemorySegment mad = request.mad();
        MemorySegment data = Smp.data(mad);
        int status = 0;
        boolean takeOver = false;
        boolean again = false;
        if (Mad.method(mad) == Mad.METHOD_SET) {
            boolean waits = state == State.STANDBY;
            switch (Mad.attributeModifier(mad)) {
                case SmInfo.SET_HANDOVER -> takeOver = waits || state == State.MASTER;
                case SmInfo.SET_ACKNOWLEDGE -> pollsMissed = 0;
                case SmInfo.SET_DISABLE -> {
                    if (waits) {
                        become(State.NOT_ACTIVE);
                    }
                }
                case SmInfo.SET_STANDBY -> {
                    if (state == State.NOT_ACTIVE && master != null) {
                        become(State.STANDBY);
                        dueNanos = nowNanos + POLL_NANOS;
                    }
                }
                case SmInfo.SET_DISCOVER -> again = waits;
                default -> status = Mad.STATUS_BAD_VALUE;
            }
        }
        data.fill((byte) 0);
        if (takeOver && state == State.STANDBY) {
            discover(true);
        } else if (takeOver) {
            configuration.forget(); // two subnets have become one, and the other master has written its tables
            sweepAgain = true;
        } else if (again) {
            discover(false);
        }
        describe(data);
        Smp.answer(mad, Mad.METHOD_GET_RESPONSE, status);
        departures.add(request);
    }

    private void onTrap(Datagram trap) {
        MemorySegment mad = trap.mad();
        MemorySegment notice = Smp.data(mad);
        if (state != State.MASTER || Mad.attributeId(mad) != Notice.ATTRIBUTE) {
            return;
        }
        MadRoute route = trap.route();
        MemorySegment repress = Mad.copyOf(mad);
        Mad.answer(repress, Mad.METHOD_TRAP_REPRESS, 0);
        Smp.M_KEY.put(repress, options.mkey());
        departures.add(new Datagram(
                MadRoute.subnet(port, node.endPort(port).lid(), route.slid(), route.serviceLevel()), repress));
        int number = Notice.TRAP_NUMBER.getInt(notice);
        if (number == Notice.LINK_STATE_CHANGE || number == Notice.CAPABILITY_CHANGE) {
            sweepAgain = true;
        }
        administration.onTrap(notice, nowNanos);
    }

    // What happens, and what there is to do

    /// Handles a datagram for the manager, or for the subnet administration.
    ///
    /// @param datagram its memory is the manager's from now on
    public void onMad(Datagram datagram, long nowNanos) {
        this.nowNanos = nowNanos;
        MemorySegment mad = datagram.mad();
        if (state == State.NOT_ACTIVE && Mad.attributeId(mad) != SmInfo.ATTRIBUTE) {
            return;
        }
        int managementClass = Mad.managementClass(mad);
        if (managementClass == Mad.CLASS_SUBNET_ADMINISTRATION) {
            if (state == State.MASTER && subnet != null) {
                administration.onMad(datagram, node.endPort(port).lid(), nowNanos);
            }
        } else if (managementClass == Mad.CLASS_SUBNET_DIRECTED || managementClass == Mad.CLASS_SUBNET_LID) {
            actCount++;
            int method = Mad.method(mad);
            if (method == Mad.METHOD_GET_RESPONSE) {
                requests.onAnswer(mad);
            } else if (method == Mad.METHOD_TRAP) {
                onTrap(datagram);
            } else if (Mad.attributeId(mad) == SmInfo.ATTRIBUTE
                    && (method == Mad.METHOD_GET || method == Mad.METHOD_SET)) {
                onColleague(datagram);
            }
        }
        step();
    }

    /// Takes the next datagram that leaves, or null.
    public @Nullable Datagram poll() {
        return departures.poll();
    }

    /// Returns the time at which to call [#onDeadline]; [Long#MAX_VALUE]: never.
    public long deadlineNanos() {
        return Math.min(dueNanos, Math.min(requests.deadlineNanos(), administration.deadlineNanos()));
    }

    /// Performs the work whose time has come, if any.
    public void onDeadline(long nowNanos) {
        this.nowNanos = nowNanos;
        actCount++;
        requests.onDeadline(nowNanos);
        administration.onDeadline(nowNanos);
        if (nowNanos >= dueNanos) {
            dueNanos = Long.MAX_VALUE;
            switch (state) {
                case MASTER -> {
                    if (sweep == null && phase == null) {
                        if (subnet == null || requests.failed() > failedBefore) {
                            heavySweep();
                        } else {
                            lightSweep();
                        }
                    }
                }
                case STANDBY -> pollMaster();
                case DISCOVERING -> heavySweep();
                case NOT_ACTIVE -> {}
            }
        }
        step();
    }
}
