package verbena.tools.weak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetSocketAddress;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import verbena.tools.Cli;
import verbena.verbs.Context;
import verbena.verbs.Device;

/// The replicated store of the examples, with its replicas and clients in this process. So the rules see both ends of
/// each connection.
final class StoreProgram {
    private static final int REPLICAS = 3;
    private static final int CLIENTS = 2;
    private static final int KEYS = 4;
    private static final int OPERATIONS = 40;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /// The stores of this process so far: each has addresses of its own.
    private static final AtomicInteger STORES = new AtomicInteger();

    private StoreProgram() {}

    /// Runs clients of a new store. Each has keys of its own, and gets what it has put.
    ///
    /// @param folder for its classes and its logs
    static void run(Path folder, long seed) throws Exception {
        Path classes = compiled(folder);
        Path logs = Files.createTempDirectory(folder, "logs");
        long pid = ProcessHandle.current().pid();
        String network = "127." + (64 + pid % 128) + "." + (STORES.incrementAndGet() + (pid >> 7)) % 256 + ".";
        List<String> addresses = IntStream.rangeClosed(1, REPLICAS)
                .mapToObj(each -> network + each + ":7001")
                .toList();
        PrintStream before = System.out;
        System.setOut(new PrintStream(OutputStream.nullOutputStream())); // replicas say that they are ready
        try (var loader = new URLClassLoader(new URL[] {classes.toUri().toURL()}, StoreProgram.class.getClassLoader());
                var replicas = Executors.newCachedThreadPool();
                Context device = Device.named("rocev2@" + network + "100").open();
                var threads = Executors.newCachedThreadPool()) {
            Method main = loader.loadClass("Replica").getMethod("main", String[].class);
            for (int i = 1; i <= REPLICAS; i++) {
                String[] arguments = {
                    Integer.toString(i), logs.resolve("log" + i).toString(), String.join(",", addresses)
                };
                replicas.execute(() -> replica(main, arguments));
            }
            try {
                var clients = new ArrayList<Future<?>>();
                for (int i = 0; i < CLIENTS; i++) {
                    int number = i;
                    clients.add(threads.submit(() -> {
                        client(loader, device, addresses, number, seed);
                        return true;
                    }));
                }
                for (Future<?> each : clients) {
                    each.get();
                }
            } finally {
                replicas.shutdownNow();
            }
        } finally {
            System.setOut(before);
            for (int i = 1; i <= REPLICAS; i++) {
                Files.deleteIfExists(logs.resolve("log" + i));
            }
        }
    }

    private static Path compiled(Path folder) throws Exception {
        Path classes = folder.resolve("classes");
        if (!Files.exists(classes)) {
            Files.createDirectories(classes);
            var arguments =
                    new ArrayList<>(List.of("-d", classes.toString(), "-cp", System.getProperty("java.class.path")));
            try (Stream<Path> sources = Files.list(Cli.root().resolve("examples/kv"))) {
                sources.map(Path::toString)
                        .filter(each -> each.endsWith(".java"))
                        .forEach(arguments::add);
            }
            int status = ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new));
            assertThat(status).isZero();
        }
        return classes;
    }

    private static void replica(Method main, String[] arguments) {
        try {
            main.invoke(null, (Object) arguments);
        } catch (InvocationTargetException e) {
            if (!(e.getCause() instanceof InterruptedException)) {
                throw new LinkageError("replica " + arguments[0], e);
            }
        } catch (IllegalAccessException e) {
            throw new LinkageError("replica " + arguments[0], e);
        }
    }

    private static void client(ClassLoader loader, Context device, List<String> addresses, int number, long seed)
            throws Exception {
        var random = new Random(seed * CLIENTS + number);
        List<InetSocketAddress> replicas = addresses.stream()
                .map(each -> each.split(":", -1))
                .map(each -> new InetSocketAddress(each[0], Integer.parseInt(each[1])))
                .toList();
        Object store = loader.loadClass("Store")
                .getConstructor(Context.class, List.class, Duration.class)
                .newInstance(device, replicas, LIMIT);
        Map<String, String> expected = new HashMap<>();
        for (int i = 0; i < OPERATIONS; i++) {
            String key = number + "." + random.nextInt(KEYS);
            switch (random.nextInt(4)) {
                case 0 -> assertThat(call(store, "delete", key)).as("delete").isEqualTo(expected.remove(key) != null);
                case 1 -> {
                    String value = Integer.toString(i).repeat(1 + random.nextInt(20));
                    assertThat(call(store, "put", key, value.getBytes(StandardCharsets.UTF_8)))
                            .as("put")
                            .isEqualTo(expected.put(key, value) != null);
                }
                default ->
                    assertThat(((Optional<?>) call(store, "get", key))
                                    .map(value -> new String((byte[]) value, StandardCharsets.UTF_8)))
                            .as("get")
                            .isEqualTo(Optional.ofNullable(expected.get(key)));
            }
        }
        call(store, "close");
    }

    private static Object call(Object store, String name, Object... arguments) throws Exception {
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
}
