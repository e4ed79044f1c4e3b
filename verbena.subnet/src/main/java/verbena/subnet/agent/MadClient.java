package verbena.subnet.agent;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/// A program at a port, like a program that has opened the file of a port in a kernel: its agents, and the datagrams
/// that have arrived for them. Made by [MadAgents#open()]; for the same thread.
public final class MadClient {
    /// The most agents of a program at a port.
    public static final int AGENTS_MAX = 32;

    private static final int ARRIVALS_MAX = 1_024;

    /// An agent: its number, and the upper half of the transactions that it begins.
    record Agent(MadClient client, int number, AgentSpec spec, int highTransaction) {}

    private final MadAgents port;
    private final @Nullable Agent[] agents = new Agent[AGENTS_MAX];
    private final Queue<AgentMad> arrivals = new ArrayDeque<>();

    MadClient(MadAgents port) {
        this.port = port;
    }

    /// Makes an agent.
    ///
    /// @param number 0 to [#AGENTS_MAX] - 1, which the program chooses
    public AgentRefusal register(int number, AgentSpec spec) {
        if (number < 0 || number >= AGENTS_MAX || agents[number] != null) {
            return AgentRefusal.INVALID;
        }
        AgentRefusal refusal = port.refusal(spec);
        if (refusal == AgentRefusal.NONE) {
            agents[number] = port.agent(this, number, spec);
        }
        return refusal;
    }

    /// Unregisters an agent, and forgets its requests; false when there is none.
    public boolean unregister(int number) {
        Agent agent = agent(number);
        if (agent == null) {
            return false;
        }
        agents[number] = null;
        port.remove(agent);
        return true;
    }

    /// Sends a datagram of an agent. A datagram that cannot be sent is dropped and counted.
    ///
    /// @param mad its bytes are the port's from now on
    public void send(AgentMad mad, long nowNanos) {
        port.send(agent(mad.agent()), mad, nowNanos);
    }

    /// Returns the next datagram for an agent, which stays in the queue; null when there is none.
    public @Nullable AgentMad peek() {
        return arrivals.peek();
    }

    /// Takes it.
    public void taken() {
        arrivals.remove();
    }

    /// Unregisters the program and its agents.
    public void close() {
        for (int number = 0; number < AGENTS_MAX; number++) {
            boolean _ = unregister(number);
        }
        port.remove(this);
    }

    /// Adds a datagram to the program's queue; false when the queue is full, because the program does not read it.
    boolean offer(AgentMad mad) {
        return arrivals.size() < ARRIVALS_MAX && arrivals.add(mad);
    }

    private @Nullable Agent agent(int number) {
        return number < 0 || number >= AGENTS_MAX ? null : agents[number];
    }

    @Nullable
    Agent[] agents() {
        return agents;
    }
}
