package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.device.DeviceContext;
import verbena.nic.device.SoftCompletionQueue;
import verbena.nic.engine.Engine;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.Device;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.VerbsObject;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// Threads that meet in the verbs that wait for an engine: resize and await, reregister and close, close and
/// close. A test holds the engine by a command of its own, so that the other threads wait where they would
/// otherwise meet by chance.
class CrossingThreadsTest {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Set<Access> LOCAL = Set.of(Access.LOCAL_WRITE);

    private final List<DeviceContext> open = new ArrayList<>();
    /// Whether a verb is stuck: closing would then hang too.
    private boolean stuck;

    @AfterEach
    void close() {
        if (!stuck) {
            open.forEach(DeviceContext::close);
        }
    }

    private DeviceContext context(int engines) {
        var made = (DeviceContext) Device.named("rocev2,engines=" + engines).open();
        open.add(made);
        return made;
    }

    /// A verb on a thread of its own.
    private static final class Call {
        final Thread thread;
        final CompletableFuture<Boolean> result = new CompletableFuture<>();

        Call(Runnable verb) {
            thread = Thread.ofPlatform().daemon().start(() -> {
                try {
                    verb.run();
                    result.complete(true);
                } catch (Throwable e) {
                    result.completeExceptionally(e);
                }
            });
        }

        /// Returns when the thread waits for something, in Java or in the link, or has ended.
        void settle() {
            until(() -> result.isDone()
                    || InTheLink.sleeps(thread)
                    || thread.getState() == Thread.State.WAITING
                    || thread.getState() == Thread.State.TIMED_WAITING
                    || thread.getState() == Thread.State.BLOCKED);
        }
    }

    private static void until(BooleanSupplier holds) {
        long end = System.nanoTime() + SOON.toNanos();
        while (!holds.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as("nanoseconds late").isNegative();
            Thread.onSpinWait();
        }
    }

    private void ends(Call call) {
        try {
            call.result.get(SOON.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            stuck = true;
            var hangs = new AssertionError("it has not ended within " + SOON);
            hangs.setStackTrace(call.thread.getStackTrace());
            throw hangs;
        } catch (ExecutionException e) {
            throw new AssertionError(e.getCause());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    // ---- resize and await

    private static boolean push(SoftCompletionQueue cq, long wrId) {
        return cq.ring().push(wrId, WcStatus.SUCCESS, WcOpcode.SEND, 0, 0, 0, 0, 0, 0, "", false);
    }

    /// A thread awaits, another resizes, and the engine wakes the first: no circle of waiting threads.
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aQueueIsResizedWhileAnotherThreadAwaits(int engines) {
        DeviceContext context = context(engines);
        var cq = (SoftCompletionQueue) context.createCompletionQueue(64);
        var awaiting = new Call(() -> {
            var wc = new WorkCompletion();
            try {
                for (int i = 0; i < 3; i++) {
                    assertThat(cq.await(wc, SOON)).isTrue();
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        var resizing = new ArrayList<Call>();
        var owner = new Call(() -> context.engine().call(() -> {
            awaiting.settle();
            resizing.add(new Call(() -> cq.resize(128)));
            resizing.getFirst().settle();
            for (int i = 0; i < 3; i++) {
                push(cq, i); // and wakes
                // The awaiting thread has its completion, or waits for the pollers' lock while it holds the
                // sleepers' lock.
                until(() -> cq.ring().isEmpty() || LockSupport.getBlocker(awaiting.thread) == cq);
            }
            return true;
        }));
        ends(owner);
        ends(resizing.getFirst());
        ends(awaiting);
        assertThat(cq.capacity()).isEqualTo(128);
        cq.close();
    }

    // ---- reregister and close

    /// Rights that are read after `first` has run.
    private static Set<Access> rightsBehind(Runnable first) {
        return new AbstractSet<>() {
            private boolean told;

            @Override
            public Iterator<Access> iterator() {
                if (!told) {
                    told = true;
                    first.run();
                }
                return LOCAL.iterator();
            }

            @Override
            public int size() {
                return LOCAL.size();
            }
        };
    }

    /// The region is closed between the check that it is open and the change.
    @Test
    void aRegionThatIsClosedWhileItIsReregisteredStaysClosed() {
        DeviceContext context = context(1);
        ProtectionDomain from = context.allocateProtectionDomain();
        ProtectionDomain to = context.allocateProtectionDomain();
        MemoryRegion region = from.allocate(100, LOCAL);
        assertThatThrownBy(() -> region.reregister(to, rightsBehind(region::close)))
                .isInstanceOf(InvalidStateException.class)
                .hasMessage("reregister: %s is closed", region);
        assertThatCode(to::close).as("the new domain").doesNotThrowAnyException();
        assertThatCode(from::close).as("the old domain").doesNotThrowAnyException();
    }

    /// Neither domain can be closed before it is certain to which of them the region belongs.
    @Test
    void bothDomainsStayOpenWhileARegionMoves() {
        DeviceContext context = context(1);
        ProtectionDomain from = context.allocateProtectionDomain();
        ProtectionDomain to = context.allocateProtectionDomain();
        MemoryRegion region = from.allocate(100, LOCAL);
        var moving = new ArrayList<Call>();
        context.engine().call(() -> {
            moving.add(new Call(() -> region.reregister(to, LOCAL)));
            moving.getFirst().settle();
            assertThatThrownBy(from::close).isInstanceOf(InUseException.class);
            return true;
        });
        ends(moving.getFirst());
        assertThat(region.protectionDomain()).isEqualTo(to);
        assertThatThrownBy(to::close).isInstanceOf(InUseException.class);
        from.close();
        region.close();
        to.close();
    }

    // ---- close and close

    /// When the second close returns, its caller knows that the memory is free, and that the parents of the object
    /// can be closed.
    @ParameterizedTest
    @ValueSource(strings = {"region", "window", "queue pair"})
    void aSecondCloseWaitsForTheFirst(String what) {
        DeviceContext context = context(1);
        ProtectionDomain domain = context.allocateProtectionDomain();
        CompletionQueue cq = context.createCompletionQueue(16);
        var object = switch (what) {
            case "region" -> domain.allocate(100, LOCAL);
            case "window" -> domain.allocateWindow(MemoryWindow.Type.TYPE_1);
            default -> domain.createQueuePair(QueuePairOptions.rc(cq));
        };
        var calls = new ArrayList<Call>();
        context.engine().call(() -> {
            for (int i = 0; i < 3; i++) {
                calls.add(new Call(() -> {
                    object.close();
                    assertThat(object.isClosed()).isTrue();
                }));
                calls.getLast().settle();
            }
            assertThat(calls).as("closed").noneMatch(call -> call.result.isDone());
            assertThat(object.isClosed()).isFalse();
            return true;
        });
        calls.forEach(this::ends);
        domain.close();
        cq.close();
    }

    /// The engine has called the program. The program closes an object that another thread is already closing, and
    /// that thread needs the engine.
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void anObjectIsClosedFromInsideTheEngineWhileAnotherThreadClosesIt(int engines) {
        DeviceContext context = context(engines);
        ProtectionDomain domain = context.allocateProtectionDomain();
        List<Engine> all = context.engines().all();
        for (Engine engine : all) {
            MemoryRegion region = domain.allocate(100, LOCAL);
            var outside = new ArrayList<Call>();
            var inside = new Call(() -> engine.call(() -> {
                outside.add(new Call(region::close));
                outside.getFirst().settle();
                region.close();
                assertThat(region.isClosed()).isTrue();
                assertThat(context.engines().memory().size()).as("regions").isZero();
                return true;
            }));
            ends(inside);
            ends(outside.getFirst());
        }
        domain.close();
    }

    /// Each of two threads owns an engine, and both need all engines.
    @Test
    void ownersOfTwoEnginesCloseAtOnce() {
        DeviceContext context = context(2);
        ProtectionDomain domain = context.allocateProtectionDomain();
        var all = new CountDownLatch(2);
        var calls = new ArrayList<Call>();
        for (Engine engine : context.engines().all()) {
            MemoryRegion region = domain.allocate(100, LOCAL);
            calls.add(new Call(() -> engine.call(() -> {
                all.countDown();
                until(() -> all.getCount() == 0);
                region.close();
                return true;
            })));
        }
        calls.forEach(this::ends);
        domain.close();
    }

    @Test
    void aDeviceCannotBeClosedFromInsideItsEngine() {
        DeviceContext context = context(1);
        var inside = new Call(() -> context.engine().call(() -> {
            assertThatThrownBy(context::close)
                    .isInstanceOf(InvalidStateException.class)
                    .hasMessageContaining("close it from another thread");
            return true;
        }));
        ends(inside);
        assertThat(context.isClosed()).isFalse();
    }

    /// A failed attempt to close fails only for its own thread: a bound window keeps the region open.
    @Test
    void aCloserThatWaitsForAFailedAttemptTriesItself() throws InterruptedException {
        DeviceContext context = context(1);
        ProtectionDomain domain = context.allocateProtectionDomain();
        CompletionQueue cq = context.createCompletionQueue(16);
        QueuePair qp = domain.createQueuePair(QueuePairOptions.rc(cq));
        qp.connect(qp.endpoint());
        MemoryRegion region = domain.allocate(100, Set.of(Access.LOCAL_WRITE, Access.MW_BIND));
        MemoryWindow window = domain.allocateWindow(MemoryWindow.Type.TYPE_1);
        try (var batch = qp.sendBatch()) {
            batch.bindWindow(1, window, window.nextRkey(), region, region.address(), 10, Set.of(Access.REMOTE_READ))
                    .signaled()
                    .submit();
        }
        var wc = new WorkCompletion();
        assertThat(cq.await(wc, SOON)).isTrue();
        assertThat(wc.status()).isEqualTo(WcStatus.SUCCESS);
        var calls = new ArrayList<Call>();
        context.engine().call(() -> {
            for (int i = 0; i < 2; i++) {
                calls.add(new Call(() -> assertThatThrownBy(region::close).isInstanceOf(InUseException.class)));
                calls.getLast().settle();
            }
            return true;
        });
        calls.forEach(this::ends);
        List.of(window, region, qp, cq, domain).forEach(VerbsObject::close);
    }

    // ---- modify

    /// A thread with a batch open breaks the queue pair down while another waits to reset it.
    @Test
    void aPosterModifiesWhileAnotherThreadWaitsToReset() {
        DeviceContext context = context(1);
        ProtectionDomain domain = context.allocateProtectionDomain();
        CompletionQueue cq = context.createCompletionQueue(16);
        QueuePair qp = domain.createQueuePair(QueuePairOptions.rc(cq));
        qp.connect(qp.endpoint());
        var resetting = new ArrayList<Call>();
        var posting = new Call(() -> {
            try (var batch = qp.sendBatch()) {
                batch.send(1);
                resetting.add(new Call(() -> qp.modify(new QpModification().withState(QpState.RESET))));
                resetting.getFirst().settle();
                qp.modify(new QpModification().withState(QpState.ERR));
                batch.discard();
            }
        });
        ends(posting);
        ends(resetting.getFirst());
        assertThat(qp.state()).isEqualTo(QpState.RESET);
        qp.close();
        cq.close();
        domain.close();
    }

    /// An object that could not be made does not count against the limit.
    @Test
    void whatCannotBeMadeTakesNoPlace() {
        DeviceContext context = context(1);
        var channel = context.createCompletionChannel();
        channel.close();
        assertThatThrownBy(() -> context.createCompletionQueue(
                        CompletionQueueOptions.of(16).withChannel(channel)))
                .isInstanceOf(InvalidStateException.class);
        assertThat(context.completionQueues().inUse()).isZero();
    }
}
