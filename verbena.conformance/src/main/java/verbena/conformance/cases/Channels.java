package verbena.conformance.cases;

import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Mismatch;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Capability;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpType;
import verbena.verbs.WcStatus;

/// Notifications: asked for, given once, and none lost (ibv_req_notify_cq(3)).
public final class Channels {
    private Channels() {}

    /// Returns two ends, of which `b` has a channel.
    private static Pair pair(Fixture fixture) throws InterruptedException {
        return fixture.wire(QpType.RC).channelAtB().connect();
    }

    private static CompletionChannel channel(Pair pair) {
        return pair.b().cq.channel().orElseThrow();
    }

    private static void isNotified(Pair pair) throws InterruptedException {
        Optional<CompletionQueue> which = channel(pair).await(pair.a().fixture.timeout());
        if (which.isEmpty()) {
            throw new Mismatch(
                    "notification", "one", "none within " + pair.a().fixture.timeout());
        }
        Expect.that("it is of the queue", which.get() == pair.b().cq);
    }

    private static void isNotNotified(Pair pair) {
        Expect.that("there is no notification", channel(pair).poll().isEmpty());
    }

    private static void message(Pair pair, boolean solicited) throws InterruptedException {
        pair.a().post(solicited ? "a solicited SEND" : "a SEND", batch -> {
            batch.send(1).sge(pair.a().memory, 0, 8).signaled();
            if (solicited) {
                batch.solicited();
            }
        });
        pair.a().ok(1);
    }

    public static void anArmedQueueNotifiesOfACompletion(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().cq.arm();
        isNotNotified(pair);
        pair.b().receive(1, 0, 8);
        message(pair, false);
        isNotified(pair);
        pair.b().received(1, 8);
    }

    public static void aQueueThatIsNotArmedNotifiesNobody(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().receive(1, 0, 8);
        message(pair, false);
        pair.b().received(1, 8);
        isNotNotified(pair);
    }

    public static void armingOnceNotifiesOnce(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().cq.arm();
        for (int i = 0; i < 5; i++) {
            pair.b().receive(i, 0, 8);
            message(pair, false);
            pair.b().received(i, 8);
        }
        isNotified(pair);
        isNotNotified(pair);
    }

    public static void armingTwiceNotifiesOnce(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().cq.arm();
        pair.b().cq.arm();
        pair.b().receive(1, 0, 8);
        message(pair, false);
        pair.b().received(1, 8);
        isNotified(pair);
        isNotNotified(pair);
    }

    public static void armedForSolicitedMessagesOnlyThoseNotify(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().cq.armSolicited();
        pair.b().receive(1, 0, 8);
        pair.b().receive(2, 0, 8);
        message(pair, false);
        pair.b().received(1, 8);
        isNotNotified(pair);
        message(pair, true);
        isNotified(pair);
        pair.b().received(2, 8);
    }

    public static void aSolicitedMessageNotifiesWhoeverArmedForAll(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().cq.arm();
        pair.b().receive(1, 0, 8);
        message(pair, true);
        isNotified(pair);
        pair.b().received(1, 8);
    }

    public static void armingForSolicitedDoesNotTakeBackArmingForAll(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().cq.arm();
        pair.b().cq.armSolicited();
        pair.b().receive(1, 0, 8);
        message(pair, false);
        pair.b().received(1, 8);
        isNotified(pair);
    }

    public static void anErrorNotifiesAsASolicitedMessageDoes(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().cq.armSolicited();
        pair.b().receive(1, 0, 8);
        pair.b().qp().modify(new verbena.verbs.Transition.ToError());
        isNotified(pair);
        pair.b().fails(1, WcStatus.WR_FLUSH_ERR);
    }

    public static void oneChannelServesSeveralQueues(Fixture fixture) throws InterruptedException {
        Pair first = pair(fixture);
        var channel = channel(first);
        TestEnd b2 = fixture.end(fixture.b(), channel);
        Pair second = fixture.wire(QpType.RC).between(fixture.end(fixture.a()), b2);
        first.b().cq.arm();
        second.b().cq.arm();
        first.b().receive(1, 0, 8);
        second.b().receive(2, 0, 8);
        message(second, false);
        message(first, false);
        var told = new HashSet<CompletionQueue>();
        for (int i = 0; i < 2; i++) {
            told.add(channel.await(fixture.timeout()).orElseThrow());
        }
        Expect.equal("notified", Set.of(first.b().cq, second.b().cq), told);
    }

    public static void noNotificationIsLostBetweenArmingAndPolling(Fixture fixture) throws Exception {
        Pair pair = pair(fixture);
        int messages = 300;
        var received = new CompletableFuture<Integer>();
        var polled = new AtomicInteger();
        Thread.ofVirtual().start(() -> {
            try {
                var wc = new verbena.verbs.WorkCompletion();
                int got = 0;
                while (got < messages) {
                    pair.b().cq.arm();
                    boolean any = false;
                    while (pair.b().cq.poll(wc)) {
                        any = true;
                        got++;
                        pair.b().qp().postReceive(1, pair.b().memory.slice(0, 8));
                        polled.set(got);
                    }
                    if (!any
                            && got < messages
                            && channel(pair).await(fixture.timeout()).isEmpty()) {
                        break;
                    }
                }
                received.complete(got);
            } catch (Throwable e) {
                received.completeExceptionally(e);
            }
        });
        for (int i = 0; i < 16; i++) {
            pair.b().qp().postReceive(1, pair.b().memory.slice(0, 8));
        }
        for (int i = 0; i < messages; i++) {
            while (i - polled.get() > 8 && !received.isDone()) {
                Thread.onSpinWait(); // a receive is always there: not every device waits for one
            }
            pair.a().send(2, 0, 8);
            pair.a().ok(2);
        }
        Expect.equal("received", messages, received.get(2 * fixture.timeout().toSeconds(), TimeUnit.SECONDS));
    }

    public static void waitingInVainEnds(Fixture fixture) throws InterruptedException {
        CompletionChannel channel = fixture.own(fixture.a().createCompletionChannel());
        Expect.that("nothing comes", channel.await(Duration.ofMillis(5)).isEmpty());
        Expect.that("nothing is there", channel.poll().isEmpty());
    }

    public static void aChannelStaysOpenForItsQueues(Fixture fixture) {
        CompletionChannel channel = fixture.own(fixture.a().createCompletionChannel());
        CompletionQueue cq = fixture.own(
                fixture.a().createCompletionQueue(CompletionQueueOptions.of(16).withChannel(channel)));
        Expect.that("the queue knows it", cq.channel().orElseThrow() == channel);
        Expect.thrown("close", InUseException.class, channel::close);
        cq.close();
        channel.close();
        Expect.that("it is closed", channel.isClosed());
    }

    public static void closingWakesAWaiter(Fixture fixture) throws Exception {
        CompletionChannel channel = fixture.own(fixture.a().createCompletionChannel());
        var waiting = new CompletableFuture<Boolean>();
        Thread.ofVirtual().start(() -> {
            try {
                waiting.complete(channel.await(fixture.timeout()).isPresent());
            } catch (Throwable e) {
                waiting.completeExceptionally(e);
            }
        });
        channel.close();
        var failure = Expect.thrown(
                "the waiter",
                java.util.concurrent.ExecutionException.class,
                () -> waiting.get(fixture.timeout().toSeconds(), TimeUnit.SECONDS));
        Expect.that("it is told by InvalidStateException", failure.getCause() instanceof InvalidStateException);
    }

    public static void aQueueWithNotificationsNobodyTookCloses(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().cq.arm();
        pair.b().receive(1, 0, 8);
        message(pair, false);
        pair.b().received(1, 8);
        var channel = channel(pair);
        pair.b().close();
        pair.b().cq.close();
        channel.close();
    }

    @Needs(Capability.ENDPOINTS)
    public static void waitingForACompletionDoesNotDisturbTheChannel(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().cq.arm();
        pair.b().receive(1, 0, 8);
        message(pair, false);
        pair.b().received(1, 8); // by await
        isNotified(pair);
    }

    public static void armingWithoutAChannelIsRefusedOrHarmless(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        try {
            pair.b().cq.arm();
        } catch (InvalidStateException e) {
            fixture.tell("refused: " + e.getMessage());
        }
        pair.b().receive(1, 0, 8);
        message(pair, false);
        pair.b().received(1, 8);
    }
}
