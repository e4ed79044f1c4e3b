package verbena.conformance.cases;

import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.conformance.fixture.Wiring;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Mtu;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.RnrTimer;
import verbena.verbs.Transition;

/// Every step of a queue pair's life: what it requires, what it takes, and that there is no other (IBTA 11.2.5.2,
/// ibv_modify_qp(3)).
@Needs(Capability.ENDPOINTS)
public final class StateChanges {
    /// `*`: required. From everywhere, RESET and ERR take nothing.
    private static final String TABLE = """
            RESET INIT UD  PKEY_INDEX* PORT* QKEY*
            RESET INIT UC  PKEY_INDEX* PORT* ACCESS_FLAGS*
            RESET INIT RC  PKEY_INDEX* PORT* ACCESS_FLAGS*
            INIT  INIT UD  PKEY_INDEX PORT QKEY
            INIT  INIT UC  PKEY_INDEX PORT ACCESS_FLAGS
            INIT  INIT RC  PKEY_INDEX PORT ACCESS_FLAGS
            INIT  RTR  UD  PKEY_INDEX QKEY
            INIT  RTR  UC  AV* PATH_MTU* DEST_QPN* RQ_PSN* ACCESS_FLAGS PKEY_INDEX
            INIT  RTR  RC  AV* PATH_MTU* DEST_QPN* RQ_PSN* MAX_DEST_RD_ATOMIC* MIN_RNR_TIMER* ACCESS_FLAGS PKEY_INDEX
            RTR   RTS  UD  SQ_PSN* QKEY
            RTR   RTS  UC  SQ_PSN* ACCESS_FLAGS
            RTR   RTS  RC  SQ_PSN* TIMEOUT* RETRY_CNT* RNR_RETRY* MAX_QP_RD_ATOMIC* ACCESS_FLAGS MIN_RNR_TIMER
            RTS   RTS  UD  QKEY
            RTS   RTS  UC  ACCESS_FLAGS
            RTS   RTS  RC  ACCESS_FLAGS MIN_RNR_TIMER
            """;

    /// Attributes that some step takes; each is a step's own or forbidden.
    private static final Set<QpAttribute> ALL = EnumSet.of(
            QpAttribute.ACCESS_FLAGS,
            QpAttribute.PKEY_INDEX,
            QpAttribute.PORT,
            QpAttribute.QKEY,
            QpAttribute.AV,
            QpAttribute.PATH_MTU,
            QpAttribute.TIMEOUT,
            QpAttribute.RETRY_CNT,
            QpAttribute.RNR_RETRY,
            QpAttribute.RQ_PSN,
            QpAttribute.MAX_QP_RD_ATOMIC,
            QpAttribute.MIN_RNR_TIMER,
            QpAttribute.SQ_PSN,
            QpAttribute.MAX_DEST_RD_ATOMIC,
            QpAttribute.DEST_QPN);

    private record Step(QpState from, QpState to, QpType type) {}

    private record Takes(Set<QpAttribute> required, Set<QpAttribute> optional) {}

    private static final Map<Step, Takes> STEPS = steps();

    private StateChanges() {}

    private static Map<Step, Takes> steps() {
        var steps = new LinkedHashMap<Step, Takes>();
        TABLE.lines().forEach(line -> {
            String[] word = line.strip().split(" +", -1);
            var takes = new Takes(EnumSet.noneOf(QpAttribute.class), EnumSet.noneOf(QpAttribute.class));
            for (int i = 3; i < word.length; i++) {
                boolean required = word[i].endsWith("*");
                (required ? takes.required : takes.optional).add(QpAttribute.valueOf(word[i].replace("*", "")));
            }
            steps.put(new Step(QpState.valueOf(word[0]), QpState.valueOf(word[1]), QpType.valueOf(word[2])), takes);
        });
        return steps;
    }

    private static Set<QpAttribute> required(QpState from, QpState to, QpType type) {
        return Objects.requireNonNull(STEPS.get(new Step(from, to, type)), "a step").required;
    }

    private static QueuePair make(Fixture fixture, QpType type) {
        TestEnd end = fixture.end();
        return fixture.own(end.domain.createQueuePair(fixture.wire(type).options(end)));
    }

    /// Returns the change with a value that the step accepts.
    private static QpModification with(QpModification change, QpAttribute attribute, QueuePair qp) {
        var gid = qp.endpoint(TestEnd.gidIndex(qp.protectionDomain().context()));
        return switch (attribute) {
            case ACCESS_FLAGS -> change.withAccess(Set.of(Access.REMOTE_WRITE));
            case PKEY_INDEX -> change.withPkeyIndex(0);
            case PORT -> change.withPort(1);
            case QKEY -> change.withQkey(Wiring.QKEY);
            case AV ->
                change.withPath(AddressVector.to(
                                gid.gid(),
                                TestEnd.gidIndex(qp.protectionDomain().context()))
                        .withDestinationLid(gid.lid()));
            case PATH_MTU -> change.withPathMtu(Mtu.MTU_256);
            case TIMEOUT -> change.withAckTimeout(new AckTimeout(14));
            case RETRY_CNT -> change.withRetryCount(7);
            case RNR_RETRY -> change.withRnrRetry(7);
            case RQ_PSN -> change.withRqPsn(1);
            case SQ_PSN -> change.withSqPsn(1);
            case MAX_QP_RD_ATOMIC -> change.withMaxReadAtomic(1);
            case MAX_DEST_RD_ATOMIC -> change.withMaxDestinationReadAtomic(1);
            case MIN_RNR_TIMER -> change.withMinRnrTimer(new RnrTimer(12));
            case DEST_QPN -> change.withDestinationQpn(qp.qpn());
            case STATE, CUR_STATE, EN_SQD_ASYNC_NOTIFY, ALT_PATH, PATH_MIG_STATE, CAP ->
                throw new AssertionError(attribute);
        };
    }

    private static QpModification change(QueuePair qp, QpState to, Set<QpAttribute> attributes) {
        return with(new QpModification().withState(to), attributes, qp);
    }

    private static QpModification with(QpModification change, Set<QpAttribute> attributes, QueuePair qp) {
        QpModification all = change;
        for (QpAttribute each : attributes) {
            all = with(all, each, qp);
        }
        return all;
    }

    /// Takes a new queue pair to a state, by steps with what each requires.
    private static QueuePair in(Fixture fixture, QpType type, QpState state) {
        QueuePair qp = make(fixture, type);
        QpState at = QpState.RESET;
        while (at != state) {
            QpState next = QpState.values()[at.ordinal() + 1];
            qp.modify(change(qp, next, required(at, next, type)));
            at = next;
        }
        return qp;
    }

    /// Tries every step of a type by `body`.
    private static void each(QpType type, java.util.function.BiConsumer<Step, Takes> body) {
        STEPS.forEach((step, takes) -> {
            if (step.type == type) {
                body.accept(step, takes);
            }
        });
    }

    private static void isComplete(Fixture fixture, QpType type) {
        each(type, (step, takes) -> {
            for (QpAttribute missing : takes.required) {
                QueuePair qp = in(fixture, type, step.from);
                var rest = EnumSet.copyOf(takes.required);
                rest.remove(missing);
                var refused = Expect.thrown(
                        step + " without " + missing,
                        InvalidAttributesException.class,
                        () -> qp.modify(change(qp, step.to, rest)));
                Expect.equal(step + " without " + missing + ": what is missing", Set.of(missing), refused.missing());
                Expect.equal("state after a refusal", step.from, qp.state());
                qp.close();
            }
        });
    }

    public static void everyAttributeThatAStepOfRcRequiresIsRequired(Fixture fixture) {
        isComplete(fixture, QpType.RC);
    }

    @Needs(Capability.UC)
    public static void everyAttributeThatAStepOfUcRequiresIsRequired(Fixture fixture) {
        isComplete(fixture, QpType.UC);
    }

    @Needs(Capability.UD)
    public static void everyAttributeThatAStepOfUdRequiresIsRequired(Fixture fixture) {
        isComplete(fixture, QpType.UD);
    }

    private static void isExclusive(Fixture fixture, QpType type) {
        each(type, (step, takes) -> {
            QueuePair qp = in(fixture, type, step.from);
            for (QpAttribute foreign : ALL) {
                if (takes.required.contains(foreign) || takes.optional.contains(foreign)) {
                    continue;
                }
                var all = EnumSet.copyOf(takes.required);
                all.add(foreign);
                var refused = Expect.thrown(
                        step + " with " + foreign,
                        InvalidAttributesException.class,
                        () -> qp.modify(change(qp, step.to, all)));
                Expect.equal(step + " with " + foreign + ": what is forbidden", Set.of(foreign), refused.forbidden());
                Expect.equal("state after a refusal", step.from, qp.state());
            }
            qp.close();
        });
    }

    public static void noStepOfRcTakesWhatIsNotItsOwn(Fixture fixture) {
        isExclusive(fixture, QpType.RC);
    }

    @Needs(Capability.UC)
    public static void noStepOfUcTakesWhatIsNotItsOwn(Fixture fixture) {
        isExclusive(fixture, QpType.UC);
    }

    @Needs(Capability.UD)
    public static void noStepOfUdTakesWhatIsNotItsOwn(Fixture fixture) {
        isExclusive(fixture, QpType.UD);
    }

    private static void isGenerous(Fixture fixture, QpType type) {
        each(type, (step, takes) -> {
            for (QpAttribute optional : takes.optional) {
                QueuePair qp = in(fixture, type, step.from);
                var some = EnumSet.copyOf(takes.required);
                some.add(optional);
                fixture.tell(step + " with " + optional);
                qp.modify(change(qp, step.to, some));
                Expect.equal("state", step.to, qp.state());
                qp.close();
            }
        });
    }

    public static void everyStepOfRcTakesWhatIsOptional(Fixture fixture) {
        isGenerous(fixture, QpType.RC);
    }

    @Needs(Capability.UC)
    public static void everyStepOfUcTakesWhatIsOptional(Fixture fixture) {
        isGenerous(fixture, QpType.UC);
    }

    @Needs(Capability.UD)
    public static void everyStepOfUdTakesWhatIsOptional(Fixture fixture) {
        isGenerous(fixture, QpType.UD);
    }

    private static void hasNoShortCut(Fixture fixture, QpType type) {
        for (QpState from : new QpState[] {QpState.RESET, QpState.INIT, QpState.RTR, QpState.RTS, QpState.ERR}) {
            for (QpState to : new QpState[] {QpState.INIT, QpState.RTR, QpState.RTS, QpState.SQE}) {
                if (STEPS.containsKey(new Step(from, to, type))) {
                    continue;
                }
                QueuePair qp = in(fixture, type, from == QpState.ERR ? QpState.RTS : from);
                if (from == QpState.ERR) {
                    qp.modify(new Transition.ToError());
                }
                Expect.thrown(
                        type + " from " + from + " to " + to,
                        InvalidStateException.class,
                        () -> qp.modify(new QpModification().withState(to)));
                Expect.equal("state after a refusal", from, qp.state());
                qp.close();
            }
        }
    }

    public static void thereIsNoOtherStepOfRc(Fixture fixture) {
        hasNoShortCut(fixture, QpType.RC);
    }

    @Needs(Capability.UC)
    public static void thereIsNoOtherStepOfUc(Fixture fixture) {
        hasNoShortCut(fixture, QpType.UC);
    }

    @Needs(Capability.UD)
    public static void thereIsNoOtherStepOfUd(Fixture fixture) {
        hasNoShortCut(fixture, QpType.UD);
    }

    public static void everyStateLeadsToResetAndToError(Fixture fixture) {
        for (QpState from : new QpState[] {QpState.RESET, QpState.INIT, QpState.RTR, QpState.RTS}) {
            for (QpState to : new QpState[] {QpState.RESET, QpState.ERR}) {
                QueuePair qp = in(fixture, QpType.RC, from);
                qp.modify(new QpModification().withState(to));
                Expect.equal("from " + from, to, qp.state());
                qp.close();
            }
        }
    }

    public static void aWrongBeliefInTheStateIsToldOf(Fixture fixture) {
        QueuePair qp = in(fixture, QpType.RC, QpState.RTS);
        Expect.thrown(
                "from RTS as if it were SQD",
                InvalidStateException.class,
                () -> qp.modify(
                        new QpModification().withCurrentState(QpState.SQD).withState(QpState.RTS)));
        qp.modify(new QpModification().withCurrentState(QpState.RTS).withAccess(Set.of(Access.REMOTE_READ)));
        Expect.equal("access", Set.of(Access.REMOTE_READ), qp.query().access());
    }

    /// Checks that a step whose value is out of range changes nothing.
    private static void isOutOfRange(
            Fixture fixture, QpState from, QpState to, QpModification wrong, QpAttribute which) {
        QueuePair qp = in(fixture, QpType.RC, from);
        var right = EnumSet.copyOf(required(from, to, QpType.RC));
        right.remove(which);
        QpModification change = with(wrong.withState(to), right, qp);
        Expect.thrown(
                from + " to " + to + " with " + change, InvalidAttributesException.class, () -> qp.modify(change));
        Expect.equal("state after a refusal", from, qp.state());
        qp.close();
    }

    public static void aPortOrPartitionThatIsNotThereIsRefused(Fixture fixture) {
        int port = fixture.attributes().physicalPorts() + 1;
        isOutOfRange(fixture, QpState.RESET, QpState.INIT, new QpModification().withPort(port), QpAttribute.PORT);
        isOutOfRange(fixture, QpState.RESET, QpState.INIT, new QpModification().withPort(0), QpAttribute.PORT);
        int pkey = fixture.a().port(1).pkeyTableLength();
        isOutOfRange(
                fixture, QpState.RESET, QpState.INIT, new QpModification().withPkeyIndex(pkey), QpAttribute.PKEY_INDEX);
        isOutOfRange(
                fixture, QpState.RESET, QpState.INIT, new QpModification().withPkeyIndex(-1), QpAttribute.PKEY_INDEX);
    }

    public static void aNumberOfMoreThanTwentyFourBitsIsRefused(Fixture fixture) {
        int wide = 0x100_0000;
        isOutOfRange(
                fixture,
                QpState.INIT,
                QpState.RTR,
                new QpModification().withDestinationQpn(wide),
                QpAttribute.DEST_QPN);
        isOutOfRange(fixture, QpState.INIT, QpState.RTR, new QpModification().withRqPsn(wide), QpAttribute.RQ_PSN);
        isOutOfRange(fixture, QpState.RTR, QpState.RTS, new QpModification().withSqPsn(wide), QpAttribute.SQ_PSN);
    }

    public static void moreRetriesThanSevenAreRefused(Fixture fixture) {
        isOutOfRange(fixture, QpState.RTR, QpState.RTS, new QpModification().withRetryCount(8), QpAttribute.RETRY_CNT);
        isOutOfRange(fixture, QpState.RTR, QpState.RTS, new QpModification().withRnrRetry(8), QpAttribute.RNR_RETRY);
        isOutOfRange(fixture, QpState.RTR, QpState.RTS, new QpModification().withRetryCount(-1), QpAttribute.RETRY_CNT);
    }

    public static void moreReadsAtOnceThanTheDeviceHasAreRefused(Fixture fixture) {
        int theirs = fixture.attributes().transport().maxQpReadAtomic() + 1;
        int ours = fixture.attributes().transport().maxQpInitiatorReadAtomic() + 1;
        isOutOfRange(
                fixture,
                QpState.INIT,
                QpState.RTR,
                new QpModification().withMaxDestinationReadAtomic(theirs),
                QpAttribute.MAX_DEST_RD_ATOMIC);
        isOutOfRange(
                fixture,
                QpState.RTR,
                QpState.RTS,
                new QpModification().withMaxReadAtomic(ours),
                QpAttribute.MAX_QP_RD_ATOMIC);
    }

    public static void aWayFromAnAddressThatIsNotOursIsRefused(Fixture fixture) {
        int free = fixture.a().gids(1).stream()
                        .mapToInt(entry -> entry.index())
                        .max()
                        .orElse(0)
                + 1;
        var to = fixture.a().gids(1).getFirst().gid();
        isOutOfRange(
                fixture,
                QpState.INIT,
                QpState.RTR,
                new QpModification().withPath(AddressVector.to(to, free)),
                QpAttribute.AV);
    }

    public static void aPathMtuOverThePortsIsRefused(Fixture fixture) {
        Mtu active = fixture.a().port(1).activeMtu();
        if (active != Mtu.MTU_4096) {
            Mtu larger = Mtu.ofCode(active.code() + 1);
            isOutOfRange(
                    fixture, QpState.INIT, QpState.RTR, new QpModification().withPathMtu(larger), QpAttribute.PATH_MTU);
        }
        QueuePair qp = in(fixture, QpType.RC, QpState.INIT);
        var change = change(qp, QpState.RTR, required(QpState.INIT, QpState.RTR, QpType.RC));
        qp.modify(change.withPathMtu(active));
        Expect.equal("path MTU", active, qp.query().peer().pathMtu());
    }

    public static void rightsCanBeTakenBackWhileItRuns(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a().read(1, 0, 8, pair.b(), 0);
        pair.a().ok(1);
        pair.b().qp().modify(new QpModification().withAccess(Set.of(Access.REMOTE_WRITE)));
        pair.a().write(2, 0, 8, pair.b(), 0);
        pair.a().ok(2);
        pair.a().read(3, 0, 8, pair.b(), 0);
        pair.a().fails(3, verbena.verbs.WcStatus.REM_INV_REQ_ERR);
    }

    public static void inInitReceivesCanBePostedAndSendsCannot(Fixture fixture) throws InterruptedException {
        Pair waiting = new Pair(fixture.end(fixture.a()), fixture.end(fixture.b()));
        for (QpState state : new QpState[] {QpState.INIT, QpState.RTR}) {
            QueuePair qp = in(fixture, QpType.RC, state);
            var region = fixture.own(qp.protectionDomain().allocate(64, Access.local()));
            qp.postReceive(1, region.slice(0, 8));
            Expect.thrown(
                    "a send in " + state,
                    InvalidStateException.class,
                    () -> qp.postSend(2, region.slice(0, 8)),
                    state.name());
            qp.close();
        }
        waiting.a().silent();
    }

    public static void receivesThatWerePostedInInitAreUsedInRts(Fixture fixture) throws InterruptedException {
        TestEnd a = fixture.end(fixture.a());
        TestEnd b = fixture.end(fixture.b());
        var wiring = fixture.wire(QpType.RC);
        a.use(a.domain.createQueuePair(wiring.options(a)));
        b.use(b.domain.createQueuePair(wiring.options(b)));
        b.qp().modify(new Transition.ToInit(Access.remoteAll()));
        b.receive(1, 0, 100);
        wiring.byEndpoints(a.qp(), b.qp());
        a.send(2, 0, 100);
        b.received(1, 100);
    }
}
