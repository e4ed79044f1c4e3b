package verbena.nic.raw;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.PacketRing;
import verbena.nic.engine.Engine;
import verbena.nic.engine.EngineTask;
import verbena.nic.kind.FlowTarget;
import verbena.nic.kind.FrameFlow;
import verbena.nic.kind.QueuePairDriver;
import verbena.nic.kind.QueuePairWiring;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.transport.Counter;
import verbena.transport.PacketFate;
import verbena.transport.QueuePairCore;
import verbena.transport.Receiving;
import verbena.transport.Scheduled;
import verbena.transport.SendCompletions;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.AsyncEvent;
import verbena.verbs.DeviceException;
import verbena.verbs.QpState;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.spi.SendOperation;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.roce.Ethernet;

/// A queue pair of whole Ethernet frames (`IBV_QPT_RAW_PACKET`). Each SEND is a frame; a frame that comes, and fits
/// a flow, takes a receive. It has its own socket, so the device's link, and with it all other queue pairs, know
/// nothing of it. Engine-confined.
///
/// A frame that finds no receive, or one that is too small, is lost; so is one that does not fit into the socket's
/// ring. A request that fails on this side puts the queue pair into SQE, where receives go on.
public final class RawDriver implements QueuePairDriver, Scheduled, FlowTarget {
    /// The time until a frame is sent again for which the kernel had no room.
    private static final long RETRY_NANOS = 20_000;
    /// The time for which arrivals are looked for after the last one; then the socket's thread tells of them.
    private static final long LOOK_NANOS = 50_000;

    private static final int ADDRESSES_BYTES = 12;

    private final HostInterface host;
    private final Engine engine;
    private final EngineTask task;
    private final QueuePairCore core;
    private final SendQueue sends;
    private final SendCompletions completions;
    private final Receiving receive;
    private final RawCounters raw;
    private final FrameHeaders headers = new FrameHeaders();
    private final List<FrameFlow> flows = new ArrayList<>();
    /// The socket, from INIT on; null in RESET.
    private @Nullable RawSocket socket;

    private long head;
    private long moreNanos = NEVER;
    private long arrivedNanos;
    private boolean isLooking;

    /// @param host the interface
    public RawDriver(HostInterface host, RawCounters raw, QueuePairWiring wiring) {
        this.host = host;
        this.raw = raw;
        var parts = wiring.parts();
        this.engine = wiring.engine();
        this.core = new QueuePairCore(parts);
        this.sends = parts.sends();
        this.completions = new SendCompletions(core, sends, parts.sendCompletions(), parts.signalAll());
        this.receive = new Receiving(core, parts);
        this.task = new EngineTask(this, parts.counters(), wiring.owner());
    }

    @Override
    public EngineTask task() {
        return task;
    }

    @Override
    public String peer() {
        return "";
    }

    @Override
    public boolean isStalled() {
        return false;
    }

    // ---- flows

    @Override
    public void add(FrameFlow flow) {
        RawSocket on = socket;
        if (on != null && flows.isEmpty()) {
            on.hear(true);
        }
        flows.add(flow);
    }

    @Override
    public void remove(FrameFlow flow) {
        flows.remove(flow);
        RawSocket on = socket;
        if (on != null && flows.isEmpty()) {
            on.hear(false);
        }
    }

    // ---- life

    @Override
    public void onModified(QpState from, QpState to, long nowNanos) {
        switch (to) {
            case RESET -> {
                core.rootCause = null;
                head = sends.published();
                sends.retire(head);
                receive.discard();
                moreNanos = NEVER;
                closeSocket();
            }
            case INIT -> openSocket();
            case RTS -> {
                if (from == QpState.SQE) {
                    head = completions.flushAll(head); // what was posted there
                    core.rootCause = null;
                }
            }
            case SQD -> {
                if (from != QpState.SQD && core.parameters.notifyWhenDrained) {
                    core.events.onAsyncEvent(AsyncEvent.Type.SQ_DRAINED); // a frame leaves at once, or not at all
                }
            }
            case ERR -> {
                if (from != QpState.ERR) {
                    fail("the application moved the queue pair to ERR");
                }
            }
            case RTR, SQE -> {}
        }
    }

    private void openSocket() {
        if (socket != null) {
            return;
        }
        try {
            var opened = new RawSocket(host, () -> engine.ring(task, 0, 0, false));
            socket = opened;
            if (!flows.isEmpty()) {
                opened.hear(true);
            }
        } catch (DeviceException e) {
            fail(String.valueOf(e.getMessage()));
        }
    }

    private void closeSocket() {
        RawSocket open = socket;
        if (open != null) {
            socket = null;
            open.close();
        }
    }

    @Override
    public boolean isDraining() {
        return false;
    }

    @Override
    public void breakDown(String cause) {
        if (core.parameters.state != QpState.RESET && core.parameters.state != QpState.ERR) {
            fail(cause);
        }
    }

    private void fail(String cause) {
        core.enter(QpState.ERR, cause);
        head = completions.flushAll(head);
        receive.flush();
        if (receive.isShared()) {
            core.events.onAsyncEvent(AsyncEvent.Type.QP_LAST_WQE_REACHED);
        }
    }

    @Override
    public String rootCause() {
        String cause = core.rootCause;
        return cause == null ? "" : cause;
    }

    // ---- the engine's

    /// Sends what is posted and takes what has come; never fills a frame of the link.
    @Override
    public boolean poll(Frame unused, long nowNanos) {
        moreNanos = NEVER;
        switch (core.parameters.state) {
            case RESET -> {}
            case ERR -> {
                head = completions.flushAll(head);
                receive.flush();
            }
            case SQE -> head = completions.flushAll(head);
            case RTS -> depart(nowNanos);
            case INIT, RTR, SQD -> {}
        }
        arrive(nowNanos);
        return false;
    }

    @Override
    public long deadlineNanos() {
        return moreNanos;
    }

    /// Does nothing: the engine asks for departures next.
    @Override
    public void onDeadline(long nowNanos) {
        moreNanos = NEVER;
    }

    // ---- departures

    private void depart(long now) {
        RawSocket on = socket;
        while (on != null && core.parameters.state == QpState.RTS && head < sends.published()) {
            int count = 0;
            while (count < RawSocket.BATCH && head + count < sends.published() && write(on, count)) {
                count++;
            }
            if (count == 0) {
                failHead();
            } else if (!send(on, count)) {
                moreNanos = now + RETRY_NANOS;
                return;
            }
        }
    }

    /// Writes the frame of a request; false when there is something wrong with the request.
    private boolean write(RawSocket on, int index) {
        SendRequest request = sends.at(head + index);
        if (request.operation != SendOperation.SEND || !isLengthOk(request.bytes())) {
            return false;
        }
        int bytes = (int) request.bytes();
        MemorySegment frame = on.frame(index);
        if (request.isInline) {
            MemorySegment.copy(request.inline, 0, frame, 0, bytes);
        } else if (core.memory.gather(request.scatter, core.parameters.protectionDomain, 0, frame, 0, bytes)
                != MemoryVerdict.OK) {
            return false;
        }
        on.length(index, bytes);
        return true;
    }

    private boolean isLengthOk(long bytes) {
        RawSocket on = socket;
        return bytes >= Ethernet.BYTES && on != null && bytes <= on.frameMax();
    }

    /// Hands frames to the kernel; false when it has no room for all of them now.
    private boolean send(RawSocket on, int count) {
        int done = 0;
        while (done < count) {
            int result = on.send(done, count - done);
            if (result == -LinuxAbi.EAGAIN || result == -LinuxAbi.ENOMEM) {
                return false;
            }
            if (result < 0 && result != -LinuxAbi.EINTR) {
                // ENOBUFS: the interface's queue is full. EMSGSIZE, ENETDOWN, …: the frame is lost on the wire.
                raw.unsent();
                result = 1;
            }
            for (int i = 0; i < result; i++) {
                SendRequest request = sends.at(head);
                core.counters.add(Counter.SENT_PACKETS, 1);
                core.counters.add(Counter.SENT_BYTES, request.bytes());
                head++;
                completions.succeed(request, head);
            }
            done += Math.max(0, result);
        }
        return true;
    }

    private void failHead() {
        SendRequest request = sends.at(head);
        WcStatus known = request.localError;
        if (request.operation == SendOperation.FAULTY) {
            failHead(request, known == null ? WcStatus.GENERAL_ERR : known, request.localCause);
        } else if (request.operation != SendOperation.SEND) {
            failHead(request, WcStatus.LOC_QP_OP_ERR, "RAW_PACKET has no " + request.operation);
        } else if (!isLengthOk(request.bytes())) {
            failHead(
                    request,
                    WcStatus.LOC_LEN_ERR,
                    "a frame of " + host.name() + " has " + Ethernet.BYTES + " bytes at least, and its MTU of "
                            + host.mtu() + " allows no frame of " + request.bytes());
        } else {
            MemoryVerdict verdict = core.memory.checkLocal(request.scatter, core.parameters.protectionDomain, false);
            failHead(
                    request,
                    WcStatus.LOC_PROT_ERR,
                    core.memory.explain(request.scatter, core.parameters.protectionDomain, false, verdict));
        }
    }

    private void failHead(SendRequest request, WcStatus status, String cause) {
        long wrId = request.wrId;
        head++;
        core.enter(QpState.SQE, status + " on the request with wrId " + wrId + ": " + cause);
        completions.fail(request, head, status, 0, cause);
        head = completions.flushAll(head);
    }

    // ---- arrivals

    private void arrive(long now) {
        RawSocket on = socket;
        if (on == null) {
            return;
        }
        PacketRing ring = on.ring();
        int taken = 0;
        while (taken < RawSocket.BATCH && ring.next()) {
            take(ring);
            taken++;
        }
        ring.release();
        if (taken > 0) {
            arrivedNanos = now;
            isLooking = true;
        }
        isLooking &= now - arrivedNanos < LOOK_NANOS;
        if (ring.hasNext() || isLooking) {
            moreNanos = now;
        } else {
            raw.dropped(on.dropped());
            on.idle();
        }
    }

    private void take(PacketRing ring) {
        MemorySegment memory = ring.memory();
        int start = ring.start();
        int length = ring.length();
        if (length != ring.kept() || length < Ethernet.BYTES) {
            drop(PacketFate.DROPPED_MALFORMED);
            return;
        }
        int tag = ring.tag();
        if (tag >= 0) { // the kernel has taken it out
            start -= Ethernet.TAG_BYTES;
            length += Ethernet.TAG_BYTES;
            putTagBack(memory, start, tag);
        }
        headers.read(memory, start, length);
        boolean fits = false;
        for (int i = 0; i < flows.size(); i++) { // without an iterator: for every frame
            FrameFlow flow = flows.get(i);
            if (headers.fits(flow.rule())) {
                flow.count(length);
                fits = true;
            }
        }
        if (fits) {
            deliver(memory, start, length);
        }
    }

    /// Moves the addresses of a frame to where it begins with its tag, and writes the tag behind them.
    private static void putTagBack(MemorySegment memory, int start, int tag) {
        MemorySegment.copy(memory, (long) start + Ethernet.TAG_BYTES, memory, start, ADDRESSES_BYTES);
        BigEndian.put16(memory, start + ADDRESSES_BYTES, Ethernet.TYPE_VLAN);
        BigEndian.put16(memory, start + ADDRESSES_BYTES + 2L, tag);
    }

    private void deliver(MemorySegment memory, int start, int length) {
        core.counters.add(Counter.RECEIVED_PACKETS, 1);
        core.counters.add(Counter.RECEIVED_BYTES, length);
        if (!isReceiving()) {
            core.counters.count(PacketFate.DROPPED_STATE);
            return;
        }
        if (!receive.open()) {
            core.counters.count(PacketFate.DROPPED_MESSAGE);
            return;
        }
        if (length > receive.scatter().bytes) {
            if (receive.isShared()) { // otherwise it is for the next frame
                receive.fail(
                        WcStatus.LOC_LEN_ERR,
                        "the frame of " + length + " bytes is longer than the receive of " + receive.scatter().bytes
                                + " bytes");
            }
            core.counters.count(PacketFate.DROPPED_MESSAGE);
            return;
        }
        MemoryVerdict verdict =
                core.memory.scatter(receive.scatter(), core.parameters.receiveDomain(), 0, memory, start, length);
        if (verdict != MemoryVerdict.OK) {
            String cause = "the receive's "
                    + core.memory.explain(receive.scatter(), core.parameters.receiveDomain(), true, verdict);
            receive.fail(WcStatus.LOC_PROT_ERR, cause);
            fail(cause);
            core.counters.count(PacketFate.DROPPED_MESSAGE);
            return;
        }
        core.counters.count(PacketFate.ACCEPTED);
        receive.complete(WcOpcode.RECV, length, 0, 0, false);
    }

    private void drop(PacketFate fate) {
        core.counters.add(Counter.RECEIVED_PACKETS, 1);
        core.counters.count(fate);
    }

    private boolean isReceiving() {
        return switch (core.parameters.state) {
            case RTR, RTS, SQD, SQE -> true;
            case RESET, INIT, ERR -> false;
        };
    }
}
