package verbena.subnet;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.wire.mad.Mad;
import verbena.wire.mad.Smp;

/// What sits at a node and asks others, for tests: it keeps whatever it is told.
public final class Requests implements TinyFabric.Inhabitant {
    public final List<Datagram> heard = new ArrayList<>();
    private final TinyFabric fabric;
    private final List<Datagram> waiting = new ArrayList<>();
    private long transactionId;

    public Requests(TinyFabric fabric, String at) {
        this.fabric = fabric;
        fabric.inhabitants.put(at, this);
    }

    /// Sends a subnet management packet by directed route, and returns the answer; null when there is none.
    public @Nullable MemorySegment directed(
            int method, int attribute, int modifier, long mkey, Consumer<MemorySegment> data, int... path) {
        MemorySegment mad = Mad.allocate();
        byte[] ports = new byte[path.length];
        for (int i = 0; i < path.length; i++) {
            ports[i] = (byte) path[i];
        }
        Smp.writeDirected(mad, method, ++transactionId, attribute, modifier, mkey, ports);
        data.accept(Smp.data(mad));
        return ask(new Datagram(MadRoute.subnet(1, Smp.PERMISSIVE_LID, Smp.PERMISSIVE_LID, 0), mad));
    }

    public MemorySegment get(int attribute, int modifier, int... path) {
        return Objects.requireNonNull(directed(Mad.METHOD_GET, attribute, modifier, 0, _ -> {}, path));
    }

    /// Sends a datagram, and returns the answer; null when there is none.
    public @Nullable MemorySegment ask(Datagram datagram) {
        long id = Mad.transactionId(datagram.mad());
        heard.clear();
        waiting.add(datagram);
        fabric.run(1_000_000);
        for (Datagram one : heard) {
            if (Mad.transactionId(one.mad()) == id) {
                return one.mad();
            }
        }
        return null;
    }

    @Override
    public void onMad(Datagram datagram, long nowNanos) {
        heard.add(datagram);
    }

    @Override
    public @Nullable Datagram poll() {
        return waiting.isEmpty() ? null : waiting.removeFirst();
    }

    @Override
    public long deadlineNanos() {
        return Long.MAX_VALUE;
    }

    @Override
    public void onDeadline(long nowNanos) {}
}
