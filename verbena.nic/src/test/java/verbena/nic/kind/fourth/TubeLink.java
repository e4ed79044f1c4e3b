package verbena.nic.kind.fourth;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Predicate;
import verbena.nic.link.Link;
import verbena.nic.link.QuickTraffic;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.wire.Frame;

/// One end of a wire in memory with a tube beside it, which carries telegrams.
final class TubeLink implements Link, QuickTraffic {
    private final GidEntry gid;
    private final ArrayDeque<Frame> frames = new ArrayDeque<>();
    private final ArrayDeque<Telegram> telegrams = new ArrayDeque<>();
    private TubeLink peer = this;
    /// Takes what comes through the tube; false when there is no queue pair for it.
    Predicate<Telegram> listener = _ -> false;
    int packetsSent;
    int telegramsSent;

    TubeLink(String address) {
        gid = new GidEntry(0, Gid.parse(address), GidType.ROCE_V2, "tube", 1);
    }

    static void join(TubeLink a, TubeLink b) {
        a.peer = b;
        b.peer = a;
    }

    void send(Telegram telegram) {
        telegramsSent += telegram.isAnswer() ? 0 : 1;
        peer.telegrams.add(telegram);
    }

    @Override
    public boolean seemsQuiet() {
        return frames.isEmpty() && telegrams.isEmpty();
    }

    @Override
    public int moveAtOnce(long about) {
        int moved = 0;
        for (Telegram next = telegrams.poll(); next != null; next = telegrams.poll()) {
            if (!listener.test(next) && !next.isAnswer()) {
                send(next.answer(false));
            }
            moved++;
        }
        return moved;
    }

    @Override
    public int move(long nowNanos) {
        return moveAtOnce(nowNanos);
    }

    @Override
    public int receive(Frame[] into, int from, int count) {
        int n = 0;
        while (n < count && !frames.isEmpty()) {
            into[from + n++].copyFrom(frames.remove());
        }
        return n;
    }

    @Override
    public int transmit(Frame[] from, int first, int count) {
        for (int i = first; i < first + count; i++) {
            from[i].icrcValid = true;
            Frame copy = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 64))[0];
            copy.copyFrom(from[i]);
            peer.frames.add(copy);
        }
        packetsSent += count;
        return count;
    }

    @Override
    public List<GidEntry> gids() {
        return List.of(gid);
    }

    @Override
    public int packetMax() {
        return Frame.PACKET_MAX;
    }

    @Override
    public void join(Gid group) {}

    @Override
    public void leave(Gid group) {}

    @Override
    public long malformed() {
        return 0;
    }

    @Override
    public long unsendable() {
        return 0;
    }

    @Override
    public void await(long timeoutNanos) {}

    @Override
    public void wakeup() {}

    @Override
    public void close() {}
}
