package verbena.bench;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import verbena.messages.ActiveMessage;
import verbena.messages.Call;
import verbena.messages.Received;
import verbena.messages.RemoteWorker;
import verbena.messages.TagFilter;
import verbena.messages.WorkerListener;
import verbena.messages.WorkerOptions;
import verbena.tools.report.Result;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Pending;

/// An end of `verbena.messages`: it answers, or it asks and measures. Both ends know the number of messages.
final class MessagesEnd implements WorkerEnd {
    /// Printed by the end that answers when it is ready for the first message.
    static final String READY = "ready";

    static final String TAG_LATENCY = "tag-lat";
    static final String TAG_BANDWIDTH = "tag-bw";
    static final String ACTIVE_LATENCY = "active-lat";
    static final String ACTIVE_BANDWIDTH = "active-bw";
    static final String CALL_LATENCY = "call-lat";
    static final String CALL_RATE = "call-rate";
    /// Calls that the thread answers that reads.
    static final String PROMPT_CALL_LATENCY = "prompt-call-lat";

    static final String PROMPT_CALL_RATE = "prompt-call-rate";
    /// The number of calls that a worker has under way by default.
    static final int CALLS_AT_ONCE = 64;

    private static final int WINDOW = 16;
    private static final int ECHOED = 1;
    private static final int COUNTED = 2;
    private static final Duration LIMIT = Duration.ofSeconds(20);
    /// A wait with a limit makes an object for each time that it sleeps. An end that hangs is ended by its parent.

    private static final int SAMPLES_MAX = 1_000_000;

    private final long[] nanos = new long[SAMPLES_MAX];
    private MemorySegment out = MemorySegment.NULL;
    private MemorySegment in = MemorySegment.NULL;
    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private verbena.messages.@Nullable Worker worker;
    /// The peer, at the end that answers.
    private @Nullable CompletableFuture<RemoteWorker> accepted;

    private @Nullable RemoteWorker peer;

    // Of the thread that reads, which runs the handlers and is the one that waits.
    private MemorySegment data = MemorySegment.NULL;
    private int handled;
    private int wanted;
    private long sent;

    @Override
    public Object order(String[] words) throws Exception {
        if (words[0].equals("listen")) {
            return Map.of("port", listen(words[1]));
        }
        if (words[0].equals("connect")) {
            verbena.messages.Worker made = open(words[1]);
            peer = made.connect(new InetSocketAddress(words[2], Integer.parseInt(words[3])));
            return Map.of();
        }
        RemoteWorker to = peer();
        int size = Integer.parseInt(words[1]);
        int count = Integer.parseInt(words[2]);
        data = out.asSlice(0, size);
        handled = 0;
        wanted = count;
        long before = threads.getTotalThreadAllocatedBytes();
        long start = System.nanoTime();
        boolean asks = accepted == null;
        if (!asks) {
            answer(words[0].startsWith("prompt"));
            System.out.println(READY);
        }
        switch (words[0]) {
            case TAG_LATENCY -> tagLatency(to, in.asSlice(0, size), asks);
            case TAG_BANDWIDTH -> tagBandwidth(to, in.asSlice(0, size), asks);
            case ACTIVE_LATENCY -> activeLatency(to, asks);
            case ACTIVE_BANDWIDTH -> activeBandwidth(to, asks);
            case CALL_LATENCY, PROMPT_CALL_LATENCY -> callLatency(to, asks);
            default -> callRate(to, asks);
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        long allocated = threads.getTotalThreadAllocatedBytes() - before;
        Result result = words[0].endsWith("-bw") || words[0].endsWith("-rate")
                ? Figures.stream(size, count, seconds)
                : Figures.roundTrips(size, nanos, Math.min(count, SAMPLES_MAX));
        return Map.of("result", result, "allocated", allocated);
    }

    private verbena.messages.Worker open(String name) {
        Context device = Device.named(name).open();
        var made = verbena.messages.Worker.open(device, WorkerOptions.defaults());
        made.onActive(ECHOED, this::echo);
        made.onActive(COUNTED, _ -> handled++);
        worker = made;
        out = made.allocate(Sizes.HUGE);
        in = made.allocate(Sizes.HUGE);
        return made;
    }

    private String listen(String name) throws Exception {
        verbena.messages.Worker made = open(name);
        int at = name.indexOf('@');
        InetAddress address = at < 0 ? InetAddress.getLoopbackAddress() : InetAddress.getByName(name.substring(at + 1));
        WorkerListener listening = made.listen(new InetSocketAddress(address, 0));
        accepted = accepted(listening); // at once: the other end waits while it connects
        return listening.localAddress().getAddress().getHostAddress() + " "
                + listening.localAddress().getPort();
    }

    private static CompletableFuture<RemoteWorker> accepted(WorkerListener listening) {
        var made = new CompletableFuture<RemoteWorker>();
        Thread.startVirtualThread(() -> {
            try {
                made.complete(listening.accept());
            } catch (InterruptedException | RuntimeException e) {
                made.completeExceptionally(e);
            }
        });
        return made;
    }

    private RemoteWorker peer() throws Exception {
        if (peer == null && accepted != null) {
            peer = accepted.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
        if (peer == null) {
            throw new Child.Failed("connect comes first");
        }
        return peer;
    }

    /// Records the time of a message. A message begins when the message before it has been answered. So the clock
    /// is read once for each, as `ucx_perftest` does.
    private void sample(int i) {
        long now = System.nanoTime();
        if (i < SAMPLES_MAX) {
            nanos[i] = now - sent;
        }
        sent = now;
    }

    private static void await(Pending<?> what) throws InterruptedException {
        if (!what.await(LIMIT)) {
            throw new Child.Failed("a message has not come for " + LIMIT.toSeconds() + " s");
        }
    }

    // ---- messages with tags

    /// Measures the latency of tagged messages. A receive is posted behind the message to the other end, and before
    /// that end can answer, as `ucx_perftest` does.
    private void tagLatency(RemoteWorker to, MemorySegment into, boolean asks) throws InterruptedException {
        if (asks) {
            sent = System.nanoTime();
            for (int i = 0; i < wanted; i++) {
                var _ = to.postSend(0, data);
                await(to.postReceive(TagFilter.any(), into));
                sample(i);
            }
            return;
        }
        Pending<Received> next = to.postReceive(TagFilter.any(), into);
        for (int i = 1; i <= wanted; i++) {
            await(next);
            var _ = to.postSend(0, data);
            if (i < wanted) {
                next = to.postReceive(TagFilter.any(), into);
            }
        }
    }

    /// Measures the bandwidth of tagged messages, with a window of messages under way.
    private void tagBandwidth(RemoteWorker to, MemorySegment into, boolean asks) throws InterruptedException {
        var window = new Pending<?>[WINDOW];
        for (int i = 0; i < wanted; i++) {
            if (i >= WINDOW) {
                await(window[i % WINDOW]);
            }
            window[i % WINDOW] = asks ? to.postSend(0, data) : to.postReceive(TagFilter.any(), into);
        }
        for (int i = Math.max(0, wanted - WINDOW); i < wanted; i++) {
            await(window[i % WINDOW]);
        }
    }

    // ---- active messages

    private void echo(ActiveMessage message) {
        handled++;
        if (accepted != null) {
            message.copyData(data);
            send(message.from());
        } else {
            sample(handled - 1);
            if (handled < wanted) {
                send(message.from());
            }
        }
    }

    private void send(RemoteWorker to) {
        if (!to.tryPostActive(ECHOED, MemorySegment.NULL, data)) {
            var _ = to.postActive(ECHOED, MemorySegment.NULL, data); // no credit at this moment
        }
    }

    private void activeLatency(RemoteWorker to, boolean asks) throws InterruptedException {
        if (asks) {
            sent = System.nanoTime();
            send(to);
        }
        awaitHandled();
    }

    private void activeBandwidth(RemoteWorker to, boolean asks) throws InterruptedException {
        if (!asks) {
            awaitHandled();
            return;
        }
        var window = new Pending<?>[WINDOW];
        for (int i = 0; i < wanted; i++) {
            if (i >= WINDOW) {
                await(window[i % WINDOW]);
            }
            window[i % WINDOW] = to.postActive(COUNTED, MemorySegment.NULL, data);
        }
        for (int i = Math.max(0, wanted - WINDOW); i < wanted; i++) {
            await(window[i % WINDOW]);
        }
    }

    private void awaitHandled() throws InterruptedException {
        verbena.messages.Worker own = worker;
        if (own == null) {
            throw new Child.Failed("there is no worker yet");
        }
        own.await(() -> handled >= wanted);
    }

    // ---- calls

    private void answer(boolean isPrompt) {
        verbena.messages.Worker own = worker;
        if (own != null && isPrompt) {
            own.answerCallsAtOnce(Call::request);
        } else if (own != null) {
            own.answerCalls(Call::request);
        }
    }

    /// Measures the latency of calls. The end that answers has nothing to do: its worker answers.
    private void callLatency(RemoteWorker to, boolean asks) throws InterruptedException {
        byte[] request = data.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
        sent = System.nanoTime();
        for (int i = 0; asks && i < wanted; i++) {
            byte[] _ = to.call(request, LIMIT);
            sample(i);
        }
    }

    private void callRate(RemoteWorker to, boolean asks) throws InterruptedException {
        var window = new Pending<?>[CALLS_AT_ONCE];
        for (int i = 0; asks && i < wanted + CALLS_AT_ONCE; i++) {
            Pending<?> oldest = window[i % CALLS_AT_ONCE];
            if (oldest != null) {
                await(oldest);
            }
            window[i % CALLS_AT_ONCE] = i < wanted ? to.postCall(data, LIMIT) : null;
        }
    }
}
