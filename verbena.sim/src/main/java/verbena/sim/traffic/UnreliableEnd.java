package verbena.sim.traffic;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import verbena.sim.NetworkFaults;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.sim.traffic.Request.Kind;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Gid;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.WcOpcode;
import verbena.verbs.WorkCompletion;
import verbena.wire.ib.Bth;

/// One end of an [UnreliableTraffic]: sends a number of messages in each epoch, and compares with the model what
/// arrives.
///
/// The model: what is received is one of the messages of this epoch, whole and for this end; once unless the
/// network doubles packets, in order unless it reorders them. What a WRITE has written is a first part of its data,
/// of whole packets, all of it when its immediate data was received. Every other byte keeps its canary.
final class UnreliableEnd {
    /// Messages of one epoch; each has a slot of its own on the receiver's board.
    static final int MESSAGES = 16;

    private static final int RECEIVES = 24;
    private static final int GRH_BYTES = 40;
    private static final int CANARY_BYTES = 32;
    private final World world;
    private final SplittableRandom random;
    private final Tape tape;
    private final QpType type;
    private final int mtu;
    private final int lengthMax;
    private final int slotBytes;
    /// The bit that stands for this end in [Message#receivedBy].
    private final int bit;
    private final boolean mayDouble;
    private final boolean mayReorder;

    final SimDevice device;
    final QueuePair qp;
    /// The own address.
    final Gid gid;
    private final ProtectionDomain domain;
    private final CompletionQueue sendCq;
    private final CompletionQueue receiveCq;
    private final WorkCompletion wc = new WorkCompletion();
    private final MemoryRegion source;
    private final MemoryRegion inbox;
    private final MemorySegment board;
    private final MemoryRegion boardRegion;
    private final Map<UnreliableEnd, AddressHandle> ways = new HashMap<>();
    private @Nullable AddressHandle wayToGroup;
    private boolean attached;
    private int qkey;

    // As a sender.
    private final Message[] messages = new Message[MESSAGES];
    private int posted;
    private int sent;
    private long completed;

    // As a receiver.
    private long receivesPosted;
    private long receivesEnded;
    private long receivesFrom;
    /// The first message of each end that may come next, where the network keeps the order.
    private final Map<UnreliableEnd, Integer> next = new HashMap<>();
    private long received;

    UnreliableEnd(World world, SimDevice device, Tape tape, QpType type, int mtu, boolean ipv6, int number) {
        this.world = world;
        this.random = world.random();
        this.device = device;
        this.tape = tape;
        this.type = type;
        this.mtu = mtu;
        NetworkFaults faults = world.network().faults();
        mayDouble = faults.duplicate() > 0;
        mayReorder = mayDouble || faults.reorder() > 0 || faults.jitterNanos() > 0;
        bit = 1 << number;
        lengthMax = type == QpType.UD ? mtu : 3 * mtu + 16;
        slotBytes = (GRH_BYTES + lengthMax + CANARY_BYTES + 7) & ~7;
        var context = device.context();
        gid = context.gid(1, ipv6 ? 1 : 0).gid();
        domain = context.allocateProtectionDomain();
        sendCq = context.createCompletionQueue(MESSAGES);
        receiveCq = context.createCompletionQueue(RECEIVES);
        source = domain.register(tape.bytes, device.nextAddress(), EnumSet.noneOf(Access.class));
        inbox = device.register(domain, (long) RECEIVES * slotBytes, Access.local());
        board = Arena.ofAuto().allocate((long) MESSAGES * slotBytes, 64).fill(Tape.CANARY);
        boardRegion = domain.register(board, device.nextAddress(), EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE));
        qp = domain.createQueuePair(QueuePairOptions.of(type, sendCq)
                .withReceiveCq(receiveCq)
                .withDepth(MESSAGES, RECEIVES)
                .withSge(2, 2));
        for (int i = 0; i < MESSAGES; i++) {
            messages[i] = new Message(i);
        }
    }

    /// Opens an end that is ready to send to all of `ends`, and to the group (UD).
    void open(List<UnreliableEnd> ends, Gid group, int commonQkey) {
        qkey = commonQkey;
        qp.modify(new Transition.ToInitUd(1, 0, qkey));
        qp.modify(new Transition.ToRtrUd());
        qp.modify(new Transition.ToRtsUnreliable(world.firstPsn()));
        int index = gid.isIpv4() ? 0 : 1;
        for (UnreliableEnd end : ends) {
            ways.put(end, domain.createAddressHandle(AddressVector.to(end.gid, index)));
        }
        wayToGroup = domain.createAddressHandle(AddressVector.to(group, index));
        attached = random.nextBoolean();
        if (attached) {
            qp.attachMulticast(group);
        }
    }

    // ---- sending

    boolean hasPosted() {
        return posted == MESSAGES;
    }

    /// Returns whether the epoch has not begun here.
    boolean isFresh() {
        return posted == 0;
    }

    /// Returns whether everything posted has left.
    boolean hasSent() {
        return sent == posted;
    }

    /// Posts some messages of the epoch.
    ///
    /// @return how many
    int post(List<UnreliableEnd> ends, int most) {
        int n = Math.min(MESSAGES - posted, 1 + random.nextInt(most));
        try (SendBatch batch = qp.sendBatch()) {
            for (int i = 0; i < n; i++) {
                begin(batch, messages[posted++], ends);
                batch.signaled();
            }
            batch.submit();
        }
        return n;
    }

    private void begin(SendBatch batch, Message message, List<UnreliableEnd> ends) {
        message.kind = type == QpType.UD
                ? (random.nextBoolean() ? Kind.SEND : Kind.SEND_IMMEDIATE)
                : UC_KINDS[random.nextInt(UC_KINDS.length)];
        message.length = length();
        message.place = random.nextInt(Tape.BYTES - message.length);
        message.immediate = random.nextInt();
        message.receivedBy = 0;
        int index = message.index;
        UnreliableEnd to = receiver(ends);
        message.to = to;
        switch (message.kind) {
            case SEND -> batch.send(index);
            case SEND_IMMEDIATE -> batch.sendWithImmediate(index, message.immediate);
            default -> write(batch, message, Objects.requireNonNull(to));
        }
        int first = random.nextInt(message.length + 1);
        batch.sge(source, message.place, first).sge(source, (long) message.place + first, message.length - first);
        if (type == QpType.UD) {
            AddressHandle way = to == null ? wayToGroup : ways.get(to);
            batch.to(Objects.requireNonNull(way), to == null ? Bth.MULTICAST_QP : to.qp.qpn(), qkey);
        }
    }

    private static final Kind[] UC_KINDS = {Kind.SEND, Kind.SEND_IMMEDIATE, Kind.WRITE, Kind.WRITE_IMMEDIATE};

    private void write(SendBatch batch, Message message, UnreliableEnd to) {
        long at = to.boardRegion.address() + slot(message.index);
        int rkey = to.boardRegion.rkey();
        if (message.kind == Kind.WRITE) {
            batch.write(message.index, at, rkey);
        } else {
            batch.writeWithImmediate(message.index, at, rkey, message.immediate);
        }
    }

    /// Returns the receiver: the other end for UC; any end, or null for the group, for UD.
    private @Nullable UnreliableEnd receiver(List<UnreliableEnd> ends) {
        if (type == QpType.UC) {
            return ends.get(ends.getFirst() == this ? 1 : 0);
        }
        int n = random.nextInt(ends.size() + 1);
        return n == ends.size() ? null : ends.get(n);
    }

    private int length() {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt(64);
            case 1 -> Math.min(lengthMax, (1 + random.nextInt(3)) * mtu - 4 + random.nextInt(8));
            default -> random.nextInt(lengthMax + 1);
        };
    }

    void pollSends() {
        while (device.poll(sendCq, wc)) {
            check(wc.wrId() == sent && sent < posted, wc, "comes instead of", messages[sent % MESSAGES]);
            check(wc.ok(), wc);
            sent++;
            completed++;
        }
    }

    // ---- receiving

    void postReceives(long slowNanos) {
        if (world.nowNanos() < receivesFrom || receivesPosted - receivesEnded == RECEIVES) {
            return;
        }
        int n = (int) (RECEIVES - (receivesPosted - receivesEnded));
        if (slowNanos > 0) {
            n = 1 + random.nextInt(n);
            long late = random.nextLong(slowNanos);
            receivesFrom = world.nowNanos() + late;
            world.stepAfter(late);
        }
        try (ReceiveBatch batch = qp.receiveBatch()) {
            for (int i = 0; i < n; i++) {
                long at = receiveSlot(receivesPosted);
                inbox.segment().asSlice(at, slotBytes).fill(Tape.CANARY);
                int first = random.nextInt(lengthMax);
                batch.receive(receivesPosted++)
                        .sge(inbox, at, first)
                        .sge(inbox, at + first, header() + lengthMax - first);
            }
            batch.submit();
        }
    }

    private int header() {
        return type == QpType.UD ? GRH_BYTES : 0;
    }

    void pollReceives(List<UnreliableEnd> ends) {
        while (device.poll(receiveCq, wc)) {
            long number = receivesEnded++;
            check(wc.wrId() == number, "completes receive", wc.wrId(), "and not", number);
            check(wc.ok(), wc);
            received++;
            onMessage(sender(ends), receiveSlot(number));
        }
    }

    private UnreliableEnd sender(List<UnreliableEnd> ends) {
        for (UnreliableEnd end : ends) {
            if (type == QpType.UC ? end != this : end.qp.qpn() == wc.sourceQpn()) {
                return end;
            }
        }
        throw new Broken(this + ": received from no known end: " + wc);
    }

    private void onMessage(UnreliableEnd sender, long at) {
        if (type == QpType.UD) {
            MemorySegment area = inbox.segment().asSlice(at, GRH_BYTES);
            AddressVector back = AddressVector.toSender(wc, area, device.context(), 1);
            check(back.destination().equals(sender.gid), "the GRH area names", back.destination());
        }
        int from = mayReorder ? 0 : next.getOrDefault(sender, 0);
        boolean seen = false;
        for (int i = from; i < sender.posted; i++) {
            Message message = sender.messages[i];
            if (fits(message, at)) {
                seen = true;
                if (mayDouble || (message.receivedBy & bit) == 0) {
                    message.receivedBy |= bit;
                    next.put(sender, i + 1);
                    return;
                }
            }
        }
        check(false, seen ? "received twice:" : "received what was not sent, or late:", wc);
    }

    private boolean fits(Message message, long at) {
        boolean isWrite = message.kind == Kind.WRITE_IMMEDIATE;
        int length = isWrite ? 0 : message.length;
        return message.kind != Kind.WRITE
                && (message.to == this || (message.to == null && attached))
                && wc.opcode() == (isWrite ? WcOpcode.RECV_RDMA_WITH_IMM : WcOpcode.RECV)
                && wc.byteLength() == header() + message.length
                && wc.hasImmediate() == message.kind.hasImmediate()
                && (!wc.hasImmediate() || wc.immediate() == message.immediate)
                && tape.common(inbox.segment(), at + header(), message.place, length) == length
                && hasCanary(at + header(), length)
                && (!isWrite || written(message) == message.length);
    }

    /// Returns whether the canary is untouched. A receive of UC whose message broke off is used again for the next,
    /// so that rests of the first may be behind it.
    private boolean hasCanary(long at, int length) {
        int used = type == QpType.UC ? lengthMax : length;
        return Tape.isCanary(inbox.segment(), at + used, slotBytes - header() - used);
    }

    // ---- epochs

    /// Returns the bytes of a WRITE that are on the board here: all, or those of whole packets.
    private int written(Message message) {
        int common = tape.common(board, slot(message.index), message.place, message.length);
        return common == message.length ? common : common / mtu * mtu;
    }

    /// Settles an epoch when nothing of it is under way: its writes are as they may be, and the next epoch can
    /// begin.
    void settle(List<UnreliableEnd> ends) {
        for (int i = 0; i < posted; i++) {
            Message message = messages[i];
            UnreliableEnd to = message.to;
            if (to != null && message.kind.isWrite()) {
                to.checkWritten(message);
            }
        }
        posted = sent = 0;
        for (UnreliableEnd end : ends) {
            end.next.put(this, 0);
        }
    }

    private void checkWritten(Message write) {
        int written = written(write);
        long at = slot(write.index);
        check(Tape.isCanary(board, at + written, slotBytes - written), "the board holds no beginning of", write);
        check(written == write.length || (write.receivedBy & bit) == 0, "received, but not written:", write);
    }

    /// Clears the board after all have settled.
    void clearBoard() {
        board.fill(Tape.CANARY);
    }

    long completed() {
        return completed;
    }

    /// Gives everything back; the domain refuses to end while anything is left.
    void close() {
        qp.close();
        ways.values().forEach(AddressHandle::close);
        AddressHandle group = wayToGroup;
        if (group != null) {
            group.close();
        }
        sendCq.close();
        receiveCq.close();
        source.close();
        inbox.close();
        boardRegion.close();
        domain.close();
    }

    // ---- leaves

    private long slot(int index) {
        return (long) index * slotBytes;
    }

    private long receiveSlot(long number) {
        return number % RECEIVES * slotBytes;
    }

    @Override
    public String toString() {
        return device.name() + ", " + type + " queue pair 0x" + Integer.toHexString(qp.qpn()) + ": " + posted
                + " posted, " + sent + " sent, " + received + " received";
    }

    private void check(boolean holds, Object... what) {
        Broken.unless(holds, this, what);
    }
}
