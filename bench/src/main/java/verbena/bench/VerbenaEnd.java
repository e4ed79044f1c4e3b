package verbena.bench;

import com.sun.management.ThreadMXBean;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import verbena.tools.Verbena;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Verbena: runs commands of its command line, or holds connections on which nothing happens.
final class VerbenaEnd implements Worker.End {
    /// What it says when a command waits for its client, with the port behind it.
    static final String LISTENING = "listening ";

    private static final Pattern WAITS = Pattern.compile(" port (\\d+); there: ");
    private static final int PORT = 7_471;

    private final List<Connection> idle = new ArrayList<>();

    @Override
    public Object order(String[] words) throws Exception {
        return switch (words[0]) {
            case "listen" -> Map.of("address", listen());
            case "connect" -> connect(words[1], Integer.parseInt(words[2]));
            default -> command(words);
        };
    }

    /// A command: what it printed, and how many bytes all threads allocated meanwhile.
    private static Object command(String[] words) {
        var out = new StringWriter();
        var err = new Err();
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getTotalThreadAllocatedBytes();
        int status = Verbena.commandLine()
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(words);
        long allocated = threads.getTotalThreadAllocatedBytes() - before;
        if (status != 0) {
            throw new Child.Failed("verbena " + String.join(" ", Arrays.asList(words)) + ": " + err);
        }
        return Map.of("out", out.toString(), "allocated", allocated);
    }

    /// Standard error; that a command listens is told at once.
    private static final class Err extends StringWriter {
        @Override
        public void write(String text, int from, int length) {
            super.write(text, from, length);
            Matcher matcher = WAITS.matcher(text);
            if (matcher.find()) {
                System.out.println(LISTENING + matcher.group(1));
            }
        }
    }

    private String listen() {
        Context device = Device.named("rocev2").open();
        InetAddress address = device.gid(1, 0).gid().address();
        ConnectionListener listener = ConnectionListener.bind(
                new InetSocketAddress(address, PORT),
                ConnectionOptions.defaults().withDevice(device));
        Thread.ofPlatform().daemon().start(() -> {
            try {
                while (true) {
                    idle.add(listener.accept());
                }
            } catch (InterruptedException | VerbsException e) {
                System.err.println(e);
            }
        });
        return address.getHostAddress();
    }

    private Object connect(String address, int count) throws InterruptedException {
        Context device = Device.named("rocev2").open();
        for (int i = 0; i < count; i++) {
            idle.add(Connection.connect(
                    new InetSocketAddress(InetAddress.ofLiteral(address), PORT),
                    ConnectionOptions.defaults().withDevice(device)));
        }
        return Map.of("connections", idle.size());
    }
}
