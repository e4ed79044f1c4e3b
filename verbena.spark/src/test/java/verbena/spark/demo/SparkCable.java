package verbena.spark.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// A cluster of two hosts: network namespaces, and a pair of virtual interfaces that joins them. A token bucket at
/// each end (`tc`) may keep a rate. The first host has a master and a worker, the second a worker. Needs root.
final class SparkCable implements AutoCloseable {
    private static final String PREFIX = "10.79.1.";
    private static final String MASTER = "spark://" + PREFIX + "1:7077";
    /// Of jumbo frames, as such networks have them.
    private static final int FRAME_BYTES = 9_000;

    private final List<String> namespaces = new ArrayList<>();
    private final List<Process> processes = new ArrayList<>();

    private SparkCable() {}

    /// Lays the cable, and starts the master and the workers.
    ///
    /// @param rate as `tc` has it, such as 10gbit; empty for none
    /// @param scratch for the files of executors
    static SparkCable lay(SparkRun home, String rate, Path scratch) throws IOException, InterruptedException {
        var cable = new SparkCable();
        boolean isReady = false;
        try {
            for (int end = 1; end <= 2; end++) {
                String name = "verbena-spark-" + ProcessHandle.current().pid() + "-" + end;
                command("ip", "netns", "add", name);
                cable.namespaces.add(name);
                command("ip", "-n", name, "link", "set", "lo", "up");
            }
            command(("ip -n " + cable.namespaces.get(0) + " link add eth0 mtu " + FRAME_BYTES
                            + " type veth peer name eth0 mtu " + FRAME_BYTES + " netns " + cable.namespaces.get(1))
                    .split(" ", -1));
            for (int end = 1; end <= 2; end++) {
                String name = cable.namespaces.get(end - 1);
                command("ip", "-n", name, "address", "add", PREFIX + end + "/24", "dev", "eth0");
                command("ip", "-n", name, "link", "set", "eth0", "up");
                if (!rate.isEmpty()) {
                    command(("tc -n " + name + " qdisc add dev eth0 root tbf rate " + rate + " burst 256kb latency 5ms")
                            .split(" ", -1));
                }
            }
            cable.daemon(
                    home,
                    1,
                    "org.apache.spark.deploy.master.Master",
                    "I have been elected leader",
                    List.of("--host", PREFIX + "1", "--port", "7077", "--webui-port", "0"),
                    scratch);
            for (int end = 1; end <= 2; end++) {
                cable.daemon(
                        home,
                        end,
                        "org.apache.spark.deploy.worker.Worker",
                        "Successfully registered with master",
                        List.of(
                                "--host",
                                PREFIX + end,
                                "--webui-port",
                                "0",
                                "--cores",
                                "8",
                                "--memory",
                                "16g",
                                "--work-dir",
                                home.home().resolve("work" + end).toString(),
                                MASTER),
                        scratch);
            }
            isReady = true;
            return cable;
        } finally {
            if (!isReady) {
                cable.close();
            }
        }
    }

    /// Returns why this process can neither make hosts nor record what is between them; empty when it can.
    static String whyNot() throws InterruptedException {
        String probe = "verbena-spark-" + ProcessHandle.current().pid();
        try {
            command("dumpcap", "--version");
            command("ip", "netns", "add", probe);
            try {
                command("ip", "-n", probe, "link", "add", "eth0", "type", "veth", "peer", "name", "eth1");
            } finally {
                command("ip", "netns", "delete", probe);
            }
            return "";
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    static void command(String... words) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", words) + ": " + said.strip());
        }
    }

    /// Starts a process of Spark's cluster, and waits for the line that says that it is ready.
    private void daemon(SparkRun home, int end, String main, String ready, List<String> arguments, Path scratch)
            throws IOException {
        Process _ = start(
                end, home.java(List.of("-Xmx256m", "-Dspark.local.dir=" + scratch), main, arguments), main, ready);
    }

    /// Begins to record what the ports of RoCE and of PSP of the first host send and get. The recorder, a program
    /// of others, ends by itself after so many datagrams, because it loses what it has not written when others end
    /// it.
    Process record(int datagrams, Path file) throws IOException {
        String command = "dumpcap -q -i eth0 -s 128 -c " + datagrams + " -w " + file + " -f";
        var words = new ArrayList<String>(List.of(command.split(" ", -1)));
        words.add("udp port 4791 or udp port 1000");
        return start(1, new ProcessBuilder(words), "dumpcap", "File: ");
    }

    private Process start(int end, ProcessBuilder builder, String main, String ready) throws IOException {
        Process process = at(end, builder).redirectErrorStream(true).start();
        processes.add(process);
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        String line = out.readLine();
        while (line != null && !line.contains(ready)) {
            line = out.readLine();
        }
        if (line == null) {
            throw new IOException(main + " has ended");
        }
        Thread.ofVirtual().start(() -> out.lines().forEach(rest -> {})); // or it would wait for a reader
        return process;
    }

    private ProcessBuilder at(int end, ProcessBuilder builder) {
        var command = new ArrayList<String>(List.of("ip", "netns", "exec", namespaces.get(end - 1)));
        command.addAll(builder.command());
        builder.environment().put("SPARK_LOCAL_IP", PREFIX + end);
        return builder.command(command);
    }

    /// An application whose driver is on the first host.
    ProcessBuilder application(SparkRun home, Map<String, String> settings, List<String> arguments) {
        var all = new TreeMap<String, String>(settings);
        all.put("spark.master", MASTER);
        all.put("spark.cores.max", "2");
        all.put("spark.executor.cores", "1");
        all.put("spark.executor.memory", "1g");
        all.put("spark.driver.host", PREFIX + "1");
        return at(1, home.application(all, arguments));
    }

    /// @throws IOException when the executors of an application are on one host
    void check(StandingApplication application) throws IOException {
        var networks = new ArrayList<Path>();
        for (ProcessHandle each : application.executors()) {
            networks.add(Files.readSymbolicLink(Path.of("/proc", Long.toString(each.pid()), "ns", "net")));
        }
        if (networks.size() != 2 || networks.stream().distinct().count() != 2) {
            throw new IOException("one executor on each host expected, got " + Arrays.toString(networks.toArray()));
        }
    }

    @Override
    public void close() {
        processes.forEach(SparkRun::end);
        for (String name : namespaces) {
            try {
                command("ip", "netns", "delete", name);
            } catch (IOException | InterruptedException e) {
                System.err.println("verbena: " + e.getMessage());
            }
        }
    }
}
