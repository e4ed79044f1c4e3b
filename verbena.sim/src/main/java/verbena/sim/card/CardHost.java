package verbena.sim.card;

import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/// A host with its card and port.
final class CardHost {
    final Pcie pcie;
    final Servers units;
    final HeldTable contexts;
    final HeldTable regions;
    final HeldTable pages;
    final Servers out = new Servers(1);
    final Servers in = new Servers(1);
    final Servers[] locks;
    final Set<Long> present = new HashSet<>();
    /// READs and atomics under way, by queue pair, and the first and the last that wait for one to end.
    final int[] reads;

    final int[] waiting;
    final int[] lastWaiting;
    long faults;
    private long coreBusy;

    CardHost(Card card, int queuePairs) {
        pcie = new Pcie(card);
        units = new Servers(card.count(Quantity.UNITS));
        contexts = new HeldTable(card.count(Quantity.QP_CACHE));
        regions = new HeldTable(card.count(Quantity.MPT_CACHE));
        pages = new HeldTable(card.count(Quantity.MTT_CACHE));
        locks = new Servers[card.count(Quantity.LOCKS)];
        for (int i = 0; i < locks.length; i++) {
            locks[i] = new Servers(1);
        }
        reads = new int[queuePairs];
        waiting = new int[queuePairs];
        lastWaiting = new int[queuePairs];
        Arrays.fill(waiting, -1);
    }

    /// Notes that a core was busy.
    void work(long picos) {
        coreBusy += picos;
    }

    /// Returns how long each part has been busy, in picoseconds of one server.
    Map<String, Long> busy(int threads) {
        Map<String, Long> busy = new LinkedHashMap<>();
        busy.put("cores", coreBusy / Math.max(1, threads));
        busy.put("PCIe to the host", pcie.up.busy());
        busy.put("PCIe to the card", pcie.down.busy());
        busy.put("PCIe packets", pcie.engine.busy());
        busy.put("processing units", units.busy());
        busy.put("port, out", out.busy());
        busy.put("port, in", in.busy());
        long atomics = 0;
        for (Servers lock : locks) {
            atomics = Math.max(atomics, lock.busy());
        }
        busy.put("atomics on one word", atomics);
        return busy;
    }
}
