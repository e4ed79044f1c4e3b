package verbena.tools.explain;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import verbena.nic.SoftContext;
import verbena.tools.kit.Closing;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Access;
import verbena.verbs.Completion;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SendBatch;
import verbena.verbs.TransportType;
import verbena.verbs.WcOpcode;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// One end of a run: an application with its device, and what it tells the recorder of everything that it does.
/// For one thread at a time.
final class End implements AutoCloseable {
    /// The time that any step may take before the scenario has failed.
    static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final int COMPLETIONS = 64;

    final Place application;
    final Context context;
    final ProtectionDomain domain;
    final CompletionQueue cq;
    final EventChannel events;

    private final Recorder recorder;
    private final CompletionChannel channel;
    private final WorkCompletion wc = new WorkCompletion();
    private final List<AutoCloseable> opened = new ArrayList<>();
    /// The number of them that were there before the scenario.
    private final int lasting;

    /// @param device the name of the device to open
    End(Place application, String device, Recorder recorder) {
        this.application = application;
        this.recorder = recorder;
        context = call(
                "open the device",
                "From here on the application talks to the device directly, not through the operating system.",
                () -> Device.named(device).open());
        opened.add(context);
        Runnable stop = recorder.tap(context, application.device());
        domain = call(
                "allocate a protection domain",
                "Queue pairs and memory of one protection domain may be used together, others not.",
                context::allocateProtectionDomain);
        channel = context.createCompletionChannel();
        opened.add(channel);
        opened.add(domain);
        cq = call(
                "create a completion queue of " + COMPLETIONS,
                "Here the device reports what is done: a ring in memory that the application reads without a system call.",
                () -> context.createCompletionQueue(
                        CompletionQueueOptions.of(COMPLETIONS).withChannel(channel)));
        opened.add(cq);
        events = EventChannel.open(context);
        opened.add(events);
        if (stop != null) {
            opened.add(stop::run);
        }
        lasting = opened.size();
    }

    /// Gives back what a scenario has made; the device stays open.
    void reset() {
        List<AutoCloseable> props = opened.subList(lasting, opened.size());
        Closing.all(props);
        while (events.poll().isPresent()) {
            // news of what is over
        }
        while (cq.poll(wc) || channel.poll().isPresent()) {
            // likewise
        }
        while (context.pollAsyncEvent().isPresent()) {
            // likewise
        }
    }

    <T> T call(String label, String text, Supplier<T> call) {
        return recorder.call(application, label, text, call);
    }

    void call(String label, String text, Runnable call) {
        recorder.call(application, label, text, () -> {
            call.run();
            return true;
        });
    }

    void step(String label, String text) {
        recorder.step(application, label, text);
    }

    <T extends AutoCloseable> T closing(T object) {
        opened.add(object);
        return object;
    }

    // ---- memory

    /// Registers memory and fills it.
    ///
    /// @param name its name in the recording
    /// @param content of its first bytes; the others are 0
    Watched memory(String name, int bytes, Set<Access> access, byte[] content) {
        return memory(name, bytes, access, content, false);
    }

    /// Registers memory for 64-bit numbers, the first of which has a small value.
    Watched numbers(String name, int bytes, Set<Access> access, int value) {
        return memory(name, bytes, access, new byte[] {(byte) value}, true);
    }

    private Watched memory(String name, int bytes, Set<Access> access, byte[] content, boolean isNumbers) {
        MemoryRegion region = call(
                String.format(Locale.ROOT, "register %,d bytes as %s", bytes, name),
                "Registered memory has keys, and stays where it is, so that the device can access it on its own."
                        + (access.equals(Access.local())
                                ? " Only the own device may use this memory."
                                : " The peer may use it as far as the rights go: " + access + "."),
                () -> domain.allocate(bytes, access));
        opened.add(region);
        MemorySegment.copy(content, 0, region.segment(), ValueLayout.JAVA_BYTE, 0, content.length);
        var memory = new Watched(application, name, region, isNumbers);
        recorder.watch(memory);
        return memory;
    }

    // ---- connections

    ConnectionId id(PortSpace space) {
        ConnectionId id = events.createId(space);
        opened.add(id);
        return id;
    }

    InetSocketAddress address(int port) {
        return new InetSocketAddress(context.gids(1).getFirst().gid().address(), port);
    }

    /// Waits for an event of this kind.
    <E extends ConnectionEvent> E expect(Class<E> wanted) throws InterruptedException {
        ConnectionEvent event = event();
        if (!wanted.isInstance(event)) {
            throw new CommandFailed(application.title() + ": " + wanted.getSimpleName() + " expected, got "
                    + event.getClass().getSimpleName());
        }
        return wanted.cast(event);
    }

    ConnectionEvent event() throws InterruptedException {
        return events.await(TIMEOUT)
                .orElseThrow(() -> new CommandFailed(
                        application.title() + ": no event of the connection in " + TIMEOUT.toSeconds() + " s"));
    }

    /// Waits until the application has the event that the connection is over.
    void disconnected() throws InterruptedException {
        var end = expect(ConnectionEvent.Disconnected.class);
        recorder.told(application, "disconnected, by " + end.by(), "The connection is over: " + end.why() + ".");
    }

    // ---- work

    /// Posts requests: writes them into the send queue, then rings.
    void post(QueuePair queuePair, String label, Consumer<SendBatch> requests) {
        try (SendBatch batch = queuePair.sendBatch()) {
            call(
                    "write: " + label,
                    "The request is written into a slot of the send queue, which is memory that application and device"
                            + " share. This takes no system call, and the bytes to be sent stay where they are.",
                    () -> requests.accept(batch));
            recorder.call(application, "doorbell", this::onDoorbell, batch::submit);
        }
    }

    private String onDoorbell(long began) {
        long sent = recorder.sentByThisThread(began);
        return "Notifies the device of the request in the queue; on a card that is one store to a mapped page."
                + (context instanceof SoftContext
                        ? sent > 0
                                ? " No other thread was driving the software device, so the calling thread did its work itself, before"
                                        + " the call returned: it has sent " + sent
                                        + (sent == 1 ? " packet." : " packets.")
                                : " The work was left to the software device's own thread, or there was nothing to send."
                        : "");
    }

    /// Posts a receive.
    void receive(QueuePair queuePair, long wrId, Watched into, int bytes) {
        call(
                String.format(Locale.ROOT, "post receive %d: %,d bytes at %s", wrId, bytes, into.name),
                "Names the memory for the next message. It has to be posted before the message arrives.",
                () -> {
                    try (ReceiveBatch batch = queuePair.receiveBatch()) {
                        batch.receive(wrId).sge(into.region, 0, bytes).submit();
                    }
                });
    }

    /// Polls until there is a completion.
    Completion poll() {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        long polls = 1;
        while (!cq.poll(wc)) {
            polls++;
            if (System.nanoTime() > deadline) {
                throw new CommandFailed(application.title() + ": no completion in " + TIMEOUT.toSeconds() + " s");
            }
            Thread.onSpinWait();
        }
        return tell("Found by polling: the application looked "
                + (polls == 1 ? "once" : String.format(Locale.ROOT, "%,d times", polls)) + ", and never slept.");
    }

    /// Arms the completion queue before a [#sleep()].
    void arm() {
        call(
                "arm the completion queue",
                "From now on the next completion wakes the thread that waits at the channel.",
                () -> cq.arm());
        step("sleeps at its completion channel", "The application needs no processor until the device wakes it.");
    }

    /// Sleeps until there is a completion.
    Completion sleep() throws InterruptedException {
        boolean woken = false;
        while (!cq.poll(wc)) {
            if (channel.await(TIMEOUT).isEmpty()) {
                throw new CommandFailed(application.title() + ": no completion in " + TIMEOUT.toSeconds() + " s");
            }
            woken = true;
        }
        return tell(
                woken
                        ? "The device has woken the application, which took the completion from its queue: an operating system that"
                                + " has to wake a thread takes longer than all the rest."
                        : "It was there before the application slept.");
    }

    private Completion tell(String how) {
        Completion done = wc.snapshot();
        recorder.told(
                application,
                switch (done) {
                    case Completion.Success success ->
                        "completion " + success.wrId() + ": " + success.opcode() + ", SUCCESS" + details(success);
                    case Completion.Failure failure -> "completion " + failure.wrId() + ": " + failure.status();
                },
                (done instanceof Completion.Failure failure ? failure.explanation() + " " : done(done)) + how);
        return done;
    }

    // Over iWARP nothing acknowledges a WRITE.
    private String done(Completion done) {
        boolean isHandedOver = context.device().transportType() == TransportType.IWARP
                && done instanceof Completion.Success success
                && success.opcode() == WcOpcode.RDMA_WRITE;
        return isHandedOver
                ? "TCP has taken it: over iWARP that is all that the completion of a WRITE says. "
                : "The request is done. ";
    }

    private static String details(Completion.Success done) {
        OptionalInt immediate = done.immediate();
        OptionalInt invalidated = done.invalidatedRkey();
        boolean received = done.opcode() == WcOpcode.RECV || done.opcode() == WcOpcode.RECV_RDMA_WITH_IMM;
        return (received ? String.format(Locale.ROOT, ", %,d bytes", done.byteLength()) : "")
                + (immediate.isPresent() ? ", imm 0x%08x".formatted(immediate.getAsInt()) : "")
                + (invalidated.isPresent() ? ", key 0x%08x is gone".formatted(invalidated.getAsInt()) : "");
    }

    /// Records the asynchronous events of the device, which belong to no request.
    void asyncEvents() {
        for (var event = context.pollAsyncEvent(); event.isPresent(); event = context.pollAsyncEvent()) {
            recorder.told(
                    application,
                    "async event " + event.get().type(),
                    "Something that belongs to no request; the application learns of it by asking for such events.");
        }
    }

    /// Looks at the state of a queue pair.
    void state(QueuePair queuePair) {
        step(
                "queue pair is in " + queuePair.state(),
                switch (queuePair.state()) {
                    case ERR -> "It can send nothing more: further requests are flushed. To continue, connect again.";
                    case RTS -> "Ready to send: it works.";
                    default -> "Its state now.";
                });
    }

    @Override
    public void close() {
        Closing.all(opened);
    }
}
