package verbena.nic.link.ethernet;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import verbena.nic.link.ForwardingLink;
import verbena.nic.link.Link;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.roce.RoceV2;

/// The link of one engine of a device whose engines have a queue of the interface each
/// ([decision 04](../../../../../../../../docs/decisions/04-raw-ethernet.md)). The card or the kernel
/// chooses the queue of an arrival, and its queue pair says which engine it is for. So a packet that is for another
/// engine is handed over to that one's link, as a copy.
///
/// Threads as in [Link]. Other links of the device hand packets over at any time.
public final class QueueLink extends ForwardingLink {
    /// The largest number of packets that wait for a link to take them.
    private static final int HANDED_MAX = 256;
    /// The number of bits of a queue pair number below the slot.
    private static final int SLOT_SHIFT = 16;

    private final int slot;
    /// The links of the device, by slot.
    private final List<QueueLink> all;
    /// The groups that this link is in. Written by its own thread, read by those of the others.
    private volatile Gid[] groups = {};

    private final Arena arena = Arena.ofShared();
    private final AtomicLong handedOver = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();

    // Under the lock of `handed`.
    private final Frame[] handed = Frame.allocate(arena.allocate((long) HANDED_MAX * Frame.SLOT_BYTES, 64));
    private int first;
    private boolean isOpen = true;
    /// The number of packets that wait, written under that lock.
    private volatile int waiting;

    private QueueLink(Link link, int slot, List<QueueLink> all) {
        super(link);
        this.slot = slot;
        this.all = all;
    }

    /// Returns the links of one device, joined to each other.
    static List<QueueLink> join(List<? extends Link> links) {
        var all = new ArrayList<QueueLink>(); // complete before a thread uses one of them
        for (Link link : links) {
            all.add(new QueueLink(link, all.size(), all));
        }
        return all;
    }

    @Override
    public int slot() {
        return slot;
    }

    // ---- arrivals

    @Override
    public int receive(Frame[] frames, int from, int count) {
        int kept = from + takeHanded(frames, from, count);
        int end = kept + link.receive(frames, kept, count - (kept - from));
        for (int i = kept; i < end; i++) {
            Frame frame = frames[i];
            if (isForThis(frame)) {
                frames[i] = frames[kept];
                frames[kept++] = frame;
            }
        }
        return kept - from;
    }

    /// Returns whether a packet is for this link's engine; passes packets for other engines to them.
    private boolean isForThis(Frame frame) {
        if (!frame.icrcValid) {
            return true; // counted here
        }
        if (RoceV2.isMulticast(frame.destinationHigh, frame.destinationLow)) {
            return handToMembers(frame);
        }
        int to = Bth.destinationQp(frame.slot, frame.start) >>> SLOT_SHIFT;
        if (to == slot || to >= all.size()) {
            return true; // the engine knows what to do with a number that nobody has
        }
        handedOver.incrementAndGet();
        all.get(to).hand(frame);
        return false;
    }

    private boolean handToMembers(Frame frame) {
        boolean isMember = false;
        for (int i = 0; i < all.size(); i++) { // without an iterator: for each packet
            QueueLink link = all.get(i);
            if (link.isIn(frame.destinationHigh, frame.destinationLow)) {
                if (link == this) {
                    isMember = true;
                } else {
                    handedOver.incrementAndGet();
                    link.hand(frame);
                }
            }
        }
        return isMember;
    }

    private boolean isIn(long high, long low) {
        for (Gid group : groups) {
            if (group.low() == low && group.high() == high) {
                return true;
            }
        }
        return false;
    }

    /// Takes a copy of a packet from the thread of another link.
    private void hand(Frame frame) {
        synchronized (handed) {
            if (!isOpen || waiting == HANDED_MAX) {
                dropped.incrementAndGet();
                return;
            }
            Frame copy = handed[(first + waiting) % HANDED_MAX];
            copy.copyFrom(frame);
            waiting = waiting + 1;
            link.wakeup();
        }
    }

    private int takeHanded(Frame[] frames, int from, int count) {
        if (waiting == 0) {
            return 0;
        }
        synchronized (handed) {
            int taken = Math.min(waiting, count);
            for (int i = 0; i < taken; i++) {
                frames[from + i].copyFrom(handed[first]);
                first = (first + 1) % HANDED_MAX;
            }
            waiting = waiting - taken;
            return taken;
        }
    }

    @Override
    public boolean hasArrivals() {
        return waiting > 0 || link.hasArrivals();
    }

    @Override
    public boolean mayHaveMore() {
        return waiting > 0 || link.mayHaveMore();
    }

    // ---- groups

    /// Joins the group on all links of the device, because its packets may come by any queue.
    @Override
    public void join(Gid group) {
        if (!isIn(group.high(), group.low())) {
            link.join(group);
            var more = new ArrayList<>(List.of(groups));
            more.add(group);
            groups = more.toArray(Gid[]::new);
        }
    }

    @Override
    public void leave(Gid group) {
        if (isIn(group.high(), group.low())) {
            var fewer = new ArrayList<>(List.of(groups));
            fewer.remove(group);
            groups = fewer.toArray(Gid[]::new);
            link.leave(group);
        }
    }

    // ---- the rest

    /// Returns the counters, with packets of this queue for other engines, and packets from other queues without
    /// room here.
    @Override
    public Map<String, Long> counters() {
        var counters = new TreeMap<>(link.counters());
        counters.put("ethernet.handed.over", handedOver.get());
        counters.put("ethernet.dropped.handed.over", dropped.get());
        return counters;
    }

    @Override
    public void close() {
        synchronized (handed) {
            if (isOpen) {
                isOpen = false;
                waiting = 0;
                arena.close();
            }
        }
        link.close();
    }
}
