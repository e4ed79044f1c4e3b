package verbena.messages.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import verbena.messages.BusyThreads;
import verbena.verbs.Context;
import verbena.verbs.Device;

/// The replicated store of the examples, as three processes on a network that loses packets, while its leaders are
/// killed and stopped. At last all are killed, start again, and are asked for all keys. What clients see has to be
/// linearizable. The test waits for operations to be done, and not for time to pass. In one draw of four busy threads
/// run beside it (`-Dverbena.draw=3`).
class StoreTest {
    private static final Path ROOT = Path.of(System.getProperty("verbena.root"));
    private static final int REPLICAS = 3;
    private static final int CLIENTS = 4;
    private static final int KEYS = 8;
    private static final int OPERATIONS = Boolean.getBoolean("verbena.deep") ? 120 : 60;
    private static final int ROUNDS = Boolean.getBoolean("verbena.deep") ? 8 : 1;
    private static final String LOSS = "faults=loss:5%,seed:";

    @TempDir
    static Path folder;

    @BeforeAll
    static void compile() throws Exception {
        try (Stream<Path> sources = Files.list(ROOT.resolve("examples/kv"))) {
            var arguments =
                    new ArrayList<>(List.of("-d", folder.toString(), "-cp", System.getProperty("java.class.path")));
            sources.map(Path::toString).filter(each -> each.endsWith(".java")).forEach(arguments::add);
            int status = ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new));
            assertThat(status).isZero();
        }
    }

    /// Three replicas, at addresses that no other process has.
    private static final class Replicas implements AutoCloseable {
        private final List<String> addresses;
        private final Process[] processes = new Process[REPLICAS];

        Replicas() {
            long pid = ProcessHandle.current().pid();
            String network = "127." + (64 + pid % 128) + "." + (pid >> 7) % 256 + ".";
            addresses = IntStream.range(0, REPLICAS + 1)
                    .mapToObj(each -> network + (10 + each))
                    .toList();
        }

        String list() {
            return String.join(
                    ",",
                    addresses.stream()
                            .limit(REPLICAS)
                            .map(each -> each + ":7001")
                            .toList());
        }

        Context clientsDevice() {
            return Device.named("rocev2@" + addresses.get(REPLICAS) + "," + LOSS + "9")
                    .open();
        }

        void start(int replica) throws Exception {
            processes[replica] = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "--enable-native-access=ALL-UNNAMED",
                            "-XX:+UseSerialGC",
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            folder + ":" + System.getProperty("java.class.path"),
                            "Replica",
                            Integer.toString(replica + 1),
                            folder.resolve("log" + replica).toString(),
                            list(),
                            LOSS + (replica + 1))
                    .redirectErrorStream(true)
                    .redirectOutput(
                            ProcessBuilder.Redirect.appendTo(output(replica).toFile()))
                    .start();
        }

        private static Path output(int replica) {
            return folder.resolve("output" + replica);
        }

        /// The replica that says that it leads in the latest term.
        int leader() throws Exception {
            long latest = 0;
            int leader = -1;
            for (int i = 0; i < REPLICAS; i++) {
                var terms = Pattern.compile("leads in term (\\d+)").matcher(Files.readString(output(i)));
                while (terms.find()) {
                    long term = Long.parseLong(terms.group(1));
                    leader = term > latest ? i : leader;
                    latest = Math.max(term, latest);
                }
            }
            return leader;
        }

        void kill(int replica) throws Exception {
            processes[replica].destroyForcibly().waitFor();
        }

        /// Stops a process or has it go on. Meanwhile its memory stays, and it does not know that time passes.
        void signal(int replica, String signal) throws Exception {
            String pid = Long.toString(processes[replica].pid());
            assertThat(new ProcessBuilder("kill", signal, pid).start().waitFor())
                    .isZero();
        }

        String said() throws Exception {
            var text = new StringBuilder();
            for (int i = 0; i < REPLICAS; i++) {
                text.append(Files.readString(output(i)));
            }
            return text.toString();
        }

        @Override
        public void close() {
            Arrays.stream(processes).filter(each -> each != null).forEach(Process::destroyForcibly);
        }
    }

    /// A client of the example, which is in no package.
    private static final class Client implements AutoCloseable {
        private final Object store;

        Client(ClassLoader loader, Context device, String replicas) throws Exception {
            Method addresses = loader.loadClass("Replica").getDeclaredMethod("addresses", String.class);
            addresses.setAccessible(true);
            store = loader.loadClass("Store")
                    .getConstructor(Context.class, List.class, Duration.class)
                    .newInstance(device, addresses.invoke(null, replicas), Duration.ofSeconds(10));
        }

        private Object call(String name, Object... arguments) throws Exception {
            Method method = Arrays.stream(store.getClass().getMethods())
                    .filter(each -> each.getName().equals(name))
                    .findFirst()
                    .orElseThrow();
            try {
                return method.invoke(store, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
        }

        String get(String key) throws Exception {
            return ((Optional<?>) call("get", key))
                    .map(value -> new String((byte[]) value, java.nio.charset.StandardCharsets.UTF_8))
                    .orElse(History.NONE);
        }

        boolean put(String key, String value) throws Exception {
            return (boolean) call("put", key, value.getBytes(java.nio.charset.StandardCharsets.UTF_8));
        }

        boolean delete(String key) throws Exception {
            return (boolean) call("delete", key);
        }

        @Override
        public void close() {
            try {
                call("close");
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }

    /// Clients that ask until they are told to stop.
    private static final class Crowd {
        final History history = new History();
        private final Semaphore done = new Semaphore(0);
        private volatile boolean isOver;

        Callable<Void> body(ClassLoader loader, Context device, String replicas, int number) {
            return () -> {
                var random = new SplittableRandom(number);
                try (var client = new Client(loader, device, replicas)) {
                    for (int i = 0; !isOver; i++) {
                        ask(client, "key" + random.nextInt(KEYS), random.nextInt(5), number + "." + i);
                    }
                }
                return null;
            };
        }

        /// What every key has at the end: a change that was acknowledged and is lost makes the history a wrong
        /// one.
        void readAll(ClassLoader loader, Context device, String replicas) throws Exception {
            try (var client = new Client(loader, device, replicas)) {
                for (int i = 0; i < KEYS; i++) {
                    boolean isKnown = false;
                    while (!isKnown) {
                        isKnown = ask(client, "key" + i, 0, History.NONE);
                    }
                }
            }
        }

        /// @return whether the client was told what came of it
        private boolean ask(Client client, String key, int what, String unique) throws Exception {
            boolean isGet = what < 2;
            String value = what == 4 ? History.NONE : unique;
            boolean wasThere = false;
            long called = System.nanoTime();
            long returned = History.NEVER;
            try {
                if (isGet) {
                    value = client.get(key);
                } else {
                    wasThere = what == 4 ? client.delete(key) : client.put(key, value);
                }
                returned = System.nanoTime();
                done.release();
            } catch (TimeoutException e) {
                if (isGet) {
                    return false;
                }
            }
            history.add(key, new History.Operation(isGet, value, wasThere, called, returned));
            return returned != History.NEVER;
        }

        /// Waits until so many more operations are done, or a client has failed.
        void awaitMore(int operations, List<Future<Void>> clients) throws Exception {
            done.drainPermits();
            while (!done.tryAcquire(operations, 1, TimeUnit.SECONDS)) {
                for (Future<Void> each : clients) {
                    if (each.isDone()) {
                        each.get();
                    }
                }
            }
        }
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void clientsSeeOneStoreWhileLeadersAreKilledAndStopped() throws Exception {
        var crowd = new Crowd();
        try (BusyThreads _ = BusyThreads.ifDrawn();
                var replicas = new Replicas();
                var loader = new URLClassLoader(
                        new URL[] {folder.toUri().toURL()}, getClass().getClassLoader());
                var device = replicas.clientsDevice();
                var threads = Executors.newCachedThreadPool()) {
            for (int i = 0; i < REPLICAS; i++) {
                replicas.start(i);
            }
            var clients = new ArrayList<Future<Void>>();
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(threads.submit(crowd.body(loader, device, replicas.list(), i)));
            }
            crowd.awaitMore(OPERATIONS, clients);
            for (int i = 0; i < ROUNDS; i++) {
                int killed = replicas.leader();
                replicas.kill(killed);
                crowd.awaitMore(OPERATIONS, clients);
                replicas.start(killed);
                crowd.awaitMore(OPERATIONS, clients);

                int stopped = replicas.leader();
                replicas.signal(stopped, "-STOP");
                crowd.awaitMore(OPERATIONS, clients);
                replicas.signal(stopped, "-CONT"); // it still takes itself for the leader
                crowd.awaitMore(OPERATIONS, clients);
            }
            crowd.isOver = true;
            for (Future<Void> each : clients) {
                each.get();
            }
            for (int i = 0; i < REPLICAS; i++) {
                replicas.kill(i);
            }
            for (int i = 0; i < REPLICAS; i++) {
                replicas.start(i);
            }
            crowd.readAll(loader, device, replicas.list());
            assertThat(replicas.said()).doesNotContain("Exception");
        }
        for (Map.Entry<String, List<History.Operation>> each :
                crowd.history.byKey().entrySet()) {
            assertThat(History.isLinearizable(each.getValue()))
                    .as("%s: %s", each.getKey(), each.getValue())
                    .isTrue();
        }
        assertThat(crowd.history.byKey()).hasSize(KEYS);
    }
}
