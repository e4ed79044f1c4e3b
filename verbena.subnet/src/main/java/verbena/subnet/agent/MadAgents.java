package verbena.subnet.agent;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import verbena.subnet.Datagram;
import verbena.subnet.MadRoute;
import verbena.subnet.agent.MadClient.Agent;
import verbena.subnet.node.NodePort;
import verbena.subnet.rmpp.RmppReceivers;
import verbena.subnet.rmpp.RmppSenders;
import verbena.wire.mad.Field;
import verbena.wire.mad.Mad;
import verbena.wire.mad.Rmpp;
import verbena.wire.mad.Sa;
import verbena.wire.mad.Smp;

/// The agents of all programs at a port, and the handling of their datagrams, as Linux's kernel has it
/// (umad_send(3), umad_register(3); IBTA 13.4, 13.6).
///
/// - What arrives unasked goes to the agent of its class, version and method.
/// - A request that an agent sends gets the agent's number into the upper half of its transaction ID. An answer
///   goes to the agent whose request has this transaction and class, and was sent to this LID. Without such a
///   request it is dropped.
/// - A request is repeated until it is answered. After that its program gets its header back, with a status.
/// - Long messages are cut, and put together, for agents that want it.
///
/// The owner hands over arrivals, and asks for departures and the deadline. One thread at a time; whatever arrives,
/// no method throws.
public final class MadAgents {
    /// The longest datagram that a program may send, in bytes.
    public static final int BYTES_MAX = RmppReceivers.BYTES_MAX;

    private static final int REQUESTS_MAX = 4_096;
    private static final int MILLIS_MAX = 600_000;
    private static final int RETRIES_MAX = 1_000;
    private static final long MILLISECOND = 1_000_000;
    /// Upper halves of transactions of agents have this bit; managers of ours count from far below.
    private static final int AGENT = 0x8000_0000;
    private static final int VENDOR_FIRST = 0x30; // of the classes with an OUI (IBTA 16.5)
    private static final int VENDOR_LAST = 0x4F;
    private static final int VENDOR_HEADER_BYTES = 40;
    private static final int DEVICE_HEADER_BYTES = 64;
    private static final int CLASS_DEVICE = 0x06;
    private static final int CLASS_DEVICE_ADMINISTRATION = 0x10;
    private static final int CLASS_INFORMATION = 0x12;
    private static final Field OUI = Field.of(37, 24);
    private static final Field TRANSACTION_ID = Field.of(8, 64);

    /// A request that waits for its answer.
    private static final class Request {
        final Agent agent;
        final AgentMad mad;
        int retries;
        long dueNanos;

        Request(Agent agent, AgentMad mad, long nowNanos) {
            this.agent = agent;
            this.mad = mad;
            retries = Math.min(mad.retries(), RETRIES_MAX);
            extend(nowNanos);
        }

        void extend(long nowNanos) {
            dueNanos = nowNanos + Math.min(mad.timeoutMillis(), MILLIS_MAX) * MILLISECOND;
        }

        boolean isAnsweredBy(MemorySegment answer, int slid) {
            boolean isDirected = Smp.isDirected(answer);
            return Mad.transactionId(mad.bytes()) == Mad.transactionId(answer)
                    && Mad.managementClass(mad.bytes()) == Mad.managementClass(answer)
                    && (isDirected || mad.lid() == slid || mad.lid() == Smp.PERMISSIVE_LID);
        }
    }

    private final NodePort port;
    private final List<MadClient> clients = new ArrayList<>();
    private final List<Request> requests = new ArrayList<>();
    private final Queue<Datagram> departures = new ArrayDeque<>();
    private final RmppSenders senders = new RmppSenders(departures);
    private final RmppReceivers receivers = new RmppReceivers(departures);
    private SubnetRight right = SubnetRight.ALL;
    private int agentsMade;
    private long dropped;

    /// @param port of a channel adapter, or port 0 of a switch
    public MadAgents(NodePort port) {
        this.port = port;
    }

    /// Sets the right of programs at queue pair 0; agents that are there stay.
    public void allow(SubnetRight right) {
        this.right = right;
    }

    /// Registers a program.
    public MadClient open() {
        var client = new MadClient(this);
        clients.add(client);
        return client;
    }

    void remove(MadClient client) {
        clients.remove(client);
    }

    /// Returns whether there is no program.
    public boolean isEmpty() {
        return clients.isEmpty();
    }

    /// Returns whether the subnet manager of a program is here.
    public boolean hasManager() {
        for (MadClient client : clients) {
            for (Agent agent : client.agents()) {
                if (agent != null && agent.spec().isManager()) {
                    return true;
                }
            }
        }
        return false;
    }

    /// Datagrams that could not be sent, or that no program took.
    public long dropped() {
        return dropped;
    }

    // ---- agents

    AgentRefusal refusal(AgentSpec spec) {
        if (spec.isSubnet() && (right == SubnetRight.NONE || (right == SubnetRight.ASK && spec.hasMethods()))) {
            return AgentRefusal.NOT_PERMITTED;
        }
        if (spec.managementClass() == 0 || (spec.hasRmpp() && dataOffset(spec.managementClass()) == 0)) {
            return AgentRefusal.INVALID;
        }
        for (MadClient client : clients) {
            for (Agent agent : client.agents()) {
                if (agent != null && agent.spec().meets(spec)) {
                    return AgentRefusal.TAKEN;
                }
            }
        }
        return AgentRefusal.NONE;
    }

    Agent agent(MadClient client, int number, AgentSpec spec) {
        return new Agent(client, number, spec, AGENT | agentsMade++);
    }

    void remove(Agent agent) {
        requests.removeIf(request -> request.agent == agent);
    }

    // ---- departures

    void send(@Nullable Agent agent, AgentMad mad, long nowNanos) {
        MemorySegment bytes = mad.bytes();
        if (agent == null || bytes.byteSize() < Mad.BYTES || !maySend(agent.spec(), bytes)) {
            dropped++;
            return;
        }
        boolean isAnswer = isAnswer(bytes);
        if (!isAnswer) {
            long low = Mad.transactionId(bytes) & 0xFFFF_FFFFL;
            TRANSACTION_ID.put(bytes, (long) agent.highTransaction() << 32 | low);
        }
        boolean isKept = !isAnswer && mad.timeoutMillis() > 0;
        if (isKept && requests.size() == REQUESTS_MAX) {
            dropped++;
            return;
        }
        if (isKept) {
            receivers.forget(Mad.transactionId(bytes));
        }
        if (depart(agent, mad, nowNanos) && isKept) {
            requests.add(new Request(agent, mad, nowNanos));
        }
    }

    /// Checks the queue pair of a datagram by the agent's class, and the right of programs at queue pair 0.
    private boolean maySend(AgentSpec spec, MemorySegment mad) {
        if (AgentSpec.isSubnet(Mad.managementClass(mad)) != spec.isSubnet()) {
            return false;
        }
        return !spec.isSubnet() || right == SubnetRight.ALL || Mad.method(mad) == Mad.METHOD_GET;
    }

    private boolean depart(Agent agent, AgentMad mad, long nowNanos) {
        MemorySegment bytes = mad.bytes();
        MadRoute route = route(agent.spec(), mad);
        int offset = dataOffset(Mad.managementClass(bytes));
        if (agent.spec().hasRmpp() && offset != 0 && Rmpp.ACTIVE.getBoolean(bytes)) {
            byte[] payload = bytes.asSlice(offset).toArray(ValueLayout.JAVA_BYTE);
            boolean isSent = bytes.byteSize() <= BYTES_MAX
                    && senders.send(new Datagram(route, Mad.copyOf(bytes)), offset, payload, nowNanos);
            dropped += isSent ? 0 : 1;
            return isSent;
        }
        if (bytes.byteSize() > Mad.BYTES) {
            dropped++;
            return false;
        }
        departures.add(new Datagram(route, Mad.copyOf(bytes)));
        return true;
    }

    private MadRoute route(AgentSpec spec, AgentMad mad) {
        if (!spec.isSubnet()) {
            int pkey = mad.pkeyIndex() < NodePort.PKEYS ? port.pkey(mad.pkeyIndex()) : 0;
            return new MadRoute(port.number(), port.lid(), mad.lid(), mad.serviceLevel(), Mad.QPN, mad.qpn(), pkey);
        }
        // The route of an answer is that of its request (Node#send).
        return Mad.method(mad.bytes()) == Mad.METHOD_GET_RESPONSE
                ? MadRoute.subnet(port.number(), mad.lid(), port.lid(), mad.serviceLevel())
                : MadRoute.subnet(port.number(), port.lid(), mad.lid(), mad.serviceLevel());
    }

    /// Takes the next datagram that leaves, or null.
    public @Nullable Datagram poll() {
        return departures.poll();
    }

    // ---- arrivals

    /// Returns whether a datagram that has arrived at the port, and is no request to the node itself, is for an
    /// agent.
    public boolean isFor(int slid, int sourceQpn, MemorySegment mad) {
        return !clients.isEmpty()
                && (senders.isAwaited(slid, sourceQpn, mad)
                        || receivers.isKnown(new MadRoute(0, slid, 0, 0, sourceQpn, 0, 0), mad)
                        || receiver(slid, mad) != null);
    }

    private @Nullable Agent receiver(int slid, MemorySegment mad) {
        if (isAnswer(mad)) {
            Request request = request(slid, mad);
            return request == null ? null : request.agent;
        }
        for (MadClient client : clients) {
            for (Agent agent : client.agents()) {
                if (agent != null && isUnaskedFor(agent.spec(), mad)) {
                    return agent;
                }
            }
        }
        return null;
    }

    private static boolean isUnaskedFor(AgentSpec spec, MemorySegment mad) {
        return spec.managementClass() == Mad.managementClass(mad)
                && spec.classVersion() == Mad.classVersion(mad)
                && spec.hasMethod(Mad.method(mad))
                && (!hasOui(spec.managementClass()) || spec.oui() == OUI.getInt(mad));
    }

    private @Nullable Request request(int slid, MemorySegment mad) {
        for (Request request : requests) {
            if (request.isAnsweredBy(mad, slid)) {
                return request;
            }
        }
        return null;
    }

    /// Handles the arrival of a datagram for an agent ([#isFor]).
    public void onMad(Datagram datagram, long nowNanos) {
        MemorySegment mad = datagram.mad();
        MadRoute route = datagram.route();
        if (senders.isAwaited(route.slid(), route.sourceQpn(), mad)) {
            senders.onAnswer(datagram, nowNanos);
            return;
        }
        Agent agent = receiver(route.slid(), mad);
        int offset = dataOffset(Mad.managementClass(mad));
        boolean isLong = offset != 0
                && Rmpp.ACTIVE.getBoolean(mad)
                && (agent == null || agent.spec().hasRmpp());
        Request request = isAnswer(mad) ? request(route.slid(), mad) : null;
        byte[] whole = null;
        if (isLong) {
            whole = receivers.onSegment(datagram, offset, nowNanos);
            if (whole == null) {
                if (request != null) {
                    request.extend(nowNanos); // its answer has begun
                }
                return;
            }
        }
        if (agent != null) {
            requests.remove(request);
            deliver(agent, 0, route, whole == null ? mad : MemorySegment.ofArray(whole));
        }
    }

    private void deliver(Agent agent, int status, MadRoute from, MemorySegment bytes) {
        int paths = (1 << port.lmc()) - 1;
        boolean isTaken = agent.client()
                .offer(new AgentMad(
                        agent.number(),
                        status,
                        0,
                        0,
                        from.slid(),
                        from.sourceQpn(),
                        from.serviceLevel(),
                        from.dlid() == Smp.PERMISSIVE_LID ? 0 : from.dlid() & paths,
                        pkeyIndex(from.pkey()),
                        bytes));
        dropped += isTaken ? 0 : 1;
    }

    private int pkeyIndex(int pkey) {
        for (int i = 0; i < NodePort.PKEYS; i++) {
            if (((port.pkey(i) ^ pkey) & 0x7FFF) == 0) {
                return i;
            }
        }
        return 0;
    }

    /// Returns whether a datagram is an answer, by the same rule as the kernel.
    private static boolean isAnswer(MemorySegment mad) {
        int method = Mad.method(mad);
        return (method & Mad.RESPONSE) != 0 || method == Mad.METHOD_TRAP_REPRESS;
    }

    private static boolean hasOui(int managementClass) {
        return managementClass >= VENDOR_FIRST && managementClass <= VENDOR_LAST;
    }

    /// Returns the offset of the data of a class, behind the header of [Rmpp]; 0 for a class without long messages.
    private static int dataOffset(int managementClass) {
        return switch (managementClass) {
            case Mad.CLASS_SUBNET_ADMINISTRATION -> Sa.HEADER_BYTES;
            case CLASS_DEVICE, CLASS_DEVICE_ADMINISTRATION, CLASS_INFORMATION -> DEVICE_HEADER_BYTES;
            default -> hasOui(managementClass) ? VENDOR_HEADER_BYTES : 0;
        };
    }

    // ---- time

    /// Returns the time at which to call [#onDeadline]; [Long#MAX_VALUE]: never.
    public long deadlineNanos() {
        long due = Math.min(senders.deadlineNanos(), receivers.deadlineNanos());
        for (Request request : requests) {
            due = Math.min(due, request.dueNanos);
        }
        return due;
    }

    /// Handles the requests and messages whose time has come, if any.
    public void onDeadline(long nowNanos) {
        senders.onDeadline(nowNanos);
        receivers.onDeadline(nowNanos);
        for (Request request : List.copyOf(requests)) {
            if (request.dueNanos <= nowNanos) {
                if (request.retries-- > 0) {
                    request.extend(nowNanos);
                    boolean _ = depart(request.agent, request.mad, nowNanos);
                } else {
                    requests.remove(request);
                    giveUp(request);
                }
            }
        }
    }

    /// Returns the header of a request without answer to its program.
    private void giveUp(Request request) {
        AgentMad mad = request.mad;
        boolean isTaken = request.agent
                .client()
                .offer(new AgentMad(
                        mad.agent(),
                        AgentMad.TIMED_OUT,
                        mad.timeoutMillis(),
                        mad.retries(),
                        mad.lid(),
                        mad.qpn(),
                        mad.serviceLevel(),
                        mad.pathBits(),
                        mad.pkeyIndex(),
                        mad.bytes().asSlice(0, Mad.HEADER_BYTES)));
        dropped += isTaken ? 0 : 1;
    }
}
