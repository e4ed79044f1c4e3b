package verbena.interop;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;

/// The main class of both processes: one end of a [SystemUnderTest]. Its messages to the process that has started it
/// are lines of standard output that begin with [Job#PREFIX]. The other lines are the system's own.
final class Peer {
    static final String SERVER = "server";
    static final String CLIENT = "client";
    /// A client that measures.
    static final String MEASURE = "measure";

    private Peer() {}

    /// Runs one end, until it is done.
    ///
    /// @param arguments class of the system, server, client or measure, small or full, folder, and for a client
    ///     the port of its server
    public static void main(String[] arguments) throws Exception {
        SystemUnderTest system = Class.forName(arguments[0])
                .asSubclass(SystemUnderTest.class)
                .getDeclaredConstructor()
                .newInstance();
        var job = new Job(arguments[2].equals("small"), Path.of(arguments[3]));
        int status = 0;
        try {
            if (arguments[1].equals(SERVER)) {
                serve(system, job);
            } else {
                var server = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), Integer.parseInt(arguments[4]));
                Job.say(
                        arguments[1].equals(MEASURE)
                                ? "measured " + Times.text(system.measure(server, job))
                                : "checked " + system.use(server, job));
            }
        } catch (Throwable e) { // a class that is missing, too
            e.printStackTrace();
            Job.say("failed " + e);
            status = 1;
        }
        System.exit(status); // threads that a system has left do not hold it up
    }

    private static void serve(SystemUnderTest system, Job job) throws Exception {
        SystemUnderTest.Serving serving = system.serve(job);
        Job.say("serves " + serving.port());
        byte[] _ = System.in.readAllBytes(); // until the other process closes it
        serving.end().close();
    }
}
