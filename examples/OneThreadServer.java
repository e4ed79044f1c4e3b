import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.IntStream;
import verbena.verbs.*;
import verbena.verbs.cm.*;

/// A server whose one thread takes connections, and receives and answers the messages of all clients. It sleeps in a
/// waiter while there is nothing to do. All connections share its completion queue and its receives.
///
/// Prints: 30 clients got 30 right answers
public class OneThreadServer implements AutoCloseable {
    private static final int CLIENTS = 30, BYTES = 64; // each client has one message of up to 64 bytes outstanding
    private static final int RECEIVES = 64, SENDS = 64; // of all connections; of each (the default)
    private static final int ANSWER = RECEIVES; // the wr_id of sends; those of receives are smaller

    private final Context device = Device.named("rocev2").open();
    private final ProtectionDomain domain = device.allocateProtectionDomain();
    private final CompletionChannel channel = device.createCompletionChannel();
    private final CompletionQueue completions = device.createCompletionQueue(
            CompletionQueueOptions.of(RECEIVES + CLIENTS * SENDS).withChannel(channel)); // room for all requests
    private final SharedReceiveQueue receives = domain.createSharedReceiveQueue(RECEIVES, 1);
    private final MemoryRegion inbox = domain.allocate(RECEIVES * BYTES, Access.local());
    private final ConnectionListener listener = ConnectionListener.bind(
            new InetSocketAddress(device.gid(1, 0).gid().address(), 0),
            ConnectionOptions.defaults().withProtectionDomain(domain)
                    .withCompletionQueues(completions, completions).withSharedReceiveQueue(receives));
    private final Waiter<Runnable> waiter = new Waiter<>();
    private final WorkCompletion wc = new WorkCompletion();
    private final Set<Connection> open = ConcurrentHashMap.newKeySet();
    private volatile boolean isRunning = true;

    Void run() throws InterruptedException {
        for (int i = 0; i < RECEIVES; i++) {
            receives.postReceive(i, inbox.slice(i * BYTES, BYTES));
        }
        completions.arm();
        waiter.add(channel, () -> channel.poll().ifPresent(_ -> takeCompletions()));
        waiter.add(listener, () -> listener.poll().ifPresent(this::serve));
        while (isRunning) {
            waiter.await().ifPresent(Runnable::run); // empty after a wake-up
        }
        return null;
    }

    private void serve(Connection connection) {
        open.add(connection);
        send(connection.queuePair(), "welcome"); // the first message: the client sends its own after it
        waiter.add(connection.whenClosed(), () -> close(connection));
    }

    private void close(Connection ended) {
        open.remove(ended);
        ended.close();
    }

    private void takeCompletions() {
        completions.arm(); // before polling, so whatever comes after the last poll brings a notification
        while (completions.poll(wc)) {
            QueuePair from = device.queuePair(wc.qpn()); // null when closed
            if (wc.wrId() < ANSWER) {
                var slot = inbox.slice(wc.wrId() * BYTES, BYTES);
                if (wc.ok() && from != null) {
                    byte[] text = slot.segment().asSlice(0, wc.byteLength()).toArray(ValueLayout.JAVA_BYTE);
                    send(from, new String(text).toUpperCase());
                }
                receives.postReceive(wc.wrId(), slot);
            } // else an answer was sent, or its connection has ended: whenClosed says so
        }
    }

    private static void send(QueuePair to, String text) {
        try (SendBatch batch = to.sendBatch()) {
            batch.send(ANSWER).inline(MemorySegment.ofArray(text.getBytes())).signaled().submit();
        } catch (VerbsException e) { // it does not take its answers, or has ended
            System.err.println("no answer to " + to + ": " + e.getMessage());
        }
    }

    @Override
    public void close() {
        open.forEach(Connection::close);
        waiter.close();
        listener.close();
        List.of(inbox, receives, completions, channel, domain, device).forEach(VerbsObject::close);
    }

    private static int ask(InetSocketAddress server, int number) throws InterruptedException {
        try (var connection = Connection.connect(server, ConnectionOptions.defaults().withReceivesAhead(BYTES))) {
            connection.receiveText(BYTES); // it is welcome
            connection.send("client " + number);
            return connection.receiveText(BYTES).equals("CLIENT " + number) ? 1 : 0;
        }
    }

    public static void main(String[] args) throws Exception {
        int right = 0;
        try (var threads = Executors.newVirtualThreadPerTaskExecutor(); var server = new OneThreadServer()) {
            var serving = threads.submit(server::run);
            var to = server.listener.localAddress();
            for (var each : IntStream.range(0, CLIENTS).mapToObj(i -> threads.submit(() -> ask(to, i))).toList()) {
                right += each.get();
            }
            server.isRunning = false;
            server.waiter.wakeup();
            serving.get(); // it no longer uses what close() closes
        }
        System.out.println(CLIENTS + " clients got " + right + " right answers");
    }
}
