package verbena.sim.traffic;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import verbena.sim.Network;
import verbena.sim.NetworkFaults;
import verbena.sim.World;

/// The result of a world in which nothing was wrong.
///
/// @param profile as this seed has drawn it
/// @param devices how many there were
/// @param traffics how many connections
/// @param virtualNanos how long it lasted in virtual time
/// @param drainNanos how long it took to finish what was outstanding, from the moment when the faults ended
/// @param completed requests that succeeded
/// @param failed requests that failed, as they may
/// @param broke connections that broke
/// @param packets packets sent
/// @param happened how often each feature of reliable connections has happened
/// @param digest SHA-256 of all packets and completions
public record Account(
        long seed,
        Profile profile,
        int devices,
        int traffics,
        long virtualNanos,
        long drainNanos,
        long completed,
        long failed,
        long broke,
        long packets,
        long lost,
        long duplicated,
        long corrupted,
        long marked,
        long overtaken,
        Map<Feature, Long> happened,
        String digest) {
    static Account of(
            World world, Profile profile, List<Traffic> traffics, long drainNanos, Map<Feature, Long> happened) {
        Network network = world.network();
        return new Account(
                world.seed(),
                profile,
                world.devices().size(),
                traffics.size(),
                world.nowNanos(),
                drainNanos,
                traffics.stream().mapToLong(Traffic::completed).sum(),
                traffics.stream().mapToLong(Traffic::failed).sum(),
                traffics.stream().mapToLong(Traffic::broke).sum(),
                network.sent(),
                network.lost(),
                network.duplicated(),
                network.corrupted(),
                network.marked(),
                network.overtaken(),
                happened,
                world.trace().digest());
    }

    /// Returns one line for people.
    public String line() {
        return String.format(
                Locale.ROOT,
                "seed %d  %,9d packets  %,8d succeeded  %,7d failed  %8.3f s  drained in %7.3f ms  sha-256 %.16s...",
                seed,
                packets,
                completed,
                failed,
                virtualNanos / 1e9,
                drainNanos / 1e6,
                digest);
    }

    /// Returns some lines for people.
    public List<String> lines() {
        return List.of(
                String.format(Locale.ROOT, "seed %d, profile %s: %s", seed, profile.name(), weather()),
                String.format(
                        Locale.ROOT,
                        "  %d devices, %d connections, %.3f s of virtual time; drained within %.3f ms",
                        devices,
                        traffics,
                        virtualNanos / 1e9,
                        drainNanos / 1e6),
                String.format(
                        Locale.ROOT,
                        "  %,d requests succeeded, %,d failed as they may, %,d connections broke",
                        completed,
                        failed,
                        broke),
                String.format(
                        Locale.ROOT,
                        "  %,d packets: %,d lost, %,d twice, %,d damaged, %,d marked, %,d overtaken",
                        packets,
                        lost,
                        duplicated,
                        corrupted,
                        marked,
                        overtaken),
                "  " + features(),
                "  sha-256 " + digest);
    }

    /// Returns the names of features that have happened.
    private String features() {
        return Arrays.stream(Feature.values())
                .filter(feature -> happened.getOrDefault(feature, 0L) > 0)
                .map(feature -> "%s %,d".formatted(feature.label(), happened.get(feature)))
                .collect(Collectors.joining(", "));
    }

    /// Returns faults and hazards in words.
    private String weather() {
        var words = new ArrayList<String>();
        NetworkFaults faults = profile.faults();
        share(words, faults.loss(), "lost");
        share(words, faults.duplicate(), "twice");
        share(words, faults.corrupt(), "damaged");
        share(words, faults.mark(), "marked");
        share(words, faults.reorder(), "overtaken by up to " + faults.reorderPackets());
        if (faults.jitterNanos() > 0) {
            words.add(String.format(Locale.ROOT, "%,d us of jitter", faults.jitterNanos() / 1_000));
        }
        outages(words, faults.blackHoles(), "black holes");
        outages(words, faults.pauses(), "pauses");
        outages(words, faults.mutes(), "silences");
        Hazards hazards = profile.hazards();
        if (hazards.slowReceiverNanos() > 0) {
            words.add(String.format(Locale.ROOT, "receives up to %.0f ms late", hazards.slowReceiverNanos() / 1e6));
        }
        share(words, hazards.kill(), "of requests followed by the end of a queue pair");
        share(words, hazards.withdraw(), "by withdrawn memory");
        return words.isEmpty() ? "no faults" : String.join(", ", words);
    }

    private static void share(List<String> words, double share, String of) {
        if (share > 0) {
            words.add(String.format(
                    Locale.ROOT, "%s %% %s", String.valueOf(share * 100).replaceAll("\\.0$", ""), of));
        }
    }

    private static void outages(List<String> words, NetworkFaults.Outages outages, String what) {
        if (outages.perSecond() > 0) {
            words.add(String.format(Locale.ROOT, "%s up to %.0f ms", what, outages.nanosMax() / 1e6));
        }
    }
}
