package verbena.nic.hostile;

import java.lang.foreign.Arena;
import java.util.List;
import verbena.nic.link.Link;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.wire.Frame;

/// A wire with only an attacker at the other end. Whenever the device looks for packets, the attacker makes some
/// in the device's own frames; the device's packets go to the attacker.
final class AttackLink implements Link {
    static final Gid ATTACKER = Gid.parse("10.0.0.66");
    static final Gid VICTIM = Gid.parse("10.0.0.1");

    private final Attacker attacker;
    private final Frame[] made = Frame.allocate(Arena.ofAuto().allocate(64L * Frame.SLOT_BYTES, 64));
    private int madeCount;
    private int madeTaken;
    /// How many packets the next look finds.
    int due;

    AttackLink(Attacker attacker) {
        this.attacker = attacker;
    }

    @Override
    public List<GidEntry> gids() {
        return List.of(new GidEntry(0, VICTIM, GidType.ROCE_V2, "attack0", 1));
    }

    @Override
    public int packetMax() {
        return Frame.PACKET_MAX;
    }

    /// Makes this many packets, at most 64, which are then found one by one.
    void makeAhead(int count) {
        for (int i = 0; i < count; i++) {
            attacker.next(made[i]);
        }
        madeCount = count;
        madeTaken = 0;
    }

    /// The packet that was found last.
    Frame last() {
        return made[Math.max(0, madeTaken - 1)];
    }

    @Override
    public int receive(Frame[] frames, int from, int count) {
        if (madeTaken < madeCount) {
            frames[from].copyFrom(made[madeTaken++]);
            return 1;
        }
        int n = Math.min(due, count);
        for (int i = from; i < from + n; i++) {
            attacker.next(frames[i]);
        }
        due = 0;
        return n;
    }

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        for (int i = from; i < from + count; i++) {
            attacker.learn(frames[i]);
        }
        return count;
    }

    @Override
    public void join(Gid group) {}

    @Override
    public void leave(Gid group) {}

    @Override
    public void await(long timeoutNanos) {}

    @Override
    public void wakeup() {}

    @Override
    public long malformed() {
        return 0;
    }

    @Override
    public long unsendable() {
        return 0;
    }

    @Override
    public void close() {}
}
