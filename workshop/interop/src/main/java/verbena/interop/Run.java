package verbena.interop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/// A run of one system in one scene: it starts both processes, makes the client work, and judges the counters.
final class Run {
    private static final long START_SECONDS = 90;
    /// The longest silence of a client at work.
    private static final long WORK_SECONDS = 240;
    /// A client has to notice by then that its server is gone.
    private static final long NOTICE_SECONDS = 40;

    private static final long END_SECONDS = 40;
    /// The least share of the bytes by RDMA, when both ends have the agent.
    private static final double LEAST_SHARE = 0.99;
    /// The time limit for RDMA. A cold JVM on a busy machine answers late, and a run checks the transport of the
    /// bytes only.
    private static final int WAIT_MILLIS = 5_000;

    private final Jvm jvm;
    private final Subject subject;
    private final Scene scene;

    /// The Java and the agent of the processes.
    record Jvm(Path java, Path agent, boolean isSmall) {}

    /// The findings of a run.
    ///
    /// @param checked in words
    record Outcome(String checked, Counted counted, double seconds) {}

    Run(Jvm jvm, Subject subject, Scene scene) {
        this.jvm = jvm;
        this.subject = subject;
        this.scene = scene;
    }

    /// @throws RunFailed when the system did not do what it has to
    Outcome go() throws IOException, InterruptedException {
        long start = System.nanoTime();
        try (Scratch scratch = Scratch.make();
                Member server = start(Peer.SERVER, scene.serverHasAgent(), scratch.folder())) {
            Path folder = scratch.folder();
            String port = server.hear("serves", START_SECONDS);
            try (Member client = start(Peer.CLIENT, scene.clientHasAgent(), folder, port)) {
                String _ = client.hear("halfway", WORK_SECONDS);
                String checked = scene.isKilled() ? kill(server, client) : finish(server, client);
                double seconds = (System.nanoTime() - start) / 1e9;
                return new Outcome(checked, judge(Counted.in(summary(folder)), client), seconds);
            }
        }
    }

    /// Makes the client measure.
    ///
    /// @return the figures of [SystemUnderTest#measure]
    /// @throws RunFailed when the system did not do what it has to
    SequencedMap<String, Double> measure() throws IOException, InterruptedException {
        try (Scratch scratch = Scratch.make();
                Member server = start(Peer.SERVER, scene.serverHasAgent(), scratch.folder())) {
            String port = server.hear("serves", START_SECONDS);
            try (Member client = start(Peer.MEASURE, scene.clientHasAgent(), scratch.folder(), port)) {
                String figures = client.hear("measured", WORK_SECONDS);
                client.end(END_SECONDS);
                server.end(END_SECONDS);
                Counted counted = Counted.in(summary(scratch.folder()));
                if (scene.isByRdma()) {
                    Counted _ = judge(counted, client);
                } else if (scene.beginsByTcp() && !jvm.isSmall() && counted.rdma() == 0) {
                    throw new RunFailed("it has not moved: " + counted, client.lastWords());
                }
                return Times.parse(figures);
            }
        }
    }

    private static String finish(Member server, Member client) throws IOException, InterruptedException {
        client.go();
        String checked = client.hear("checked", WORK_SECONDS);
        client.end(END_SECONDS);
        server.end(END_SECONDS);
        return checked;
    }

    private static String kill(Member server, Member client) throws IOException, InterruptedException {
        server.kill();
        long since = System.nanoTime();
        client.go();
        String _ = client.hear("failed", NOTICE_SECONDS);
        String noticed = String.format("the client noticed after %.1f s", (System.nanoTime() - since) / 1e9);
        client.awaitEnd(END_SECONDS);
        return noticed;
    }

    private Counted judge(Counted counted, Member client) {
        if (scene.isByRdma() && counted.share() < LEAST_SHARE) {
            throw new RunFailed("only " + counted, client.lastWords());
        }
        if (!scene.isByRdma() && (counted.rdma() > 0 || counted.tcp() == 0)) {
            throw new RunFailed("not by TCP: " + counted, client.lastWords());
        }
        return counted;
    }

    private Member start(String role, boolean hasAgent, Path folder, String... more) throws IOException {
        Path own = Files.createDirectory(folder.resolve(role));
        var command = new ArrayList<String>(List.of(jvm.java().toString(), "-XX:+UseSerialGC", "-Xmx768m"));
        if (subject.carrier() == Subject.Carrier.TRANSPORT) {
            command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-Dinterop.summary=" + summary(folder)));
            scene.device().ifPresent(name -> command.add("-Dinterop.device=" + name));
        }
        command.addAll(List.of("-cp", subject.classPath(), Peer.class.getName(), subject.exercise(), role));
        command.addAll(List.of(jvm.isSmall() ? "small" : "full", own.toString()));
        command.addAll(List.of(more));
        Map<String, String> environment = hasAgent && subject.carrier() == Subject.Carrier.AGENT
                ? Map.of("JAVA_TOOL_OPTIONS", agent(folder))
                : Map.of();
        return new Member(role, command, environment, folder.resolve(role + ".log"));
    }

    private String agent(Path folder) {
        String device =
                scene.device().map(name -> " -Dverbena.nio.device=" + name).orElse("");
        String begin = scene.beginsByTcp() ? "" : " -Dverbena.nio.begin=rdma";
        return "-javaagent:" + jvm.agent() + device + begin + " -Dverbena.nio.wait=" + WAIT_MILLIS
                + " -Dverbena.nio.summary=" + summary(folder);
    }

    private static Path summary(Path folder) {
        return folder.resolve("summary");
    }
}
