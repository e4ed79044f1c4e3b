package verbena.engines;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;

/// The main class of both processes: one end of an [Engine]. What it tells the process that has started it stands in
/// lines of standard output that begin with [Job#PREFIX]. The others are the system's own.
final class Peer {
    static final String SERVER = "server";
    static final String CLIENT = "client";
    /// A client that measures.
    static final String MEASURE = "measure";

    private Peer() {}

    /// Is one end, until it is done.
    ///
    /// @param arguments class of the engine, server, client or measure, small or full, folder, and for a client
    ///     the port of its server
    public static void main(String[] arguments) throws Exception {
        Engine engine = Class.forName(arguments[0])
                .asSubclass(Engine.class)
                .getDeclaredConstructor()
                .newInstance();
        var job = new Job(arguments[2].equals("small"), Path.of(arguments[3]));
        int status = 0;
        try {
            if (arguments[1].equals(SERVER)) {
                serve(engine, job);
            } else {
                var server = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), Integer.parseInt(arguments[4]));
                Job.say(
                        arguments[1].equals(MEASURE)
                                ? "measured " + Times.text(engine.measure(server, job))
                                : "checked " + engine.use(server, job));
            }
        } catch (Throwable e) { // a class that is missing, too
            e.printStackTrace();
            Job.say("failed " + e);
            status = 1;
        }
        System.exit(status); // threads that a system has left do not hold it up
    }

    private static void serve(Engine engine, Job job) throws Exception {
        Engine.Serving serving = engine.serve(job);
        Job.say("serves " + serving.port());
        byte[] _ = System.in.readAllBytes(); // until the other process closes it
        serving.end().close();
    }
}
