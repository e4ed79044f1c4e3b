package verbena.subnet.link;

import java.lang.foreign.MemorySegment;
import verbena.subnet.node.Node;
import verbena.subnet.node.NodePort;
import verbena.subnet.topology.LinkSpeed;
import verbena.wire.BigEndian;
import verbena.wire.ib.FlowControl;
import verbena.wire.ib.Lrh;
import verbena.wire.ib.NativePacket;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Vcrc;
import verbena.wire.mad.PortCounter;
import verbena.wire.mad.PortInfo;

/// One end of a link (IBTA chapter 7): a buffer for each virtual lane, credits for the peer's buffers, and the
/// arbitration between lanes. No packet leaves without credits, so none is lost for want of room. State, tables and
/// counters are those of the [NodePort], which a subnet manager sees.
///
/// Arriving packets are given to [#onFlowControl] and [#onPacket]; departing packets are fetched with [#next]. For
/// one thread.
public final class LinkPort {
    /// The lane of subnet management, which has no credits (IBTA 3.5.7).
    public static final int MANAGEMENT_LANE = 15;
    /// The result of [#next] when there is nothing to send.
    public static final int NOTHING = -1;
    /// The result of [#next] when it has written a flow control packet.
    public static final int FLOW_CONTROL = -2;
    /// The result of [#onPacket] for a packet that was counted and dropped.
    public static final int DROPPED = -1;
    /// Room for management packets, in each direction.
    public static final int MANAGEMENT_MAX = 64;
    /// The blocks of the longest packet: no buffer of a lane is smaller.
    public static final int BLOCKS_MIN =
            (PacketStore.PACKET_BYTES_MAX + FlowControl.BLOCK_BYTES - 1) / FlowControl.BLOCK_BYTES;

    private static final int LANES = 16;
    // What all links run at, as bits of PortInfo: four lanes of 25 Gb/s, or 10 Gb/s for programs that know no more.
    private static final int HALF = 2_048; // of what 12 bits count
    private static final int BYTES_MIN = Lrh.BYTES + Packet.BYTES_MIN + Vcrc.BYTES;
    /// The most bytes that a packet may have beside its payload, LRH through ICRC (IBTA 7.7.8).
    private static final int HEADERS_MAX = 124;

    private final Node node;
    private final NodePort port;
    private final PacketStore store;
    private final int lanes;
    private final int bufferBlocks;
    private final Arbitration arbitration;
    private final IntQueue[] queues = new IntQueue[LANES];
    private final Arbitration.Lanes sendable = this::sendable;

    // By lane, counts of 12 bits: what was sent, up to where sending is allowed, and the same of the other direction.
    private final int[] sent = new int[LANES];
    private final int[] sendLimit = new int[LANES];
    private final int[] received = new int[LANES];
    private final int[] told = new int[LANES];
    private final int[] held = new int[LANES];
    private int changesSeen;
    private int fairLane;

    /// Creates the end of a link at a port of a node, with buffers for all lanes that the node supports.
    ///
    /// @param number of the port, from 1
    /// @param bufferBlocks room of each data lane, in blocks of 64 bytes, [#BLOCKS_MIN] to 2048
    public LinkPort(Node node, int number, PacketStore store, int bufferBlocks) {
        if (bufferBlocks < BLOCKS_MIN || bufferBlocks > HALF) {
            throw new IllegalArgumentException("bufferBlocks: " + BLOCKS_MIN + " to " + HALF + ", got " + bufferBlocks);
        }
        this.node = node;
        this.port = node.port(number);
        this.store = store;
        this.lanes = port.lanes();
        this.bufferBlocks = bufferBlocks;
        this.arbitration = new Arbitration(lanes);
        for (int lane = 0; lane < LANES; lane++) {
            queues[lane] = new IntQueue();
        }
    }

    // ---- states

    /// Handles a link that has come up: the port initializes (IBTA 7.2.7), and all credits begin anew.
    public void linkUp(LinkSpeed speed, long nowNanos) {
        if (port.state() == PortInfo.DOWN) {
            for (int lane = 0; lane < LANES; lane++) {
                sent[lane] = 0;
                sendLimit[lane] = 0;
                received[lane] = 0;
                told[lane] = 0;
            }
            node.onLinkUp(port.number(), speed.width(), speed.speed(), speed.extended(), nowNanos);
        }
    }

    /// Handles the loss of the link: drops the packets that wait.
    public void linkDown(long nowNanos) {
        node.onLinkDown(port.number(), nowNanos);
        for (IntQueue queue : queues) {
            while (!queue.isEmpty()) {
                store.release(queue.remove());
                port.count(PortCounter.TRANSMIT_DISCARDS, 1);
            }
        }
    }

    public int lanes() {
        return lanes;
    }

    // ---- departures

    /// Returns whether a data packet may be given to [#send].
    public boolean isOpen() {
        return port.state() >= PortInfo.ARMED;
    }

    /// Puts a packet, which this port holds from now on, into the queue of a lane. A port that is not open counts
    /// and drops it.
    public void send(int packet, int lane) {
        boolean isTaken = lane == MANAGEMENT_LANE
                ? port.state() != PortInfo.DOWN && queues[lane].size() < MANAGEMENT_MAX
                : lane < port.lanes() && isOpen();
        if (!isTaken) {
            port.count(PortCounter.TRANSMIT_DISCARDS, 1);
            store.release(packet);
            return;
        }
        queues[lane].add(packet);
    }

    /// Returns the number of packets that wait on a lane.
    public int waiting(int lane) {
        return queues[lane].size();
    }

    /// Returns the packet that this port sends next, which the caller holds then and whose lane and VCRC are right;
    /// or [#FLOW_CONTROL] with the 6 bytes in `control`; or [#NOTHING].
    public int next(MemorySegment control) {
        if (port.state() == PortInfo.DOWN) {
            return NOTHING;
        }
        if (changesSeen != port.changes()) {
            changesSeen = port.changes();
            arbitration.read(port);
        }
        if (writeFlowControl(control, bufferBlocks / 4)) {
            return FLOW_CONTROL;
        }
        int lane = queues[MANAGEMENT_LANE].isEmpty() ? arbitration.next(sendable) : MANAGEMENT_LANE;
        if (lane < 0) {
            return writeFlowControl(control, 1) ? FLOW_CONTROL : NOTHING;
        }
        int packet = queues[lane].remove();
        putLane(packet, lane);
        int bytes = store.length(packet);
        if (lane != MANAGEMENT_LANE) {
            sent[lane] = sent[lane] + FlowControl.blocks(bytes) & FlowControl.COUNT_MASK;
            port.countSent(bytes / 4, isMulticast(store.memory(packet), store.offset(packet)));
        }
        return packet;
    }

    private static boolean isMulticast(MemorySegment memory, long at) {
        return NativePacket.isMulticast(Lrh.destinationLid(memory, at));
    }

    private void putLane(int packet, int lane) {
        MemorySegment memory = store.memory(packet);
        long at = store.offset(packet);
        if (Lrh.virtualLane(memory, at) != lane) {
            BigEndian.put8(memory, at, lane << 4 | Lrh.version(memory, at));
            Vcrc.seal(memory, at, store.length(packet) - Vcrc.BYTES);
        }
    }

    private int sendable(int lane) {
        if (lane >= lanes || queues[lane].isEmpty() || !isOpen()) {
            return 0;
        }
        int bytes = store.length(queues[lane].peek());
        // A packet may leave when its last block is within the limit, modulo 4096 (IBTA 7.9.4.4).
        int after = sent[lane] + FlowControl.blocks(bytes);
        boolean hasCredits = (sendLimit[lane] - after & FlowControl.COUNT_MASK) <= HALF;
        if (!hasCredits) {
            port.count(PortCounter.TRANSMIT_WAIT, 1);
        }
        return hasCredits ? bytes : 0;
    }

    /// Writes a flow control packet for a lane whose limit has grown by so many blocks, each lane in its turn.
    private boolean writeFlowControl(MemorySegment control, int growth) {
        for (int tries = 0; tries < lanes; tries++) {
            fairLane = fairLane + 1 >= lanes ? 0 : fairLane + 1;
            int limit = limit(fairLane);
            if ((limit - told[fairLane] & FlowControl.COUNT_MASK) >= growth) {
                told[fairLane] = limit;
                FlowControl.write(
                        control,
                        0,
                        port.state() == PortInfo.INIT ? FlowControl.INIT : FlowControl.NORMAL,
                        sent[fairLane],
                        fairLane,
                        limit);
                return true;
            }
        }
        return false;
    }

    private int limit(int lane) {
        return received[lane] + (bufferBlocks - held[lane]) & FlowControl.COUNT_MASK;
    }

    // ---- arrivals

    /// Handles the arrival of a flow control packet. A packet that is damaged, or of no lane, is ignored.
    public void onFlowControl(MemorySegment control) {
        int lane = FlowControl.virtualLane(control, 0);
        if (port.state() == PortInfo.DOWN
                || lane >= lanes
                || !FlowControl.verify(control, 0)
                || FlowControl.operand(control, 0) > FlowControl.INIT) {
            return;
        }
        // What was lost on the way takes no room here.
        received[lane] = FlowControl.totalBlocksSent(control, 0);
        sendLimit[lane] = FlowControl.creditLimit(control, 0);
    }

    /// Handles the arrival of a packet: copies it into the buffer of its lane, and counts it.
    ///
    /// @return its number in the store, which the caller holds; [#DROPPED]
    public int onPacket(MemorySegment memory, long at, int bytes) {
        if (port.state() == PortInfo.DOWN) {
            return DROPPED;
        }
        if (bytes < BYTES_MIN
                || bytes - Vcrc.BYTES > port.mtuBytes() + HEADERS_MAX
                || Lrh.packetLengthWords(memory, at) * 4 != bytes - Vcrc.BYTES
                || !Vcrc.verify(memory, at, bytes - Vcrc.BYTES)) {
            port.count(PortCounter.RECEIVE_ERRORS, 1);
            return DROPPED;
        }
        int lane = Lrh.virtualLane(memory, at);
        if (lane == MANAGEMENT_LANE) {
            if (held[lane] == MANAGEMENT_MAX) {
                port.count(PortCounter.VL15_DROPPED, 1);
                return DROPPED;
            }
            held[lane]++;
        } else if (!takesData(lane)) {
            port.count(PortCounter.RECEIVE_ERRORS, 1);
            return DROPPED;
        } else {
            int blocks = FlowControl.blocks(bytes);
            if (held[lane] + blocks > bufferBlocks) {
                port.count(PortCounter.EXCESSIVE_BUFFER_OVERRUN_ERRORS, 1);
                return DROPPED;
            }
            received[lane] = received[lane] + blocks & FlowControl.COUNT_MASK;
            held[lane] += blocks;
            port.countReceived(bytes / 4, isMulticast(memory, at));
        }
        return store.add(memory, at, bytes, this, lane);
    }

    private boolean takesData(int lane) {
        if (lane >= port.lanes() || !isOpen()) {
            return false;
        }
        node.onData(port); // IBTA 7.2.3: data tells that the peer is active
        return true;
    }

    /// Frees the buffer of a packet that came in here and has left this node.
    void leftBuffer(int lane, int bytes) {
        held[lane] -= lane == MANAGEMENT_LANE ? 1 : FlowControl.blocks(bytes);
        assert held[lane] >= 0;
    }
}
