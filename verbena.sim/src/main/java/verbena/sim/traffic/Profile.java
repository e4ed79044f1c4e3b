package verbena.sim.traffic;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import verbena.sim.NetworkFaults;
import verbena.sim.NetworkFaults.Outages;

/// The faults of a world, under a name.
///
/// @param name what `./verbena sim --profile` takes
/// @param explanation one line
/// @param features what reliable connections use besides requests of all kinds
public record Profile(String name, String explanation, NetworkFaults faults, Hazards hazards, Set<Feature> features) {
    private static final long MILLISECOND = 1_000_000;
    /// Those that programs decide on; the others come from the network, or are in every world.
    private static final List<Feature> DRAWN = List.of(
            Feature.KEEP_ALIVE,
            Feature.SHARED_WINDOW,
            Feature.READ_PIECES,
            Feature.SQD,
            Feature.RESIZE,
            Feature.ENGINES,
            Feature.SRQ,
            Feature.XRC);

    /// Everything drawn from the seed: each world has some of the faults, in some strength.
    public static final Profile ANY = new Profile("any", "each seed draws its own", NetworkFaults.NONE, Hazards.NONE);

    /// Mild faults; the seed draws half of the features.
    public static final Profile CROWD = new Profile(
            "crowd",
            "up to 3 % lost, peers that stop acknowledging; each seed draws half of the features",
            NetworkFaults.NONE,
            Hazards.NONE);

    private static final List<Profile> NAMED = List.of(
            ANY,
            new Profile("calm", "a perfect network and friendly programs", NetworkFaults.NONE, Hazards.NONE),
            new Profile(
                    "lossy", "5 % lost, 1 % twice, 0.1 % damaged", NetworkFaults.of(0.05, 0.01, 0.001), Hazards.NONE),
            new Profile(
                    "shuffled",
                    "10 % twice, 10 % overtaken by up to 64 packets, 50 us of jitter",
                    NetworkFaults.of(0, 0.1, 0).withReorder(0.1, 64).withJitter(50_000),
                    Hazards.NONE),
            new Profile(
                    "storm",
                    "30 % lost, 50 % twice, 1 % damaged, 10 % overtaken by up to 64 packets",
                    NetworkFaults.of(0.3, 0.5, 0.01).withReorder(0.1, 64),
                    Hazards.NONE),
            new Profile(
                    "outages",
                    "1 % lost; twice a second a black hole of up to 1 s or a pause of up to 200 ms",
                    NetworkFaults.of(0.01, 0, 0)
                            .withBlackHoles(new Outages(1, 1_000 * MILLISECOND))
                            .withPauses(new Outages(1, 200 * MILLISECOND)),
                    Hazards.NONE),
            new Profile(
                    "late",
                    "1 % lost; receives are posted up to 5 ms late",
                    NetworkFaults.of(0.01, 0, 0),
                    new Hazards(5 * MILLISECOND, 0, 0)),
            new Profile(
                    "treacherous",
                    "2 % lost; queue pairs are killed and created again, memory is withdrawn during requests",
                    NetworkFaults.of(0.02, 0.02, 0.001).withReorder(0.02, 16),
                    new Hazards(MILLISECOND, 0.002, 0.002)),
            CROWD,
            new Profile(
                    "marked",
                    "1 % lost, 20 % marked; devices obey notifications (DCQCN) or delay (Swift)",
                    NetworkFaults.of(0.01, 0, 0).withMarks(0.2),
                    Hazards.NONE,
                    Set.of(Feature.MARKS)));

    public Profile {
        features = Set.copyOf(features);
    }

    /// Returns a profile without features of its own.
    public Profile(String name, String explanation, NetworkFaults faults, Hazards hazards) {
        this(name, explanation, faults, hazards, Set.of());
    }

    /// Returns all profiles that have a name.
    public static List<Profile> all() {
        return NAMED;
    }

    /// Returns the profile of this name.
    ///
    /// @throws IllegalArgumentException when there is none
    public static Profile named(String name) {
        return NAMED.stream()
                .filter(profile -> profile.name.equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "profile: one of " + NAMED.stream().map(Profile::name).toList() + ", got '" + name + "'"));
    }

    /// Returns this profile as it is in a world with this chance: itself, but for [#ANY] and [#CROWD].
    ///
    /// @param later chance for features that came later; what a seed drew before, it draws still
    Profile in(SplittableRandom random, SplittableRandom later) {
        return this == ANY
                ? any(random).with(later, 6)
                : this == CROWD ? crowd(random).with(later, 2) : this;
    }

    private Profile with(SplittableRandom later, int oneIn) {
        var more = EnumSet.noneOf(Feature.class);
        more.addAll(features);
        NetworkFaults with = faults;
        if (later.nextInt(oneIn) == 0) {
            more.add(Feature.MARKS);
            with = faults.withMarks(choose(later, 0.01, 0.1, 0.5, 1));
        }
        if (later.nextInt(oneIn) == 0) {
            more.add(Feature.SELECTIVE_REPEAT);
        }
        return new Profile(name, explanation, with, hazards, more);
    }

    private Profile crowd(SplittableRandom random) {
        NetworkFaults faults = NetworkFaults.of(choose(random, 0, 0.005, 0.03), choose(random, 0, 0.01), 0);
        if (random.nextBoolean()) {
            // A short one is asked about by probes, a long one breaks connections.
            double perSecond = choose(random, 5, 50);
            faults = faults.withMutes(new Outages(perSecond, (long) (choose(random, 5, 50, 5_000) * MILLISECOND)));
        }
        if (random.nextInt(4) == 0) {
            faults = faults.withPauses(new Outages(10, 20 * MILLISECOND));
        }
        var hazards =
                new Hazards((long) choose(random, 0, MILLISECOND, 5 * MILLISECOND), choose(random, 0, 0, 0, 0.002), 0);
        return new Profile(name, explanation, faults, hazards, features(random, 2));
    }

    /// Returns features, each with a chance of one in so many.
    private static Set<Feature> features(SplittableRandom random, int oneIn) {
        var drawn = EnumSet.noneOf(Feature.class);
        for (Feature feature : DRAWN) {
            if (random.nextInt(oneIn) == 0) {
                drawn.add(feature);
            }
        }
        return drawn;
    }

    private Profile any(SplittableRandom random) {
        double loss = choose(random, 0, 0.01, 0.05, 0.1, 0.2, 0.3);
        NetworkFaults faults = NetworkFaults.of(loss, choose(random, 0, 0.01, 0.1, 0.5), choose(random, 0, 0.001, 0.01))
                .withJitter((long) choose(random, 0, 1_000, 100_000));
        double reorder = choose(random, 0, 0.01, 0.1, 0.5);
        if (reorder > 0) {
            faults = faults.withReorder(reorder, 1 << random.nextInt(9));
        }
        if (random.nextInt(4) == 0) {
            faults = faults.withBlackHoles(new Outages(1, (1 + random.nextLong(1_000)) * MILLISECOND));
        }
        if (random.nextInt(4) == 0) {
            faults = faults.withPauses(new Outages(5, (1 + random.nextLong(200)) * MILLISECOND));
        }
        var hazards = new Hazards(
                (long) choose(random, 0, 0, MILLISECOND, 20 * MILLISECOND),
                choose(random, 0, 0, 0.001, 0.01),
                choose(random, 0, 0, 0.001, 0.01));
        if (random.nextInt(4) == 0) {
            faults = faults.withMutes(new Outages(1, (1 + random.nextLong(500)) * MILLISECOND));
        }
        return new Profile(name, explanation, faults, hazards, features(random, 6));
    }

    private static double choose(SplittableRandom random, double... values) {
        return values[random.nextInt(values.length)];
    }
}
