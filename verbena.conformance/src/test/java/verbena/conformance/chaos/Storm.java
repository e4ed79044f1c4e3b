package verbena.conformance.chaos;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.net.InetSocketAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import verbena.conformance.fixture.DeviceAddress;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.InUseException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Some threads do at once whatever a program can do with a device, and it has to stand that: every call returns in
/// bounded time and with what its contract says, the device still carries traffic afterwards, everything can be
/// closed, and nothing is left.
///
/// An actor's actions follow from the seed; how the actors meet does not. So a seed finds a fault again often, and
/// not always.
final class Storm {
    /// How much [granted][GrantedTime] time a call may take. None waits longer than a second by itself; the rest is
    /// for busy machines.
    private static final Duration CALL_MAX = Duration.ofSeconds(15);
    /// A call that waits for something that need not happen is interrupted after this.
    private static final Duration WAIT_MAX = Duration.ofMillis(100);
    private static final Duration LOOK = Duration.ofMillis(20);
    private static final int ACTORS = 8;
    private static final int VIRTUAL_ACTORS = 2;
    private static final int BYTES = 4096;

    private final Device device;
    private final long seed;
    private final GrantedTime time = new GrantedTime(LOOK);
    private final List<Context> contexts = new ArrayList<>();
    private final Actions actions;
    private final List<Actor> actors = new ArrayList<>();
    private final Set<AutoCloseable> owned = ConcurrentHashMap.newKeySet();
    private final AtomicReference<AssertionError> failure = new AtomicReference<>();
    private final Map<Actor, Long> interrupted = new ConcurrentHashMap<>();
    private volatile boolean goesOn = true;
    private volatile boolean closing;

    Storm(Device device, boolean twice, long seed) {
        this.device = device;
        this.seed = seed;
        for (int i = 0; i < (twice ? 2 : 1); i++) {
            contexts.add(device.open());
        }
        this.actions = new Actions(this, contexts);
        var random = new SplittableRandom(seed);
        for (int i = 0; i < ACTORS + VIRTUAL_ACTORS; i++) {
            actors.add(new Actor(this, i, random.nextLong(), i >= ACTORS));
        }
    }

    // ---- for actors

    Actions actions() {
        return actions;
    }

    boolean goesOn() {
        return goesOn;
    }

    /// The time that the process was granted.
    long grantedNanos() {
        return time.nanos();
    }

    /// Where our own devices are, the library opens some by itself.
    boolean opensByAddress() {
        return Stream.of("rocev2", "iwarp", "shm").anyMatch(device.name()::startsWith);
    }

    /// Nothing new is made.
    boolean isClosing() {
        return closing;
    }

    <T extends AutoCloseable> T own(T made) {
        owned.add(made);
        return made;
    }

    AutoCloseable anyOwned(SplittableRandom random) {
        long at = random.nextInt(1 + owned.size());
        return owned.stream().skip(at).findFirst().orElse(() -> {});
    }

    Actor anyActor(SplittableRandom random) {
        return actors.get(random.nextInt(actors.size()));
    }

    void fail(String what, Throwable cause) {
        var report = new StringBuilder("device %s, seed %d: %s%n".formatted(device.name(), seed, what));
        for (Actor actor : actors) {
            report.append("  %s: %s, after %s%n"
                    .formatted(actor, actor.doing().map(Actor.Doing::action).orElse("done"), actor.last()));
        }
        failure.compareAndSet(null, new AssertionError(report.toString(), cause));
        goesOn = false;
    }

    // ---- the run

    /// Lasts so long, and some moments for what comes after.
    Map<String, Long> run(Duration time) throws InterruptedException {
        actors.forEach(actor -> actor.thread.start());
        long end = System.nanoTime() + time.toNanos();
        watch(() -> System.nanoTime() - end >= 0);
        var traffic = meanwhile("traffic over fresh connections", this::traffic);
        watch(traffic::isDone);
        closing = true;
        long last = System.nanoTime() + time.toNanos() / 8;
        watch(() -> System.nanoTime() - last >= 0);
        goesOn = false;
        watch(() -> actors.stream().noneMatch(actor -> actor.thread.isAlive()));
        check();
        var closed = meanwhile("closing everything", this::closeAll);
        watch(closed::isDone);
        check();
        return new TreeMap<>(actions.successes());
    }

    /// Nothing but what comes after a storm.
    void calm() throws InterruptedException {
        var traffic = meanwhile("traffic", this::traffic);
        watch(traffic::isDone);
        var closed = meanwhile("closing everything", this::closeAll);
        watch(closed::isDone);
        check();
    }

    private void check() {
        AssertionError found = failure.get();
        if (found != null) {
            throw found;
        }
    }

    private CompletableFuture<Void> meanwhile(String what, Actions.Body body) {
        var done = new CompletableFuture<Void>();
        var actor = new Actor(this, -1, seed, false);
        Thread.ofPlatform().daemon().name(what).start(() -> {
            try {
                body.act(actor);
            } catch (Throwable e) {
                fail(what, e);
            } finally {
                done.complete(null);
            }
        });
        return done;
    }

    /// Waits until something is so, with an eye on all actors. Ends early when something has failed.
    private void watch(BooleanSupplier until) throws InterruptedException {
        var never = new CountDownLatch(1);
        long began = time.look();
        while (!until.getAsBoolean() && failure.get() == null) {
            if (never.await(LOOK.toNanos(), TimeUnit.NANOSECONDS)) {
                return;
            }
            long now = time.look();
            for (Actor actor : actors) {
                Optional<Actor.Doing> doing = actor.doing();
                if (doing.isPresent()) {
                    look(actor, doing.get(), now);
                }
            }
            long[] deadlocked = ManagementFactory.getThreadMXBean().findDeadlockedThreads();
            if (deadlocked != null) {
                hangs("threads wait for each other: "
                        + Arrays.stream(ManagementFactory.getThreadMXBean().getThreadInfo(deadlocked, true, true))
                                .map(ThreadInfo::toString)
                                .collect(Collectors.joining()));
            }
            if (now - began > 8 * CALL_MAX.toNanos() && failure.get() == null) {
                hangs("it does not end");
            }
        }
        check();
    }

    private void look(Actor actor, Actor.Doing doing, long now) {
        long since = doing.sinceNanos();
        if (doing.mayWait()) {
            if (now - since < WAIT_MAX.toNanos()) {
                return;
            }
            Long told = interrupted.get(actor);
            if (told == null || told - since < 0) {
                interrupted.put(actor, now);
                actor.thread.interrupt();
                return;
            }
            since = told;
        }
        if (now - since > CALL_MAX.toNanos()) {
            hangs("%s is in %s for %d s".formatted(actor, doing.action(), (now - since) / 1_000_000_000));
        }
    }

    private void hangs(String what) {
        String stacks = Thread.getAllStackTraces().entrySet().stream()
                .map(each -> each.getKey() + "\n    at "
                        + Arrays.stream(each.getValue())
                                .map(StackTraceElement::toString)
                                .collect(Collectors.joining("\n    at ")))
                .collect(Collectors.joining("\n"));
        String virtual = actors.stream()
                .filter(actor -> actor.thread.isVirtual())
                .map(actor -> actor + "\n    at "
                        + Arrays.stream(actor.thread.getStackTrace())
                                .map(StackTraceElement::toString)
                                .collect(Collectors.joining("\n    at ")))
                .collect(Collectors.joining("\n"));
        fail(what + "\n" + stacks + "\n" + virtual, new AssertionError("hangs"));
    }

    // ---- what holds afterwards

    /// While the actors go on, a connection of its own carries bytes.
    private void traffic(Actor by) throws Exception {
        Context to = contexts.getLast();
        // Actors use keys that they have no right to. A device refuses connections from another address then, and from
        // its
        // own never.
        boolean hasBlocked = to.counters().getOrDefault("blocked.peers", 0L) > 0;
        Context from = hasBlocked ? to : contexts.getFirst();
        var options = ConnectionOptions.defaults();
        try (var listener =
                ConnectionListener.bind(new InetSocketAddress(DeviceAddress.of(to), 0), options.withDevice(to))) {
            var accepted = new CompletableFuture<Connection>();
            Thread.ofVirtual().start(() -> {
                try {
                    accepted.complete(listener.accept());
                } catch (Throwable e) {
                    accepted.completeExceptionally(e);
                }
            });
            try (var here = Connection.connect(listener.localAddress(), options.withDevice(from));
                    var there = accepted.get()) {
                MemoryRegion out = here.allocate(BYTES);
                MemoryRegion in = there.allocate(BYTES, Access.remoteAll());
                byte[] bytes = new byte[BYTES];
                by.random.nextBytes(bytes);
                out.segment().copyFrom(java.lang.foreign.MemorySegment.ofArray(bytes));
                here.write(out.slice(0, BYTES), in.remote());
                here.read(in.remote().slice(0, BYTES), out.slice(0, BYTES));
                if (!Arrays.equals(bytes, out.segment().toArray(ValueLayout.JAVA_BYTE))) {
                    throw new AssertionError("other bytes came back than were written");
                }
            }
        }
    }

    /// Closes what is left until nothing is in use any more, and the devices.
    private void closeAll(Actor by) throws Exception {
        int before;
        Exception last = null;
        do {
            before = owned.size();
            for (AutoCloseable each : List.copyOf(owned)) {
                try {
                    each.close();
                    owned.remove(each);
                } catch (InUseException e) {
                    last = e; // after others
                }
            }
        } while (owned.size() < before);
        if (!owned.isEmpty()) {
            throw new AssertionError("cannot be closed: " + owned, last);
        }
        for (Context context : contexts) {
            context.close();
        }
    }

    /// Sockets, pipes and the like that this process has open, by kind and name; empty where the system does not
    /// tell.
    static List<String> openDescriptors() {
        var open = new ArrayList<String>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path each : all) {
                try {
                    String name = Files.readSymbolicLink(each).toString();
                    if (!name.startsWith("/")) { // no file of the class path
                        open.add(name.replaceAll("[0-9]+", "N"));
                    }
                } catch (IOException e) {
                    // closed at this moment: the listing itself, for example
                }
            }
        } catch (IOException e) {
            return List.of();
        }
        open.sort(null);
        return open;
    }

    /// Threads of devices; not those that the process keeps.
    static List<String> deviceThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("verbena-"))
                .filter(name -> !name.equals("verbena-management"))
                .sorted()
                .toList();
    }
}
