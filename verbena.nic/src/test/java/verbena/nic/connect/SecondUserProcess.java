package verbena.nic.connect;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

/// A user that has a device at 127.0.0.1, and a second one, whose programs use the same address: what
/// [SecondUserTest] starts. With an argument it is the second user.
final class SecondUserProcess {
    private static final String SECOND = "65534";

    private SecondUserProcess() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) {
            second();
            return;
        }
        System.out.println(NetworkOfItsOwn.BEGINS);
        try (Context _ = Device.named("rocev2@127.0.0.1").open()) {
            Process other = new ProcessBuilder(
                            "setpriv",
                            "--reuid=" + SECOND,
                            "--clear-groups",
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "--enable-native-access=ALL-UNNAMED",
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            SecondUserProcess.class.getName(),
                            "second")
                    .redirectErrorStream(true)
                    .start();
            System.out.print(new String(other.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
            other.waitFor();
        }
    }

    private static void second() throws Exception {
        System.out.println("second user"); // it could be started
        for (String host : new String[] {"127.0.0.1", "localhost", "0.0.0.0"}) {
            try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                    var listener = ConnectionListener.bind(host, 0)) {
                var accepted = threads.submit(() -> listener.accept());
                try (var client = Connection.connect(
                                "127.0.0.1", listener.localAddress().getPort());
                        var server = accepted.get()) {
                    var target = server.allocate(4_096, Access.remoteAll());
                    client.write("written from afar".getBytes(StandardCharsets.UTF_8), target.remote());
                    System.out.println(host + ": " + target.segment().getString(0));
                }
            }
        }
        try {
            Device.named("rocev2@127.0.0.1").open().close();
        } catch (DeviceException e) {
            System.out.println(e.getMessage().replaceAll("[(][^)]*[)]", "()").split("[.] ", 2)[0]);
        }
    }
}
