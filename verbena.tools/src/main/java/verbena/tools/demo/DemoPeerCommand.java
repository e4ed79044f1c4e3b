package verbena.tools.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import verbena.tools.kit.Addresses;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;
import verbena.verbs.WcOpcode;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionListener;

/// The second process of the demo: takes one order a line on standard input and answers each with one line, `ok` or
/// `failed` with a reason. Between orders its application thread sleeps, also while its memory is read and written.
/// Ends when standard input does, so that it never outlives the first process.
@Command(name = "demo-peer", hidden = true, header = "The second process of the demo; the demo starts it.")
public final class DemoPeerCommand implements Callable<Integer> {
    private static final String END_OF_INPUT = "";
    private static final int PONG_SLOTS = 4;

    @Parameters(index = "0", paramLabel = "DEVICE")
    private String deviceName;

    @Parameters(index = "1", paramLabel = "SEED")
    private long seed;

    private final LinkedBlockingQueue<String> orders = new LinkedBlockingQueue<>();
    private final PrintStream answers = System.out;
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
    private final List<DemoEnd> ends = new ArrayList<>();
    private final Deque<Runnable> opened = new ArrayDeque<>();
    private final Set<DemoEnd> answering = new HashSet<>();
    private byte[] expected = new byte[0];
    private long completionsBefore;
    private long sleepCpuNanos;

    @Override
    public Integer call() throws InterruptedException {
        Thread reader = new Thread(this::readOrders, "verbena-demo-orders");
        reader.setDaemon(true);
        reader.start();
        try {
            DemoEnd end = accept(deviceName, " " + ProcessHandle.current().pid());
            expected = DemoEnd.initialMemory(seed);
            end.region.segment().copyFrom(MemorySegment.ofArray(expected));
            for (String order = sleep(); !order.isEmpty(); order = sleep()) {
                answer(carryOut(order.split(" ", -1), end));
                completionsBefore = end.completionsTaken();
            }
        } catch (VerbsException | CommandFailed e) {
            answer("failed " + e.getMessage());
            return 1;
        } finally {
            opened.forEach(Runnable::run);
        }
        return 0;
    }

    // Says where it listens, and what else its starter should know.
    private DemoEnd accept(String device, String more) throws InterruptedException {
        Context context = Device.named(device).open();
        opened.push(context::close);
        var any = new InetSocketAddress(address(context), 0);
        try (var listener = ConnectionListener.bind(any, DemoEnd.options(context))) {
            InetSocketAddress at = listener.localAddress();
            answer("ok " + Addresses.ip(at.getAddress()) + " " + at.getPort() + more);
            var end = new DemoEnd(context, listener.accept());
            opened.push(end::close);
            ends.add(end);
            return end;
        }
    }

    // The first address of the device that means something to other programs, too: a link-local one is for a link.
    private static InetAddress address(Context context) {
        List<InetAddress> all =
                context.gids(1).stream().map(entry -> entry.gid().address()).toList();
        return all.stream()
                .filter(each -> !each.isLinkLocalAddress())
                .findFirst()
                .orElse(all.getFirst());
    }

    // The first process is gone when its end of the pipe is: nothing is left to do, wherever we are.
    private void readOrders() {
        try (var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                orders.add(line);
            }
        } catch (IOException _) {
            // The same as its end.
        }
        orders.add(END_OF_INPUT);
        try {
            Thread.sleep(DemoEnd.TIMEOUT.toMillis());
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(1);
    }

    private String sleep() throws InterruptedException {
        long before = threads.getCurrentThreadCpuTime();
        String order = orders.take();
        sleepCpuNanos = threads.getCurrentThreadCpuTime() - before;
        return order;
    }

    private void answer(String line) {
        answers.println(line.replaceAll("\\s*\\R\\s*", " "));
        answers.flush();
    }

    private String carryOut(String[] order, DemoEnd end) throws InterruptedException {
        try {
            return switch (order[0]) {
                case "offer" -> offer(end);
                case "receive" -> {
                    end.qp.postReceive(0, end.messages.slice(0, DemoEnd.MESSAGE_BYTES));
                    yield "ok";
                }
                case "immediate" -> immediate(end);
                case "bytes" -> {
                    byte[] bytes = DemoEnd.pattern(Long.parseLong(order[3]), Integer.parseInt(order[2]));
                    System.arraycopy(bytes, 0, expected, Integer.parseInt(order[1]), bytes.length);
                    yield check(end);
                }
                case "long" -> {
                    var model = ByteBuffer.wrap(expected).order(DemoEnd.LONG.order());
                    model.putLong(Integer.parseInt(order[1]), Long.parseLong(order[2]));
                    yield check(end);
                }
                case "also" -> {
                    accept(order[1], "");
                    yield "ok";
                }
                case "memory" ->
                    "ok " + ends.get(Integer.parseInt(order[1])).region.remote().format();
                case "pong" -> pong(ends.get(Integer.parseInt(order[1])), order[2].equals("poll"));
                case "tcp" -> tcp(end);
                case "compiled" -> "ok " + compilers.getTotalCompilationTime();
                default -> "failed unknown order " + order[0];
            };
        } catch (IOException | VerbsException | CommandFailed | IllegalArgumentException e) {
            return "failed " + e.getMessage();
        }
    }

    // As a real program would: one SEND that says where our memory is.
    private static String offer(DemoEnd end) throws InterruptedException {
        RemoteMemory memory = end.region.remote();
        MemorySegment message = end.messages.segment();
        message.set(DemoEnd.LONG, 0, memory.address());
        message.set(DemoEnd.LONG, 8, memory.length());
        message.set(DemoEnd.LONG, 16, Integer.toUnsignedLong(memory.rkey()));
        end.qp.postSend(0, end.messages.slice(0, 3 * Long.BYTES));
        end.await("the peer's SEND of its address and key", WcOpcode.SEND);
        return "ok";
    }

    private static String immediate(DemoEnd end) throws InterruptedException {
        WorkCompletion wc = end.await("the peer's receive of the immediate", WcOpcode.RECV_RDMA_WITH_IMM);
        return "ok " + Integer.toUnsignedLong(wc.immediate()) + " " + wc.byteLength();
    }

    // Every byte of the region, also those that should not have been touched; and what the application noticed.
    private String check(DemoEnd end) {
        String difference = DemoEnd.difference(end.region.segment(), expected);
        return difference.isEmpty()
                ? "ok " + (end.completionsTaken() - completionsBefore) + " " + sleepCpuNanos
                : "failed " + difference + " in the peer's memory";
    }

    // Sends each message of 8 bytes back, until one of 1 byte comes.
    private String pong(DemoEnd end, boolean polls) throws InterruptedException {
        if (answering.add(end)) { // each slot is posted again when it was used
            for (int i = 0; i < PONG_SLOTS; i++) {
                end.qp.postReceive(i, end.messages.slice((long) i * Long.BYTES, Long.BYTES));
            }
        }
        // The starter waits for this before its first message.
        answer("ok");
        while (true) {
            WorkCompletion wc = end.take("the peer's ping-pong", WcOpcode.RECV, polls);
            long slot = wc.wrId();
            boolean isLast = wc.byteLength() == DemoEnd.LAST_BYTES;
            if (!isLast) {
                end.send(slot * Long.BYTES, Long.BYTES, polls);
            }
            end.qp.postReceive(slot, end.messages.slice(slot * Long.BYTES, Long.BYTES));
            if (isLast) {
                end.takeSends(polls);
                return "ok";
            }
        }
    }

    private static String tcp(DemoEnd end) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(address(end.context), 0));
        var at = (InetSocketAddress) server.getLocalAddress();
        DemoTcp.serve(server);
        return "ok " + Addresses.ip(at.getAddress()) + " " + at.getPort();
    }
}
