package verbena.conformance;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import verbena.conformance.cases.Atomics;
import verbena.conformance.cases.Capabilities;
import verbena.conformance.cases.Channels;
import verbena.conformance.cases.CompletionQueues;
import verbena.conformance.cases.Concurrency;
import verbena.conformance.cases.Connecting;
import verbena.conformance.cases.Connections;
import verbena.conformance.cases.Datagrams;
import verbena.conformance.cases.DeviceMemories;
import verbena.conformance.cases.Devices;
import verbena.conformance.cases.Domains;
import verbena.conformance.cases.Draining;
import verbena.conformance.cases.Errors;
import verbena.conformance.cases.ExtendedConnections;
import verbena.conformance.cases.Extensions;
import verbena.conformance.cases.Lifecycle;
import verbena.conformance.cases.Limits;
import verbena.conformance.cases.Multicasts;
import verbena.conformance.cases.OnDemand;
import verbena.conformance.cases.Posting;
import verbena.conformance.cases.QueuePairs;
import verbena.conformance.cases.RawPackets;
import verbena.conformance.cases.Regions;
import verbena.conformance.cases.Reliable;
import verbena.conformance.cases.Retries;
import verbena.conformance.cases.SharedQueues;
import verbena.conformance.cases.StateChanges;
import verbena.conformance.cases.Unreliable;
import verbena.conformance.cases.Windows;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Mismatch;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.Device;

/// All cases, and a device to try them on. Both ends are in this process, on the same device or on two.
public final class Suite {
    private static final List<Class<?>> TOPICS = List.of(
            Devices.class,
            Capabilities.class,
            Domains.class,
            Regions.class,
            OnDemand.class,
            DeviceMemories.class,
            Windows.class,
            QueuePairs.class,
            StateChanges.class,
            Posting.class,
            Reliable.class,
            Atomics.class,
            Errors.class,
            Retries.class,
            CompletionQueues.class,
            Channels.class,
            SharedQueues.class,
            ExtendedConnections.class,
            Unreliable.class,
            Datagrams.class,
            Multicasts.class,
            RawPackets.class,
            Extensions.class,
            Draining.class,
            Connecting.class,
            Connections.class,
            Lifecycle.class,
            Concurrency.class,
            Limits.class);

    private static final List<Case> CASES = TOPICS.stream().flatMap(Case::of).toList();
    /// No case waits for long; one that takes this long hangs.
    private static final long CASE_MILLIS = 60_000;

    private final Device device;
    private final Device peer;
    private final String kind;
    private final boolean twice;
    private final Set<Capability> capabilities;

    /// @param kind what [Deviation] calls devices of this kind, for example `rxe`
    public Suite(Device device, String kind) {
        this(device, device, kind);
    }

    /// @param peer the device of the second end
    public Suite(Device device, Device peer, String kind) {
        this.device = device;
        this.peer = peer;
        this.kind = kind;
        twice = Fixture.opensTwice(device, peer);
        try (Context context = device.open()) {
            capabilities = context.attributes().capabilities();
        }
    }

    /// Returns all cases, by topic.
    public static List<Case> cases() {
        return CASES;
    }

    /// Returns the cases whose name matches: `*` stands for anything, and a part of a name is enough.
    public static List<Case> cases(String pattern) {
        Predicate<String> matches = Pattern.compile(
                        Stream.of(pattern.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*")),
                        Pattern.CASE_INSENSITIVE)
                .asPredicate();
        return CASES.stream().filter(each -> matches.test(each.name())).toList();
    }

    /// Returns the kind that a device's name gives: `rxe` of `rxe0`, `mlx5` of `mlx5_0`, `rocev2` of `rocev2_eth0`.
    public static String kindOf(String device) {
        return Deviation.OWN.stream()
                .filter(own -> device.matches(own + "([^a-z].*)?")) // ibp3s0 is of the kernel
                .findFirst()
                .orElseGet(() -> device.replaceFirst("@.*|_?[0-9]+$", ""));
    }

    /// Tries cases one after the other; `heard` is told of each when it is done.
    ///
    /// @throws InterruptedException when this thread was interrupted; the case at work is ended
    public Judgement run(List<Case> cases, Consumer<Result> heard) throws InterruptedException {
        var results = new ArrayList<Result>();
        for (Case each : cases) {
            Result result = run(each);
            results.add(result);
            heard.accept(result);
        }
        return new Judgement(device.name(), kind, results);
    }

    /// Tries one case.
    public Result run(Case each) throws InterruptedException {
        long started = System.nanoTime();
        var missing = each.needs().stream()
                .filter(need -> !capabilities.contains(need))
                .collect(Collectors.toUnmodifiableSet());
        Outcome outcome = missing.isEmpty() ? outcome(each) : new Outcome.NotSupported(missing);
        return new Result(each, outcome, System.nanoTime() - started);
    }

    private Outcome outcome(Case each) throws InterruptedException {
        var declared = Deviation.of(kind, each);
        var fixture = new Fixture(device, peer, twice, declared.isPresent() ? Fixture.SHORT_TIMEOUT : Fixture.TIMEOUT);
        Throwable failure = attempt(each, fixture);
        if (failure == null) {
            return new Outcome.Kept(declared.isPresent());
        }
        String what = failure instanceof Mismatch ? String.valueOf(failure.getMessage()) : describe(failure);
        return declared.isPresent()
                ? new Outcome.Deviates(declared.get().reason(), what)
                : new Outcome.Broken(what, fixture.log().lines());
    }

    private static String describe(Throwable failure) {
        var text = new StringBuilder(failure.toString());
        int shown = 0;
        for (StackTraceElement frame : failure.getStackTrace()) {
            if (shown++ == 8) {
                break;
            }
            text.append("\n    at ").append(frame);
        }
        return text.toString();
    }

    /// Runs a case on a thread of its own, so that a verb that hangs does not stop the suite.
    private static @Nullable Throwable attempt(Case each, Fixture fixture) throws InterruptedException {
        var failure = new AtomicReference<@Nullable Throwable>();
        Thread thread = Thread.ofPlatform().name("case " + each.name()).daemon().start(() -> {
            try (fixture) {
                each.body().tryIt(fixture);
            } catch (Throwable e) {
                failure.set(e);
            }
        });
        try {
            thread.join(CASE_MILLIS);
        } catch (InterruptedException e) {
            thread.interrupt();
            thread.join(CASE_MILLIS);
            throw e;
        }
        if (thread.isAlive()) {
            var hangs = new IllegalStateException("it has not ended within " + CASE_MILLIS / 1_000 + " s");
            hangs.setStackTrace(thread.getStackTrace());
            thread.interrupt();
            return hangs;
        }
        return failure.get();
    }
}
