package verbena.tools.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.sim.card.Cards;
import verbena.tools.explain.Event.Kind;

/// Each scenario, run for real between two devices on loopback.
@Timeout(180)
class ScenarioTest {
    private static Recording run(Scenario scenario, String device) throws InterruptedException {
        return switch (scenario) {
            case SUBNET -> SubnetStory.record(0);
            case CARD -> CardRecording.of(Cards.of("cx5"), scenario.size());
            default -> new ScenarioRunner(scenario, device, device, 0).run(0);
        };
    }

    private static Recording run(Scenario scenario) throws InterruptedException {
        return run(scenario, "rocev2");
    }

    /// The recording tells these, in this order, with anything between: kind, place, and how the label begins.
    private static void assertTells(Recording recording, String... lines) {
        List<String> told = recording.events().stream().map(ScenarioTest::line).toList();
        int at = 0;
        for (String line : lines) {
            while (at < told.size() && !told.get(at).startsWith(line)) {
                at++;
            }
            assertThat(at)
                    .as("\"%s\" in its turn, in\n%s", line, String.join("\n", told))
                    .isLessThan(told.size());
            at++;
        }
    }

    private static String line(Event event) {
        return switch (event.kind()) {
            case PACKET -> event.from().end() + " -> " + event.to().end() + " " + event.label();
            case LOST -> event.from().end() + " -x " + event.to().end() + " " + event.label();
            case CALL -> event.from().end() + " calls " + event.label();
            case TOLD -> event.to().end() + " told " + event.label();
            case STEP -> event.from().title() + ": " + event.label();
            case PHASE -> "== " + event.label();
        };
    }

    private static long count(Recording recording, Predicate<Event> which) {
        return recording.events().stream().filter(which).count();
    }

    /// On a busy host an answer may come so late that it is asked for once more.
    private static boolean isFirst(Event event) {
        return !event.label().endsWith("(again)");
    }

    // ---- every scenario

    /// A card is a model in virtual time: its packets have no bytes, and it closes with other figures.
    @ParameterizedTest
    @EnumSource(names = "CARD", mode = EnumSource.Mode.EXCLUDE)
    void everyScenarioIsToldInOrderWithASentenceForEachPacket(Scenario scenario) throws InterruptedException {
        Recording recording = run(scenario);

        assertThat(recording.events()).isSortedAccordingTo((a, b) -> Long.compare(a.nanos(), b.nanos()));
        assertThat(recording.events().getFirst().kind()).isEqualTo(Kind.PHASE);
        assertThat(recording.events()).filteredOn(Event::isPacket).isNotEmpty().allSatisfy(packet -> {
            assertThat(packet.text()).isNotEmpty();
            var contents = packet.packet();
            assertThat(contents).isNotNull();
            int at = 0;
            for (Event.Part part : contents.parts()) {
                assertThat(part.from()).as(part.toString()).isIn(at, at - part.count());
                at = part.from() + part.count();
            }
            assertThat(at).as("bytes that are explained").isEqualTo(contents.bytes().length);
        });
        assertThat(recording.closing()).anyMatch(line -> line.startsWith("Packets: "));
    }

    // ---- what is essential in each, over packets

    @Test
    void aSubnetIsDiscoveredThenConfiguredThenActivated() throws InterruptedException {
        Recording recording = run(Scenario.SUBNET);

        assertTells(
                recording,
                "device A: port 1 is in INIT",
                "== Discovery",
                "A calls starts",
                "A -> B Get NodeInfo",
                "B -> A GetResp NodeInfo switch",
                "B -> B Get NodeInfo",
                "B -> B GetResp NodeInfo adapter",
                "== Configuration",
                "A -> B Set PortInfo 0 LID 1",
                "B -> B Set PortInfo 1 LID 3",
                "A -> B Set LFT 1:0 2:1 3:2",
                "== Activation",
                "A -> B Set PortInfo 1 ARMED",
                "application B: port 1 is in ARMED",
                "B -> B Set PortInfo 1 ACTIVE",
                "application B: port 1 is in ACTIVE",
                "== A device looks for a peer",
                "B -> A Get PathRecord",
                "B -> B GetResp PathRecord LID 3 to 2",
                "== A cable is pulled",
                "B -> A Trap Notice 128 of LID 1",
                "A -> B TrapRepress Notice 128",
                "A -> B Set LFT 1:0 2:1");
        assertThat(recording.events())
                .filteredOn(Event::isPacket)
                .noneMatch(event -> event.label().contains("0x"));
    }

    @Test
    void aConnectionIsMadeByThreeMessagesAndEndedByTwo() throws InterruptedException {
        assertTells(
                run(Scenario.CONNECT),
                "A calls connect",
                "A -> B CM REQ",
                "B calls accept, and tell address and key",
                "B -> A CM REP",
                "A -> B CM RTU",
                "application B: queue pair is in RTS",
                "A calls disconnect",
                "A -> B CM DREQ",
                "B told disconnected",
                "application B: queue pair is in ERR");
    }

    @Test
    void whereNobodyListensTheDeviceRefuses() throws InterruptedException {
        assertTells(run(Scenario.REFUSED), "A calls connect", "A -> B CM REQ", "B -> A CM REJ", "A told rejected");
    }

    @Test
    void aWriteTellsItsPacketsTheCheckThePlacementAndTheCompletion() throws InterruptedException {
        Recording recording = run(Scenario.WRITE);

        assertTells(
                recording,
                "B calls register 10,000 bytes as b",
                "A told connected; memory b is at 0x",
                "A calls write: WRITE 10,000 bytes",
                "A calls doorbell",
                "A -> B WRITE_FIRST",
                "A -> B WRITE_MIDDLE",
                "A -> B WRITE_LAST",
                "B -> A ACK",
                "A told completion 1: RDMA_WRITE, SUCCESS");
        assertTells(recording, "A -> B WRITE_FIRST", "device B: key 0x", "B -> A ACK");
        assertThat(recording.events())
                .filteredOn(event -> event.label().contains("WRITE_") && isFirst(event))
                .extracting(event -> event.label().replaceAll(".*\\| ", ""))
                .containsExactly("4096", "4096", "1808");
        assertThat(recording.events())
                .filteredOn(event -> event.label().startsWith("WRITE_FIRST"))
                .allSatisfy(event -> {
                    assertThat(event.label()).contains("b+0 len 10000");
                    assertThat(event.tookNanos()).isPositive();
                });
        assertThat(placed(recording, "b")).isEqualTo(10_000);
        assertThat(recording.closing())
                .anyMatch(line -> line.startsWith("Application B called nothing") && line.contains("The WRITE"));
    }

    /// The bytes that were seen to change in a region.
    private static int placed(Recording recording, String region) {
        return recording.events().stream()
                .map(Event::label)
                .filter(label -> label.matches("[\\d,]+ bytes placed at " + region + "\\+.*"))
                .mapToInt(label ->
                        Integer.parseInt(label.replaceAll(" bytes.*", "").replace(",", "")))
                .sum();
    }

    @Test
    void aReadIsAnsweredByTheDeviceAlone() throws InterruptedException {
        Recording recording = run(Scenario.READ);
        assertTells(
                recording,
                "A -> B READ_REQUEST",
                "device B: key 0x",
                "B -> A READ_RESPONSE_FIRST",
                "B -> A READ_RESPONSE_MIDDLE",
                "B -> A READ_RESPONSE_LAST",
                "A told completion 1: RDMA_READ, SUCCESS");
        assertThat(placed(recording, "a")).isEqualTo(10_000);
        assertThat(recording.closing()).anyMatch(line -> line.startsWith("Application B called nothing"));
    }

    @Test
    void aWriteWithImmediateWakesTheReceiver() throws InterruptedException {
        assertTells(
                run(Scenario.WRITE_IMM),
                "B calls post receive 7",
                "application B: sleeps",
                "A -> B WRITE_FIRST",
                "A -> B WRITE_LAST_IMMEDIATE",
                "B told completion 7: RECV_RDMA_WITH_IMM, SUCCESS, 10,000 bytes, imm 0x56455242");
    }

    @Test
    void aMessageGoesWhereTheReceiverSaid() throws InterruptedException {
        Recording recording = run(Scenario.SEND);
        assertTells(
                recording,
                "B calls post receive 7",
                "A -> B SEND_ONLY",
                "device B: 1,000 bytes placed at b+0",
                "B told completion 7: RECV, SUCCESS, 1,000 bytes");
        assertTells(recording, "A -> B SEND_ONLY", "B -> A ACK", "A told completion 1: SEND, SUCCESS");
        assertThat(recording.closing()).noneMatch(line -> line.contains("\"The SEND\""));
    }

    @Test
    void atomicsTellTheNumberBeforeAndAfter() throws InterruptedException {
        assertTells(
                run(Scenario.ATOMIC),
                "A -> B FETCH_ADD",
                "device B: b+0: 37 becomes 42",
                "B -> A ATOMIC_ACKNOWLEDGE",
                "application A: the old value was 37",
                "A -> B COMPARE_SWAP",
                "device B: b+0: 42 becomes 100",
                "application A: the old value was 42",
                "A -> B COMPARE_SWAP",
                "application A: the old value was 100");
    }

    @Test
    void aWindowOpensAndClosesPartOfTheMemory() throws InterruptedException {
        assertTells(
                run(Scenario.WINDOW),
                "B told completion 1: BIND_MW, SUCCESS",
                "A -> B WRITE_ONLY",
                "device B: 256 bytes placed at b+1024",
                "A -> B SEND_ONLY_INVALIDATE",
                "A -> B WRITE_ONLY",
                "device B: key and bounds: refused",
                "B -> A NAK access",
                "A told completion 4: REM_ACCESS_ERR");
    }

    @Test
    void sharedReceivesAreTakenByWhoeverNeedsThem() throws InterruptedException {
        assertTells(
                run(Scenario.SRQ),
                "== Connecting",
                "== Connecting once more",
                "B told completion 7: RECV, SUCCESS, 100 bytes",
                "B told completion 8: RECV, SUCCESS, 100 bytes");
    }

    @Test
    void aDatagramNeedsANumberAndNoAcknowledgement() throws InterruptedException {
        Recording recording = run(Scenario.UD);
        assertTells(
                recording,
                "A -> B CM SIDR_REQ",
                "B -> A CM SIDR_REP",
                "A -> B UD_SEND_ONLY",
                "B told completion 7: RECV, SUCCESS");
        assertThat(recording.events()).noneMatch(event -> event.label().startsWith("ACK"));
    }

    @Test
    void aGroupGetsADatagram() throws InterruptedException {
        assertTells(
                run(Scenario.MULTICAST), "B calls join", "A -> B UD_SEND_ONLY", "B told completion 7: RECV, SUCCESS");
    }

    // ---- troubles

    @Test
    void aMessageWithoutAReceiveIsTurnedAwayAndComesAgain() throws InterruptedException {
        assertTells(
                run(Scenario.RNR),
                "A -> B SEND_ONLY",
                "device B: no receive is posted",
                "B -> A RNR timer",
                "B calls post receive 7",
                "device B: 100 bytes placed at b+0",
                "B -> A ACK");
        assertTells(
                run(Scenario.RNR),
                "B -> A RNR timer",
                "A -> B SEND_ONLY",
                "B -> A ACK",
                "A told completion 1: SEND, SUCCESS");
    }

    @Test
    void aLostPacketIsNoticedByItsSuccessorAndSentAgain() throws InterruptedException {
        Recording recording = run(Scenario.LOST_PACKET);
        assertTells(
                recording,
                "A -> B WRITE_FIRST",
                "A -x B WRITE_MIDDLE",
                "A -> B WRITE_LAST",
                "device B: a packet is missing before this one",
                "B -> A SELECTIVE_ACK",
                "A -> B WRITE_MIDDLE",
                "B -> A ACK",
                "A told completion 1: RDMA_WRITE, SUCCESS");
        assertThat(count(recording, event -> event.kind() == Kind.LOST)).isEqualTo(1);
        assertThat(count(recording, event -> !isFirst(event))).isGreaterThanOrEqualTo(1);
        assertThat(placed(recording, "b")).isEqualTo(10_000);
        assertThat(recording.closing()).anyMatch(line -> line.contains("faults.sent.lost 1"));
    }

    @Test
    void aLostAcknowledgementMakesADuplicate() throws InterruptedException {
        Recording recording = run(Scenario.DUPLICATE);
        assertTells(
                recording,
                "A -> B WRITE_ONLY",
                "B -x A ACK",
                "A -> B WRITE_ONLY",
                "device B: seen before: not carried out again",
                "B -> A ACK",
                "A told completion 1: RDMA_WRITE, SUCCESS");
        assertThat(placed(recording, "b")).isEqualTo(64);
    }

    @Test
    void aWrongKeyIsRefusedAndEndsTheConnection() throws InterruptedException {
        Recording recording = run(Scenario.BAD_KEY);
        assertTells(
                recording,
                "A -> B WRITE_ONLY",
                "device B: key and bounds: refused",
                "B -> A NAK access",
                "A told completion 1: REM_ACCESS_ERR",
                "A told completion 2: WR_FLUSH_ERR",
                "application A: queue pair is in ERR",
                "application B: queue pair is in ERR",
                "B told async event QP_ACCESS_ERR");
        assertThat(recording.events())
                .filteredOn(event -> event.label().equals("key and bounds: refused"))
                .singleElement()
                .satisfies(event -> assertThat(event.text()).contains("no memory here has the key 0x"));
        assertThat(placed(recording, "b")).isZero();
    }

    @Test
    void memoryEndsWhereItEnds() throws InterruptedException {
        Recording recording = run(Scenario.OUT_OF_BOUNDS);
        assertTells(
                recording,
                "A -> B WRITE_ONLY",
                "device B: key and bounds: refused",
                "A told completion 1: REM_ACCESS_ERR");
        assertThat(recording.events())
                .anyMatch(event -> event.text().contains("bytes 4,064 to 4,128 are asked for, and b has 4,096"));
        assertThat(placed(recording, "b")).isZero();
    }

    @Test
    void aMessageThatIsTooLongFailsAtBothEnds() throws InterruptedException {
        Recording recording = run(Scenario.TOO_LONG);
        assertTells(recording, "A -> B SEND_ONLY", "device B: refused", "B -> A NAK invalid-request");
        assertTells(recording, "A told completion 1: REM_INV_REQ_ERR");
        assertTells(recording, "B told completion 7: LOC_LEN_ERR");
    }

    @Test
    void memoryThatIsNotOnesOwnIsNeverSent() throws InterruptedException {
        Recording recording = run(Scenario.BAD_LKEY);
        assertTells(recording, "A calls write: WRITE from key 0x", "A told completion 1: LOC_PROT_ERR");
        assertThat(recording.events())
                .noneMatch(event -> event.isPacket() && event.label().contains("WRITE"));
    }

    // ---- through shared memory

    @Test
    void throughSharedMemoryThePacketsAreThoseOfRoce() throws InterruptedException {
        Recording lost = run(Scenario.LOST_PACKET, "shm");
        assertTells(lost, "A -> B WRITE_FIRST", "A -x B WRITE_", "B -> A SELECTIVE_ACK", "A told completion 1");
        assertThat(lost.closing()).anyMatch(line -> line.startsWith("Mode switches: none moves data"));

        Recording send = run(Scenario.SEND, "shm");
        assertTells(send, "A -> B SEND_ONLY", "B -> A ACK", "A told completion 1");
        assertTells(send, "A -> B SEND_ONLY", "B told completion 7");
        assertThat(send.setting()).anyMatch(line -> line.contains("without addresses and an ICRC"));
    }

    // ---- over streams

    @ParameterizedTest
    @ValueSource(strings = {"iwarp", "iwarp,crc=off"})
    void overIwarpTheFpdusAreTold(String device) throws InterruptedException {
        Recording write = run(Scenario.WRITE, device);
        assertTells(write, "A -> B MPA request", "B -> A MPA reply", "A -> B WRITE b+0 last | 10000");
        assertThat(placed(write, "b")).isEqualTo(10_000);

        Recording read = run(Scenario.READ, device);
        assertTells(read, "A -> B READ_REQUEST b+0 len 10000 to a+0", "B -> A READ_RESPONSE a+0 last | 10000");
        assertThat(placed(read, "a")).isEqualTo(10_000);
    }

    @Test
    void overIwarpAWrongKeyIsAnsweredByATerminate() throws InterruptedException {
        Recording recording = run(Scenario.BAD_KEY, "iwarp");
        assertTells(recording, "A -> B WRITE stag 0x", "device B: key and bounds: refused", "B -> A TERMINATE tagged");
        assertTells(recording, "A -> B WRITE stag 0x", "A told disconnected", "application A: queue pair is in ERR");

        Recording window = run(Scenario.WINDOW, "iwarp");
        assertTells(
                window,
                "A -> B WRITE window+0 last | 256",
                "A -> B SEND_INVALIDATE",
                "A -> B WRITE window+0 last | 4",
                "device B: key and bounds: refused");
        // over iWARP A's WRITE is complete when TCP has it: B may look at it later
        assertTells(
                window, "A -> B WRITE window+0 last | 256", "device B: key 0x", "device B: key and bounds: refused");
    }

    @Test
    void aSizeOfManyPacketsIsToldAsWell() throws InterruptedException {
        Recording recording = new ScenarioRunner(Scenario.WRITE, "rocev2,mtu=256", "rocev2,mtu=256", 5_000).run(0);
        assertThat(count(recording, event -> event.label().startsWith("WRITE_") && isFirst(event)))
                .isEqualTo(20);
        assertThat(placed(recording, "b")).isEqualTo(5_000);
    }

    @Test
    void aWarmUpLeavesNothingInTheRecording() throws InterruptedException {
        Recording recording = new ScenarioRunner(Scenario.SEND, "rocev2", "rocev2", 10).run(0.05);
        assertThat(count(recording, event -> event.label().startsWith("SEND_ONLY") && isFirst(event)))
                .isEqualTo(1);
        assertThat(count(recording, event -> event.label().startsWith("CM REQ")))
                .isEqualTo(1);
        assertThat(recording.setting()).anyMatch(line -> line.startsWith("Warmed up "));
    }

    @Test
    void aCardTellsOfEachTransactionLookUpAndPacket() {
        Recording recording = CardRecording.of(Cards.of("cx5"), 10_000);
        assertTells(
                recording,
                "== From the store",
                "application A: builds the request",
                "A calls MWr: doorbell with the request",
                "device A: looks up the queue pair",
                "A told MRd: the data, 10 requests",
                "A calls CplD: the data, 10,000 bytes",
                "A -> B WRITE, 3 packets",
                "device B: looks up queue pair, region, page",
                "B told MWr: the data, 40 TLPs",
                "== And back",
                "B -> A ACK",
                "A told MWr: the completion",
                "application A: polls the completion");
        assertThat(recording.closing())
                .anyMatch(line -> line.startsWith("sendfile: system calls 2, copies by cores 1"));
        assertThat(recording.events()).isSortedAccordingTo((one, two) -> Long.compare(one.nanos(), two.nanos()));
    }

    @Test
    void aCardWithoutStoresOfRequestsReadsThem() {
        assertTells(
                CardRecording.of(Cards.of("cheap"), 8),
                "A calls MWr: doorbell",
                "A told MRd: the request, 1 request",
                "A calls CplD: the request, 64 bytes",
                "A told MRd: the data");
        assertThat(CardRecording.of(Cards.of("cx5"), 8).events())
                .noneMatch(event -> event.label().startsWith("MRd"));
    }
}
