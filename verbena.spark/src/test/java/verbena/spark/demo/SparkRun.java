package verbena.spark.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.apache.spark.launcher.JavaModuleOptions;

/// A Spark application in processes of its own: a driver, and a master, two workers and two executors that it starts
/// (`local-cluster[2,1,1024]`). Ended with all its processes when its time is over.
///
/// @param home a folder for what Spark expects of an installation, and for what it leaves behind
/// @param jars the folder with the jars of Spark
/// @param classes the class path of the demonstration, a folder, and of the manager, a jar
/// @param limit of the whole run
record SparkRun(Path home, Path jars, String classes, Duration limit) {
    /// What came out.
    ///
    /// @param results text by job
    /// @param nanos time by job
    /// @param metrics of Spark, by name
    /// @param counters of the shuffle managers of all executors, by name; empty with Spark's own
    /// @param log all lines
    /// @param trouble why there are not all results; empty when it ended well
    record Outcome(
            Map<String, String> results,
            Map<String, Long> nanos,
            Map<String, Long> metrics,
            Map<String, Long> counters,
            List<String> log,
            String trouble) {
        long metric(String name) {
            return metrics.getOrDefault(name, 0L);
        }

        long counter(String name) {
            return counters.getOrDefault(name, 0L);
        }
    }

    /// Makes an empty home.
    void prepare() throws IOException {
        if (Files.exists(home)) {
            delete(home);
        }
        Files.createDirectories(home);
        Files.createSymbolicLink(home.resolve("jars"), jars);
        Files.writeString(home.resolve("RELEASE"), "Spark\n");
        Files.createDirectories(home.resolve("conf"));
        Files.writeString(home.resolve("conf/log4j2.properties"), """
                rootLogger.level = error
                rootLogger.appenderRef.stderr.ref = stderr
                appender.stderr.type = Console
                appender.stderr.name = stderr
                appender.stderr.target = SYSTEM_ERR
                appender.stderr.layout.type = PatternLayout
                appender.stderr.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1}: %m%n
                logger.verbena.name = verbena
                logger.verbena.level = info
                logger.deploy.name = org.apache.spark.deploy
                logger.deploy.level = info
                logger.tasks.name = org.apache.spark.scheduler.TaskSetManager
                logger.tasks.level = warn
                """);
    }

    static void delete(Path folder) throws IOException {
        try (Stream<Path> old = Files.walk(folder)) { // links are not followed
            for (Path each : old.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        }
    }

    /// Runs an application to its end.
    Outcome run(ProcessBuilder application) throws IOException, InterruptedException {
        Path out = home.resolve("application.log");
        Process driver = application
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .start();
        boolean isOver = false;
        try {
            isOver = driver.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
        } finally {
            end(driver);
        }
        String trouble = "";
        if (!isOver) {
            trouble = "not over after " + limit.toSeconds() + " s; see " + out;
        } else if (driver.exitValue() != 0) {
            trouble = "ended with status " + driver.exitValue() + "; see " + out;
        }
        return outcome(Files.readAllLines(out), trouble);
    }

    /// Ends a process and all that it has started.
    static void end(Process process) {
        List<ProcessHandle> all = process.descendants().toList();
        process.destroyForcibly();
        all.forEach(ProcessHandle::destroyForcibly);
        all.forEach(each -> each.onExit().join()); // their files can be deleted then
    }

    /// An application that is not started yet.
    ///
    /// @param settings of Spark
    /// @param arguments of [Application]
    ProcessBuilder application(Map<String, String> settings, List<String> arguments) {
        var options = new ArrayList<String>(List.of("-Xmx1g"));
        everyRun(settings).forEach((name, value) -> options.add("-D" + name + "=" + value));
        return java(options, Application.class.getName(), arguments);
    }

    /// The same by `spark-submit`: only Spark is on the class path, and the application and the manager come as
    /// jars of the user.
    ProcessBuilder submitted(Map<String, String> settings, List<String> arguments) {
        String[] own = classes.split(":", -1);
        Path application = home.resolve("application.jar");
        int status = ToolProvider.findFirst("jar")
                .orElseThrow()
                .run(System.out, System.err, "--create", "--file", application.toString(), "-C", own[0], ".");
        if (status != 0) {
            throw new IllegalStateException(application + " was not made");
        }
        var all = new ArrayList<String>();
        Map<String, String> spark = everyRun(settings);
        spark.remove("spark.executor.extraClassPath");
        spark.forEach((name, value) -> all.addAll(List.of("--conf", name + "=" + value)));
        all.addAll(List.of("--jars", own[1], "--class", Application.class.getName(), application.toString()));
        all.addAll(arguments);
        return java("", List.of("-Xmx1g"), "org.apache.spark.deploy.SparkSubmit", all);
    }

    /// A virtual machine with our classes and Spark on its class path.
    ProcessBuilder java(List<String> options, String main, List<String> arguments) {
        return java(classes + ":", options, main, arguments);
    }

    private ProcessBuilder java(String before, List<String> options, String main, List<String> arguments) {
        var command = new ArrayList<String>();
        Path java = Path.of(System.getProperty("java.home"));
        command.add(java.resolve("bin/java").toString());
        command.addAll(List.of(JavaModuleOptions.defaultModuleOptions().split(" ", -1)));
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(options);
        command.addAll(List.of("-cp", before + home.resolve("conf") + ":" + jars + "/*"));
        command.add(main);
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).directory(home.toFile());
        builder.environment()
                .putAll(Map.of(
                        "JAVA_HOME",
                        java.toString(),
                        "SPARK_HOME",
                        home.toString(),
                        "SPARK_SCALA_VERSION",
                        "2.13",
                        "SPARK_LOCAL_IP",
                        "127.0.0.1"));
        return builder;
    }

    private Map<String, String> everyRun(Map<String, String> settings) {
        var all = new TreeMap<String, String>();
        all.put("spark.master", "local-cluster[2,1,1024]");
        all.put("spark.ui.enabled", "false");
        all.put("spark.executor.extraClassPath", classes);
        all.put(
                "spark.executor.extraJavaOptions",
                "--enable-native-access=ALL-UNNAMED -XX:+UseSerialGC -XX:TieredStopAtLevel=1");
        all.put("spark.local.dir", home.resolve("scratch").toString());
        all.put("spark.sql.shuffle.partitions", "8");
        all.put("spark.sql.autoBroadcastJoinThreshold", "-1"); // joins that shuffle
        all.put("spark.sql.warehouse.dir", home.resolve("warehouse").toString());
        all.putAll(settings);
        return all;
    }

    private static Outcome outcome(List<String> lines, String trouble) {
        var outcome = new Outcome(
                new LinkedHashMap<>(), new LinkedHashMap<>(), new TreeMap<>(), new TreeMap<>(), lines, trouble);
        for (String line : lines) {
            String[] words = line.split(" ", 4);
            switch (words[0]) {
                case "result" -> {
                    outcome.results().put(words[1], words[3]);
                    outcome.nanos().put(words[1], Long.parseLong(words[2]));
                }
                case "metric" -> outcome.metrics().put(words[1], Long.parseLong(words[2]));
                case "counter" -> outcome.counters().put(words[1], Long.parseLong(words[2]));
                default -> {} // what Spark has to say
            }
        }
        return outcome;
    }
}
