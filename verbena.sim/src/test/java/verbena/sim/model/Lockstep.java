package verbena.sim.model;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import verbena.nic.SoftContext;
import verbena.sim.NetworkFaults;
import verbena.transport.Protocol;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.AsyncEvent;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.Endpoint;
import verbena.verbs.EndpointOptions;
import verbena.verbs.FlushTarget;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpModification;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SendBatch;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.VerbsObject;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.XrcDomain;

/// Real devices in a world and their model, asked and done the same, and compared after every call.
final class Lockstep {
    /// Of each device, for regions to be made from.
    static final int MEMORY_BYTES = 32 << 10;
    /// For packets' ways, and for queue pairs that wait without end to ask once more; where packets get lost, for
    /// retries.
    private static final long GRACE_NANOS = 2_000_000;
    private static final long GRACE_WITH_FAULTS_NANOS = 100_000_000;
    private static final int NAKS_WITH_FAULTS = 6;
    /// Everything has to come to rest within this.
    private static final long PATIENCE_NANOS = 1_000_000_000;

    /// A device and its model.
    final class DevicePair {
        final int number;
        private final String name;
        final SoftContext context;
        final ModelDevice model;
        final ModelMemory memory;
        private final MemorySegment realMemory;
        private final Map<ModelMemory, MemorySegment> memories = new HashMap<>();
        private final List<NakTap> taps = new ArrayList<>();

        DevicePair(int number, SplittableRandom random) {
            this.number = number;
            WalkWorld.Opened opened = world.open(link -> {
                var tap = new NakTap(link, faulty ? NAKS_WITH_FAULTS : 1);
                taps.add(tap);
                return tap;
            });
            name = opened.name();
            context = opened.context();
            model = new ModelDevice(
                    context.gids(1).stream().map(GidEntry::gid).toList(),
                    context.port(1).activeMtu());
            byte[] initial = new byte[MEMORY_BYTES];
            random.nextBytes(initial);
            memory = new ModelMemory(initial);
            realMemory = opened.memory();
            realMemory.copyFrom(MemorySegment.ofArray(initial));
            memories.put(memory, realMemory);
        }

        /// Memory that a region brought is gone with it.
        private void forget(ModelMemory gone) {
            if (gone != memory) {
                memories.remove(gone);
            }
        }

        private Set<NakTap.Refused> refused() {
            var refused = new HashSet<NakTap.Refused>();
            taps.forEach(tap -> refused.addAll(tap.take()));
            return refused;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private final WalkWorld world;
    final List<DevicePair> pairs = new ArrayList<>();
    final Model model;
    private final Map<ModelObject, VerbsObject> reals = new HashMap<>();
    private final Map<VerbsObject, ModelObject> models = new HashMap<>();
    private final WorkCompletion wc = new WorkCompletion();
    private final @Nullable List<String> log;
    private final Set<WcStatus> statuses = EnumSet.noneOf(WcStatus.class);
    private final Set<WcStatus> extendedStatuses = EnumSet.noneOf(WcStatus.class);
    private final Set<WcOpcode> extendedOpcodes = EnumSet.noneOf(WcOpcode.class);
    private final Set<AsyncEvent.Type> events = EnumSet.noneOf(AsyncEvent.Type.class);
    private final boolean faulty;
    private int calls;

    /// @param faults what the network does to packets
    /// @param log where calls are written; null when no log is wanted
    Lockstep(long seed, int devices, NetworkFaults faults, @Nullable List<String> log) {
        this(WalkWorld.simulated(seed, faults), devices, !faults.equals(NetworkFaults.NONE), log);
    }

    /// @param faulty whether packets get lost
    Lockstep(WalkWorld world, int devices, boolean faulty, @Nullable List<String> log) {
        this.world = world;
        this.faulty = faulty;
        this.log = log;
        for (int i = 0; i < devices; i++) {
            pairs.add(new DevicePair(i, world.random()));
        }
        model = new Model(pairs.stream().map(pair -> pair.model).toList());
    }

    /// Closes the devices, on which everything is closed.
    void close() {
        world.close();
    }

    /// Gives back what the system would keep, whatever is open.
    void abandon() {
        world.abandon();
    }

    /// Verbs calls so far.
    int calls() {
        return calls;
    }

    /// How requests have ended so far.
    Set<WcStatus> statuses() {
        return statuses;
    }

    /// How requests and receives of extended connections have ended so far.
    Set<WcStatus> extendedStatuses() {
        return extendedStatuses;
    }

    /// What has succeeded on extended connections so far.
    Set<WcOpcode> extendedOpcodes() {
        return extendedOpcodes;
    }

    /// Which events there have been.
    Set<AsyncEvent.Type> events() {
        return events;
    }

    private void log(Supplier<String> text) {
        if (log != null) {
            log.add(text.get());
        }
    }

    // ---- comparing one call

    /// Does a call on the device: true when it was done and had to be, false when it was refused for one of the
    /// reasons why it had to be.
    private boolean call(Supplier<String> text, List<Refusal> reasons, Runnable real) {
        calls++;
        log(text);
        try {
            real.run();
        } catch (RuntimeException e) {
            log(() -> "    refused: " + e.getMessage());
            if (reasons.stream().noneMatch(reason -> reason.isToldBy(e))) {
                throw new Disagreement(
                        text.get() + ": " + e + "; the model " + (reasons.isEmpty() ? "allows it" : "says " + reasons),
                        e);
            }
            return false;
        }
        if (!reasons.isEmpty()) {
            throw new Disagreement(text.get() + ": was done; the model says " + reasons);
        }
        return true;
    }

    private <M extends ModelObject> M made(M modelled, VerbsObject real) {
        reals.put(modelled, real);
        models.put(real, modelled);
        return modelled;
    }

    private <R> R real(ModelObject object, Class<R> type) {
        return type.cast(Objects.requireNonNull(reals.get(object)));
    }

    // ---- verbs

    ModelDomain allocateDomain(DevicePair pair) {
        var made = new ProtectionDomain[1];
        call(
                () -> pair + " allocateProtectionDomain",
                List.of(),
                () -> made[0] = pair.context.allocateProtectionDomain());
        return made(pair.model.allocateDomain(), made[0]);
    }

    @Nullable
    ModelRegion register(DevicePair pair, ModelDomain domain, int offset, int length, long iova, Set<Access> access) {
        var made = new MemoryRegion[1];
        boolean done = call(
                () -> pair + " register " + offset + " len " + length + " at 0x" + Long.toHexString(iova) + " "
                        + access,
                pair.model.mayRegister(domain, length, iova, access),
                () -> made[0] = real(domain, ProtectionDomain.class)
                        .register(pair.realMemory.asSlice(offset, length), iova, access));
        return done
                ? made(pair.model.register(domain, pair.memory, offset, length, iova, access, made[0].rkey()), made[0])
                : null;
    }

    @Nullable
    ModelRegion allocate(DevicePair pair, ModelDomain domain, int bytes, Set<Access> access) {
        var made = new MemoryRegion[1];
        boolean done = call(
                () -> pair + " allocate " + bytes + " " + access,
                pair.model.mayAllocate(domain, bytes, access),
                () -> made[0] = real(domain, ProtectionDomain.class).allocate(bytes, access));
        if (!done) {
            return null;
        }
        var memory = new ModelMemory(new byte[bytes]);
        pair.memories.put(memory, made[0].segment());
        return made(pair.model.register(domain, memory, 0, bytes, made[0].address(), access, made[0].rkey()), made[0]);
    }

    void reregister(ModelRegion region, ModelDomain to, Set<Access> access) {
        if (call(
                () -> text(region) + " reregister " + access,
                region.mayReregister(to, access),
                () -> real(region, MemoryRegion.class).reregister(real(to, ProtectionDomain.class), access))) {
            region.reregister(to, access);
        }
    }

    @Nullable
    ModelWindow allocateWindow(DevicePair pair, ModelDomain domain, int type) {
        var made = new MemoryWindow[1];
        return call(
                        () -> pair + " allocateWindow " + type,
                        pair.model.mayAllocateWindow(domain, type),
                        () -> made[0] =
                                real(domain, ProtectionDomain.class).allocateWindow(MemoryWindow.Type.ofCode(type)))
                ? made(pair.model.allocateWindow(domain, type, made[0].rkey()), made[0])
                : null;
    }

    ModelChannel createChannel(DevicePair pair) {
        var made = new CompletionChannel[1];
        call(
                () -> pair + " createCompletionChannel",
                List.of(),
                () -> made[0] = pair.context.createCompletionChannel());
        return made(pair.model.createChannel(), made[0]);
    }

    @Nullable
    ModelCompletionQueue createCompletionQueue(DevicePair pair, int entries, Optional<ModelChannel> channel) {
        var made = new CompletionQueue[1];
        return call(
                        () -> pair + " createCompletionQueue " + entries,
                        pair.model.mayCreateCompletionQueue(entries, channel),
                        () -> made[0] = pair.context.createCompletionQueue(new CompletionQueueOptions(
                                entries, channel.map(one -> real(one, CompletionChannel.class)), false)))
                ? made(pair.model.createCompletionQueue(entries, channel), made[0])
                : null;
    }

    @Nullable
    ModelSharedReceiveQueue createSharedReceiveQueue(DevicePair pair, ModelDomain domain, int maxWr, int maxSge) {
        var made = new SharedReceiveQueue[1];
        return call(
                        () -> pair + " createSharedReceiveQueue " + maxWr + " " + maxSge,
                        pair.model.mayCreateSharedReceiveQueue(domain, maxWr, maxSge),
                        () -> made[0] = real(domain, ProtectionDomain.class).createSharedReceiveQueue(maxWr, maxSge))
                ? made(pair.model.createSharedReceiveQueue(domain, maxWr, maxSge), made[0])
                : null;
    }

    ModelXrcDomain openXrcDomain(DevicePair pair) {
        var made = new XrcDomain[1];
        call(() -> pair + " openXrcDomain", List.of(), () -> made[0] = pair.context.openXrcDomain());
        return made(pair.model.openXrcDomain(), made[0]);
    }

    /// A queue that peers name.
    @Nullable
    ModelSharedReceiveQueue createSharedReceiveQueue(
            ModelXrcDomain xrcDomain, ModelDomain domain, ModelCompletionQueue cq, int maxWr, int maxSge) {
        var made = new SharedReceiveQueue[1];
        return call(
                        () -> text(xrcDomain) + " createSharedReceiveQueue " + maxWr + " " + maxSge,
                        xrcDomain.mayCreateSharedReceiveQueue(domain, cq, maxWr, maxSge),
                        () -> made[0] = real(xrcDomain, XrcDomain.class)
                                .createSharedReceiveQueue(
                                        real(domain, ProtectionDomain.class),
                                        real(cq, CompletionQueue.class),
                                        maxWr,
                                        maxSge))
                ? made(
                        xrcDomain.createSharedReceiveQueue(
                                domain, cq, maxWr, maxSge, made[0].number().orElseThrow()),
                        made[0])
                : null;
    }

    @Nullable
    ModelQueuePair createTarget(ModelXrcDomain xrcDomain) {
        var made = new QueuePair[1];
        return call(
                        () -> text(xrcDomain) + " createTarget",
                        xrcDomain.mayCreateTarget(),
                        () -> made[0] = real(xrcDomain, XrcDomain.class).createTarget())
                ? made(xrcDomain.createTarget(made[0].query().options(), made[0].qpn()), made[0])
                : null;
    }

    /// @param choices everything but type and queues
    @Nullable
    ModelQueuePair createQueuePair(
            DevicePair pair,
            ModelDomain domain,
            QpType type,
            UnaryOperator<QueuePairOptions> choices,
            ModelCompletionQueue sendCq,
            ModelCompletionQueue receiveCq,
            @Nullable ModelSharedReceiveQueue srq) {
        QueuePairOptions own = choices.apply(QueuePairOptions.of(type, real(sendCq, CompletionQueue.class)))
                .withReceiveCq(real(receiveCq, CompletionQueue.class));
        QueuePairOptions options = srq == null ? own : own.withSharedReceiveQueue(real(srq, SharedReceiveQueue.class));
        var made = new QueuePair[1];
        return call(
                        () -> pair + " createQueuePair " + options.type(),
                        pair.model.mayCreateQueuePair(domain, options, sendCq, receiveCq, srq),
                        () -> made[0] = real(domain, ProtectionDomain.class).createQueuePair(options))
                ? made(pair.model.createQueuePair(domain, options, sendCq, receiveCq, srq, made[0].qpn()), made[0])
                : null;
    }

    void close(ModelObject object) {
        if (call(
                () -> text(object) + " close",
                object.mayClose(),
                () -> Objects.requireNonNull(reals.get(object)).close())) {
            object.close();
            if (object instanceof ModelRegion region) {
                pairs.forEach(pair -> pair.forget(region.memory()));
            }
        }
    }

    void modify(ModelQueuePair queuePair, QpModification change) {
        if (call(
                () -> text(queuePair) + " modify " + change,
                queuePair.mayModify(change),
                () -> real(queuePair, QueuePair.class).modify(change))) {
            queuePair.modify(change);
        }
    }

    /// Each with what the other's endpoint says.
    void connect(ModelQueuePair one, ModelQueuePair other, int gid, EndpointOptions choices) {
        Endpoint ofOne = real(one, QueuePair.class).endpoint(gid);
        Endpoint ofOther = real(other, QueuePair.class).endpoint(gid);
        connect(one, ofOne, ofOther, choices);
        if (one != other) {
            connect(other, ofOther, ofOne, choices);
        }
    }

    private void connect(ModelQueuePair own, Endpoint ofOwn, Endpoint remote, EndpointOptions choices) {
        if (call(
                () -> text(own) + " connect " + remote + " " + choices,
                own.mayConnect(remote, choices),
                () -> real(own, QueuePair.class).connect(remote, choices))) {
            own.connect(ofOwn, remote, choices);
        }
    }

    void query(ModelQueuePair queuePair) {
        QueuePair real = real(queuePair, QueuePair.class);
        if (call(() -> text(queuePair) + " query", queuePair.mayQuery(), () -> {
            var expected = queuePair.query(queuePair.options());
            var actual = real.query();
            if (!expected.equals(actual)) {
                throw new Disagreement(text(queuePair) + " query: " + actual + "; the model says " + expected);
            }
        })) {
            agree(real.state() == queuePair.state(), () -> text(queuePair) + " state");
        }
    }

    /// A send request, and how its pieces are named.
    ///
    /// @param region when they are all of this region, by offset
    record Posted(ModelSend send, @Nullable ModelRegion region) {}

    void send(ModelQueuePair queuePair, List<Posted> requests) {
        QueuePair real = real(queuePair, QueuePair.class);
        var batch = new SendBatch[1];
        if (!call(() -> text(queuePair) + " send", queuePair.maySend(), () -> batch[0] = real.sendBatch())) {
            return;
        }
        try (SendBatch open = batch[0]) {
            var handedOver = new ArrayList<ModelSend>();
            for (Posted posted : requests) {
                var reasons = new Refusal.Reasons().and(queuePair.maySend(handedOver.size(), posted.send));
                names(queuePair.domain(), posted.region, posted.send.pieces()).forEach(reasons::and);
                boolean late = isToldLate(queuePair, posted.send);
                if (late) { // only the end of the request shows it
                    if (call(() -> "    " + posted.send, reasons.list(), () -> {
                        write(open, posted);
                        open.submit();
                    })) {
                        throw new AssertionError("what cannot be posted was posted");
                    }
                } else if (call(() -> "    " + posted.send, reasons.list(), () -> write(open, posted))) {
                    handedOver.add(posted.send);
                }
            }
            if (requests.stream().anyMatch(each -> each.send.operation() == ModelSend.Operation.SEND_WITH_INVALIDATE)) {
                pairs.forEach(each -> each.taps.forEach(tap -> tap.repeatAnswersTo(queuePair.qpn())));
            }
            call(() -> "    submit", queuePair.maySend(), open::submit);
            handedOver.forEach(queuePair::send);
        }
    }

    private static boolean isToldLate(ModelQueuePair queuePair, ModelSend send) {
        boolean atomic = send.operation().isAtomic()
                && (send.pieces().size() != 1 || send.pieces().getFirst().length() != Long.BYTES);
        boolean datagram = queuePair.type() == QpType.UD
                && (send.handle() == null
                        || send.bytes() > queuePair.device().activeMtu().bytes());
        boolean extended =
                queuePair.type() == QpType.XRC_INITIATOR && !send.operation().isLocal() && !send.namesQueue();
        return atomic || datagram || extended;
    }

    private static List<List<Refusal>> names(ModelDomain domain, @Nullable ModelRegion region, List<Piece> pieces) {
        return region == null
                ? List.of()
                : pieces.stream()
                        .map(piece ->
                                PostRules.mayName(domain, region, piece.address() - region.iova(), piece.length()))
                        .toList();
    }

    private void write(SendBatch batch, Posted posted) {
        ModelSend send = posted.send;
        switch (send.operation()) {
            case SEND -> batch.send(send.wrId());
            case SEND_WITH_IMMEDIATE -> batch.sendWithImmediate(send.wrId(), send.number());
            case SEND_WITH_INVALIDATE -> batch.sendWithInvalidate(send.wrId(), send.number());
            case WRITE -> batch.write(send.wrId(), send.remoteAddress(), send.rkey());
            case WRITE_WITH_IMMEDIATE ->
                batch.writeWithImmediate(send.wrId(), send.remoteAddress(), send.rkey(), send.number());
            case READ -> batch.read(send.wrId(), send.remoteAddress(), send.rkey());
            case FETCH_ADD -> batch.fetchAdd(send.wrId(), send.remoteAddress(), send.rkey(), send.operand());
            case COMPARE_SWAP ->
                batch.compareSwap(send.wrId(), send.remoteAddress(), send.rkey(), send.operand(), send.swap());
            case LOCAL_INVALIDATE -> batch.localInvalidate(send.wrId(), send.number());
            case BIND_WINDOW ->
                batch.bindWindow(
                        send.wrId(),
                        real(send.window(), MemoryWindow.class),
                        send.rkey(),
                        real(send.region(), MemoryRegion.class),
                        send.remoteAddress(),
                        send.length(),
                        send.access());
            case ATOMIC_WRITE -> batch.atomicWrite(send.wrId(), send.remoteAddress(), send.rkey(), send.operand());
            case FLUSH -> {
                Set<FlushTarget> targets = targets(send.access());
                if (send.isWhole()) {
                    batch.flushRegion(send.wrId(), send.rkey(), targets);
                } else {
                    batch.flush(send.wrId(), send.remoteAddress(), send.rkey(), (int) send.length(), targets);
                }
            }
        }
        for (Piece piece : send.pieces()) {
            if (posted.region != null) {
                batch.sge(
                        real(posted.region, MemoryRegion.class),
                        piece.address() - posted.region.iova(),
                        piece.length());
            } else {
                batch.sge(piece.lkey(), piece.address(), piece.length());
            }
        }
        byte[] inline = send.inline();
        if (inline != null) {
            batch.inline(MemorySegment.ofArray(inline));
        }
        ModelAddressHandle handle = send.handle();
        if (handle != null) {
            batch.to(real(handle, AddressHandle.class), send.qpn(), send.qkey());
        }
        if (send.namesQueue()) {
            batch.to(send.srqNumber());
        }
        if (send.signaled()) {
            batch.signaled();
        }
        if (send.fenced()) {
            batch.fenced();
        }
        if (send.solicited()) {
            batch.solicited();
        }
    }

    private static Set<FlushTarget> targets(Set<Access> rights) {
        var targets = EnumSet.noneOf(FlushTarget.class);
        if (rights.contains(Access.FLUSH_GLOBAL)) {
            targets.add(FlushTarget.GLOBAL);
        }
        if (rights.contains(Access.FLUSH_PERSISTENT)) {
            targets.add(FlushTarget.PERSISTENT);
        }
        return targets;
    }

    void receive(ModelQueuePair queuePair, ModelReceive receive, @Nullable ModelRegion region) {
        QueuePair real = real(queuePair, QueuePair.class);
        if (call(
                () -> text(queuePair) + " receive " + receive,
                new Refusal.Reasons()
                        .and(queuePair.mayReceive())
                        .and(queuePair.mayReceive(0, receive))
                        .and(flat(names(queuePair.domain(), region, receive.pieces())))
                        .list(),
                () -> post(real::receiveBatch, receive, region))) {
            queuePair.receive(receive);
        }
    }

    void receive(ModelSharedReceiveQueue srq, ModelReceive receive, @Nullable ModelRegion region) {
        SharedReceiveQueue real = real(srq, SharedReceiveQueue.class);
        if (call(
                () -> text(srq) + " receive " + receive,
                new Refusal.Reasons()
                        .and(srq.mayPost(0, receive))
                        .and(flat(names(srq.domain(), region, receive.pieces())))
                        .list(),
                () -> post(real::receiveBatch, receive, region))) {
            srq.post(receive);
        }
    }

    private static List<Refusal> flat(List<List<Refusal>> lists) {
        return lists.stream().flatMap(List::stream).toList();
    }

    private void post(Supplier<ReceiveBatch> begin, ModelReceive receive, @Nullable ModelRegion region) {
        try (ReceiveBatch batch = begin.get()) {
            batch.receive(receive.wrId());
            for (Piece piece : receive.pieces()) {
                if (region != null) {
                    batch.sge(real(region, MemoryRegion.class), piece.address() - region.iova(), piece.length());
                } else {
                    batch.sge(piece.lkey(), piece.address(), piece.length());
                }
            }
            batch.submit();
        }
    }

    @Nullable
    ModelAddressHandle createAddressHandle(DevicePair pair, ModelDomain domain, AddressVector way) {
        var made = new AddressHandle[1];
        return call(
                        () -> pair + " createAddressHandle " + way,
                        pair.model.mayCreateAddressHandle(domain, way),
                        () -> made[0] = real(domain, ProtectionDomain.class).createAddressHandle(way))
                ? made(pair.model.createAddressHandle(domain, way), made[0])
                : null;
    }

    void attach(ModelQueuePair queuePair, Gid group) {
        if (call(
                () -> text(queuePair) + " attach " + group,
                queuePair.mayAttach(group),
                () -> real(queuePair, QueuePair.class).attachMulticast(group))) {
            queuePair.attach(group);
        }
    }

    void detach(ModelQueuePair queuePair, Gid group) {
        if (call(
                () -> text(queuePair) + " detach " + group,
                queuePair.mayDetach(group),
                () -> real(queuePair, QueuePair.class).detachMulticast(group))) {
            queuePair.detach(group);
        }
    }

    void armLimit(ModelSharedReceiveQueue srq, int limit) {
        SharedReceiveQueue real = real(srq, SharedReceiveQueue.class);
        if (call(() -> text(srq) + " armLimit " + limit, srq.mayArm(limit), () -> real.armLimit(limit))) {
            srq.arm(limit);
            agree(real.limit() == srq.limit(), () -> text(srq) + " limit");
        }
    }

    void arm(ModelCompletionQueue queue, boolean solicitedOnly) {
        if (call(
                () -> text(queue) + " arm " + solicitedOnly,
                queue.mayArm(),
                solicitedOnly
                        ? real(queue, CompletionQueue.class)::armSolicited
                        : real(queue, CompletionQueue.class)::arm)) {
            queue.arm(solicitedOnly);
        }
    }

    void resize(ModelCompletionQueue queue, int entries) {
        CompletionQueue real = real(queue, CompletionQueue.class);
        if (call(() -> text(queue) + " resize " + entries, queue.mayResize(entries), () -> real.resize(entries))) {
            queue.resize(entries);
            agree(real.capacity() == entries, () -> text(queue) + " capacity");
        }
    }

    /// Takes one completion; false when there is none.
    boolean poll(ModelCompletionQueue queue) {
        var found = new boolean[1];
        CompletionQueue real = real(queue, CompletionQueue.class);
        if (!call(() -> text(queue) + " poll", queue.mayPoll(), () -> found[0] = real.poll(wc))) {
            return false;
        }
        List<ModelCompletion> next = queue.next();
        if (!found[0]) {
            agree(next.isEmpty(), () -> text(queue) + " has nothing; the model has " + next);
            return false;
        }
        var actual = wc.snapshot();
        log(() -> "    " + actual);
        statuses.add(wc.status());
        noteExtended(queue);
        for (ModelCompletion one : next) {
            if (one.isToldBy(actual)) {
                queue.polled(one);
                return true;
            }
        }
        throw new Disagreement(text(queue) + " gave " + actual + "; the model has " + next);
    }

    private void noteExtended(ModelCompletionQueue queue) {
        ModelQueuePair of = queue.device().queuePair(wc.qpn());
        if (of != null && of.type().isXrc()) {
            extendedStatuses.add(wc.status());
            if (wc.ok()) {
                extendedOpcodes.add(wc.opcode());
            }
        }
    }

    /// Takes a notification; false when there is none.
    boolean poll(ModelChannel channel) {
        var notified = new ArrayList<CompletionQueue>();
        CompletionChannel real = real(channel, CompletionChannel.class);
        if (!call(
                () -> text(channel) + " poll",
                channel.mayBeUsed(),
                () -> real.poll().ifPresent(notified::add))) {
            return false;
        }
        Set<ModelCompletionQueue> expected = channel.notified();
        if (notified.isEmpty()) {
            agree(expected.isEmpty(), () -> text(channel) + " has nothing; the model has " + texts(expected));
            return false;
        }
        var queue = (ModelCompletionQueue) Objects.requireNonNull(models.get(notified.getFirst()));
        agree(expected.contains(queue), () -> text(channel) + " told of " + text(queue));
        channel.taken(queue);
        return true;
    }

    /// The application writes into its own memory.
    void scribble(DevicePair pair, int at, byte[] data) {
        log(() -> pair + " memory " + at + " len " + data.length + " changed");
        pair.memory.write(at, data);
        MemorySegment.copy(MemorySegment.ofArray(data), 0, pair.realMemory, at, data.length);
    }

    // ---- what follows

    /// Lets everything that was posted happen, in the model and in the world; then compares events and NAKs.
    void settle() {
        long patience = model.settle();
        long grace = faulty ? GRACE_WITH_FAULTS_NANOS : GRACE_NANOS;
        long end = world.nowNanos() + grace + patience + (model.isSomebodyWaiting() ? 0 : PATIENCE_NANOS);
        while (world.nextNanos() <= end) {
            world.step();
        }
        if (!model.isSomebodyWaiting()) {
            agree(world.nextNanos() == Protocol.NEVER, () -> "the devices do not come to rest");
        }
        compareEvents();
        compareNaks();
    }

    private void compareEvents() {
        for (DevicePair pair : pairs) {
            var actual = new ArrayList<String>();
            for (var event = pair.context.pollAsyncEvent(); event.isPresent(); event = pair.context.pollAsyncEvent()) {
                actual.add(event.get().type() + " " + text(about(event.get())));
                events.add(event.get().type());
            }
            var expected = new ArrayList<String>();
            for (ModelEvent event : pair.model.takeEvents()) {
                expected.add(event.type() + " " + text(event.about()));
            }
            actual.sort(null);
            expected.sort(null);
            agree(actual.equals(expected), () -> pair + " raised " + actual + "; the model says " + expected);
            if (!actual.isEmpty()) {
                log(() -> "    events of " + pair + ": " + actual);
            }
        }
    }

    private ModelObject about(AsyncEvent event) {
        VerbsObject object = switch (event) {
            case AsyncEvent.QueuePairEvent e -> e.queuePair();
            case AsyncEvent.CompletionQueueEvent e -> e.completionQueue();
            case AsyncEvent.SharedReceiveQueueEvent e -> e.sharedReceiveQueue();
            case AsyncEvent.PortEvent _, AsyncEvent.DeviceEvent _ ->
                throw new Disagreement("an event that nothing leads to: " + event);
        };
        return Objects.requireNonNull(models.get(object));
    }

    private void compareNaks() {
        var actual = new HashSet<NakTap.Refused>();
        pairs.forEach(pair -> actual.addAll(pair.refused()));
        var allowed = new HashSet<NakTap.Refused>();
        var due = new HashSet<NakTap.Refused>();
        for (Nak nak : model.takeNaks()) {
            allowed.add(refused(nak));
            boolean isOfStranger = nak.syndrome() == Nak.SEQUENCE && world.knowsStrangers();
            if (!nak.isRepeated() && !isOfStranger) {
                due.add(refused(nak));
            }
        }
        agree(
                faulty || (allowed.containsAll(actual) && actual.containsAll(due)),
                () -> "NAKs on the wire " + actual + "; the model says " + due + ", and allows " + allowed);
        if (!actual.isEmpty()) {
            log(() -> "    NAKs: " + actual);
        }
    }

    private static NakTap.Refused refused(Nak nak) {
        return new NakTap.Refused(nak.to(), nak.syndrome());
    }

    /// Every byte of every memory.
    void compareMemory() {
        for (DevicePair pair : pairs) {
            pair.memories.forEach((modelled, real) -> {
                int at = modelled.mismatch(real);
                agree(at < 0, () -> "memory of " + pair + " differs at byte " + at);
            });
        }
    }

    /// Takes over what the standard leaves open in memory, before anything reads it.
    void takeOverUndefined() {
        for (DevicePair pair : pairs) {
            pair.memories.forEach((modelled, real) -> {
                if (modelled.hasUndefined()) {
                    int at = modelled.mismatch(real);
                    agree(at < 0, () -> "memory of " + pair + " differs at byte " + at);
                }
            });
        }
    }

    private static void agree(boolean same, Supplier<String> otherwise) {
        if (!same) {
            throw new Disagreement(otherwise.get());
        }
    }

    // ---- words

    private String text(ModelObject object) {
        return String.valueOf(reals.get(object));
    }

    private List<String> texts(Set<? extends ModelObject> objects) {
        return objects.stream().map(this::text).toList();
    }
}
