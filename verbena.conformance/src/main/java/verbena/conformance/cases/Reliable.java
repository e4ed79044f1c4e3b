package verbena.conformance.cases;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Capability;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.QpType;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WcOpcode;

/// Reliable connections: every operation, at every size that is a border, byte for byte.
@Needs(Capability.RC)
public final class Reliable {
    private static final int[] SIZES = {
        0, 1, 2, 3, 4, 7, 8, 255, 256, 257, 1023, 1024, 1025, 1439, 1440, 1500, 2047, 2049, 4095, 4096, 4097, 8192,
        12_289, 40_000
    };
    private static final int HALF = TestEnd.MEMORY_BYTES / 2;

    private Reliable() {}

    public static void aSendArrivesAsItWasSent(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int size : SIZES) {
            pair.b().receive(1, HALF, size);
            pair.a().send(2, 5, size);
            pair.a().ok(2, WcOpcode.SEND);
            pair.b().received(1, size);
            Expect.bytes(size + " bytes", pair.a().bytes(5, size), pair.b().bytes(HALF, size));
        }
    }

    public static void aReceiveLargerThanTheMessageKeepsItsRest(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        byte[] before = pair.b().bytes(0, 5000);
        pair.b().receive(1, 0, 5000);
        pair.a().send(2, HALF, 1300);
        pair.b().received(1, 1300);
        Expect.bytes("message", pair.a().bytes(HALF, 1300), pair.b().bytes(0, 1300));
        Expect.bytes(
                "rest",
                java.util.Arrays.copyOfRange(before, 1300, 5000),
                pair.b().bytes(1300, 3700));
    }

    public static void aWriteArrivesAndTouchesNothingElse(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int size : SIZES) {
            byte[] expected = pair.b().bytes(0, TestEnd.MEMORY_BYTES);
            System.arraycopy(pair.a().bytes(9, size), 0, expected, 1003, size);
            pair.a().write(1, 9, size, pair.b(), 1003);
            pair.a().ok(1, WcOpcode.RDMA_WRITE);
            pair.a().read(2, HALF, 1, pair.b(), 0); // behind it, so that it has arrived over iWARP too
            pair.a().ok(2);
            Expect.bytes(size + " bytes: memory of b", expected, pair.b().bytes(0, TestEnd.MEMORY_BYTES));
            TestEnd.fill(pair.b().memory, size);
        }
        pair.b().silent();
    }

    @Needs(Capability.RDMA_READ)
    public static void aReadBringsWhatIsThereAndTouchesNothingElse(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int size : SIZES) {
            byte[] expected = pair.a().bytes(0, TestEnd.MEMORY_BYTES);
            System.arraycopy(pair.b().bytes(3, size), 0, expected, 777, size);
            pair.a().read(1, 777, size, pair.b(), 3);
            var done = pair.a().ok(1, WcOpcode.RDMA_READ);
            Expect.equal("bytes read", (long) size, done.byteLength());
            Expect.bytes(size + " bytes: memory of a", expected, pair.a().bytes(0, TestEnd.MEMORY_BYTES));
            TestEnd.fill(pair.a().memory, size);
        }
        pair.b().silent();
    }

    @Needs(Capability.ENDPOINTS)
    public static void everyPathMtuCarriesEverySize(Fixture fixture) throws InterruptedException {
        for (Mtu mtu : Mtu.values()) {
            if (mtu.compareTo(fixture.a().port(1).activeMtu()) > 0) {
                break;
            }
            Pair pair = fixture.wire(QpType.RC).mtu(mtu).connect();
            for (int size : new int[] {mtu.bytes() - 1, mtu.bytes(), mtu.bytes() + 1, 3 * mtu.bytes() + 5}) {
                pair.b().receive(1, HALF, size);
                pair.a().send(2, 1, size);
                pair.a().ok(2);
                pair.b().received(1, size);
                Expect.bytes(
                        "SEND of " + size + " over " + mtu,
                        pair.a().bytes(1, size),
                        pair.b().bytes(HALF, size));
                pair.a().read(3, HALF, size, pair.b(), 2);
                pair.a().ok(3);
                Expect.bytes(
                        "READ of " + size + " over " + mtu,
                        pair.b().bytes(2, size),
                        pair.a().bytes(HALF, size));
                pair.a().write(4, 7, size, pair.b(), 11);
                pair.a().ok(4);
                pair.a().read(5, HALF, 1, pair.b(), 0); // behind it, so that b sees it
                pair.a().ok(5);
                Expect.bytes(
                        "WRITE of " + size + " over " + mtu,
                        pair.a().bytes(7, size),
                        pair.b().bytes(11, size));
            }
            pair.close();
        }
    }

    public static void aLongMessageArrives(Fixture fixture) throws InterruptedException {
        int size = (2 << 20) + 1;
        Pair pair = fixture.wire(QpType.RC).memory(3 << 20).connect();
        pair.b().receive(1, 0, size);
        pair.a().send(2, 0, size);
        pair.a().ok(2);
        pair.b().received(1, size);
        Expect.bytes("SEND", pair.a().bytes(0, size), pair.b().bytes(0, size));
        TestEnd.fill(pair.b().memory, 99);
        pair.a().read(3, 0, size, pair.b(), 5);
        pair.a().ok(3);
        Expect.bytes("READ", pair.b().bytes(5, size), pair.a().bytes(0, size));
        TestEnd.fill(pair.a().memory, 98);
        pair.a().write(4, 1, size, pair.b(), 3);
        pair.a().ok(4);
        pair.a().read(5, 0, 1, pair.b(), 0);
        pair.a().ok(5);
        Expect.bytes(
                "WRITE",
                java.util.Arrays.copyOfRange(pair.a().bytes(0, size + 1), 1, size + 1),
                pair.b().bytes(3, size));
    }

    @Needs(Capability.IMMEDIATE_DATA)
    public static void aWriteWithImmediateTakesAReceiveAndBringsItsNumber(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int size : new int[] {0, 1, 1024, 5000}) {
            for (int number : new int[] {0, 1, -1, 0x1234_5678}) {
                pair.b().receive(1, 0, 0);
                pair.a()
                        .qp()
                        .postWriteWithImmediate(
                                2,
                                pair.a().memory.slice(0, size),
                                pair.b().memory.remote().slice(HALF, size),
                                number);
                pair.a().ok(2, WcOpcode.RDMA_WRITE);
                var received = pair.b().ok(1, WcOpcode.RECV_RDMA_WITH_IMM);
                Expect.that("there is immediate data", received.immediate().isPresent());
                Expect.equal("immediate", number, received.immediate().orElseThrow());
                Expect.equal("bytes", (long) size, received.byteLength());
                Expect.bytes(
                        "what was written", pair.a().bytes(0, size), pair.b().bytes(HALF, size));
            }
        }
    }

    @Needs(Capability.SEND_WITH_IMMEDIATE)
    public static void aSendWithImmediateBringsItsNumber(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int size : new int[] {0, 1, 1024, 5000}) {
            for (int number : new int[] {0, -1, 0x1234_5678}) {
                pair.b().receive(1, HALF, size);
                pair.a()
                        .post(
                                "SEND with immediate",
                                batch -> batch.sendWithImmediate(2, number)
                                        .sge(pair.a().memory, 0, size)
                                        .signaled());
                pair.a().ok(2, WcOpcode.SEND);
                var received = pair.b().received(1, size);
                Expect.that("there is immediate data", received.immediate().isPresent());
                Expect.equal("immediate", number, received.immediate().orElseThrow());
            }
        }
    }

    public static void aPlainSendHasNoImmediate(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().receive(1, 0, 8);
        pair.a().send(2, 0, 8);
        var received = pair.b().received(1, 8);
        Expect.that("no immediate data", received.immediate().isEmpty());
        Expect.that("no withdrawn key", received.invalidatedRkey().isEmpty());
    }

    /// Checks cuts of up to four pieces, of sending and of receiving, none of which fits a packet or the other.
    public static void piecesAreGatheredAndScattered(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        int most = pair.a().qp().query().options().maxSendSge();
        var random = new SplittableRandom(42);
        for (int round = 0; round < 30; round++) {
            int[] out = cuts(random, 1 + random.nextInt(most));
            int size = java.util.Arrays.stream(out).sum();
            int[] in = cuts(random, size, 1 + random.nextInt(most));
            byte[] message = new byte[size];
            int at = 0;
            for (int i = 0; i < out.length; i++) {
                System.arraycopy(pair.a().bytes(place(i), out[i]), 0, message, at, out[i]);
                at += out[i];
            }
            fixture.tell("pieces of " + java.util.Arrays.toString(out) + " into " + java.util.Arrays.toString(in));
            pair.b().receive("a receive", batch -> {
                batch.receive(1);
                for (int i = 0; i < in.length; i++) {
                    batch.sge(pair.b().memory, place(i), in[i]);
                }
            });
            pair.a().post("a SEND", batch -> {
                batch.send(2).signaled();
                for (int i = 0; i < out.length; i++) {
                    batch.sge(pair.a().memory, place(i), out[i]);
                }
            });
            pair.a().ok(2);
            pair.b().received(1, size);
            byte[] arrived = new byte[size];
            at = 0;
            for (int i = 0; i < in.length; i++) {
                System.arraycopy(pair.b().bytes(place(i), in[i]), 0, arrived, at, in[i]);
                at += in[i];
            }
            Expect.bytes("message", message, arrived);
        }
    }

    private static int place(int piece) {
        return piece * 20_000 + piece;
    }

    private static int[] cuts(SplittableRandom random, int pieces) {
        int[] cuts = new int[pieces];
        for (int i = 0; i < pieces; i++) {
            cuts[i] = random.nextInt(3) == 0 ? random.nextInt(1, 9) : random.nextInt(1, 3000);
        }
        return cuts;
    }

    private static int[] cuts(SplittableRandom random, int size, int pieces) {
        int[] cuts = new int[pieces];
        int left = size;
        for (int i = 0; i < pieces - 1; i++) {
            cuts[i] = random.nextInt(left + 1);
            left -= cuts[i];
        }
        cuts[pieces - 1] = left;
        return cuts;
    }

    public static void aWriteGathersPieces(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a()
                .post(
                        "WRITE of three pieces",
                        batch -> batch.write(1, pair.b().at(HALF), pair.b().rkey())
                                .sge(pair.a().memory, 100, 1500)
                                .sge(pair.a().memory, 5000, 1)
                                .sge(pair.a().memory, 10_000, 2000)
                                .signaled());
        pair.a().ok(1);
        pair.a().read(2, HALF, 1, pair.b(), 0);
        pair.a().ok(2);
        Expect.bytes("first", pair.a().bytes(100, 1500), pair.b().bytes(HALF, 1500));
        Expect.bytes("second", pair.a().bytes(5000, 1), pair.b().bytes(HALF + 1500, 1));
        Expect.bytes("third", pair.a().bytes(10_000, 2000), pair.b().bytes(HALF + 1501, 2000));
    }

    @Needs(Capability.RDMA_READ)
    public static void aReadScattersPieces(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC)
                .sge(Math.max(1, Math.min(3, fixture.attributes().queues().maxSgeRead())))
                .connect();
        int pieces = Math.min(3, pair.a().qp().query().options().maxSendSge());
        pair.a().post("READ into pieces", batch -> {
            batch.read(1, pair.b().at(17), pair.b().rkey()).signaled();
            for (int i = 0; i < pieces; i++) {
                batch.sge(pair.a().memory, place(i), 1000 + i);
            }
        });
        pair.a().ok(1);
        int at = 17;
        for (int i = 0; i < pieces; i++) {
            Expect.bytes("piece " + i, pair.b().bytes(at, 1000 + i), pair.a().bytes(place(i), 1000 + i));
            at += 1000 + i;
        }
    }

    public static void noPiecesAreAnEmptyMessage(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().receive("a receive of nothing", batch -> batch.receive(1));
        pair.a().post("a SEND of nothing", batch -> batch.send(2).signaled());
        pair.a().ok(2);
        pair.b().received(1, 0);
        pair.a()
                .post(
                        "a WRITE of nothing",
                        batch -> batch.write(3, pair.b().at(0), pair.b().rkey()).signaled());
        pair.a().ok(3);
        pair.a()
                .post(
                        "a READ of nothing",
                        batch -> batch.read(4, pair.b().at(0), pair.b().rkey()).signaled());
        pair.a().ok(4);
    }

    /// Checks IBTA C9-88: a request of no bytes has nothing to protect.
    public static void aKeyDoesNotMatterForNoBytes(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a()
                .post(
                        "a WRITE of nothing to nowhere",
                        batch -> batch.write(1, 0x1234, 0xDEAD_BEEF).signaled());
        pair.a().ok(1);
        pair.a()
                .post(
                        "a READ of nothing from nowhere",
                        batch -> batch.read(2, 0x1234, 0xDEAD_BEEF).signaled());
        pair.a().ok(2);
        pair.a().read(3, 0, 8, pair.b(), 0); // the connection lives
        pair.a().ok(3);
    }

    public static void inlineBytesArriveOfEverySize(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC)
                .inline(Math.min(256, fixture.attributes().queues().maxInlineBytes()))
                .connect();
        int most = pair.a().qp().query().options().maxInlineBytes();
        for (int size = 0; size <= most; size += size < 20 ? 1 : 13) {
            byte[] data = pair.a().bytes(size, size);
            int bytes = size;
            pair.b().receive(1, HALF, size);
            pair.a()
                    .post(
                            "an inline SEND",
                            batch -> batch.send(2)
                                    .inline(MemorySegment.ofArray(data))
                                    .signaled());
            pair.a().ok(2);
            pair.b().received(1, bytes);
            Expect.bytes("SEND of " + bytes, data, pair.b().bytes(HALF, bytes));
            pair.a()
                    .post(
                            "an inline WRITE",
                            batch -> batch.write(3, pair.b().at(5), pair.b().rkey())
                                    .inline(MemorySegment.ofArray(data))
                                    .signaled());
            pair.a().ok(3);
            pair.a().read(4, HALF, 1, pair.b(), 0);
            pair.a().ok(4);
            Expect.bytes("WRITE of " + bytes, data, pair.b().bytes(5, bytes));
        }
    }

    public static void nativeMemoryCanBeInline(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        int size = Math.min(24, pair.a().qp().query().options().maxInlineBytes());
        pair.b().receive(1, HALF, size);
        pair.a()
                .post(
                        "an inline SEND of native memory",
                        batch -> batch.send(2)
                                .inline(pair.a().memory.segment().asSlice(3, size))
                                .signaled());
        pair.a().ok(2);
        pair.b().received(1, size);
        Expect.bytes("message", pair.a().bytes(3, size), pair.b().bytes(HALF, size));
    }

    public static void requestsCompleteInTheirOrder(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int i = 0; i < 16; i++) {
            pair.b().receive(1000 + i, 0, 4096);
        }
        pair.a().post("48 requests of three kinds", batch -> {
            for (int i = 0; i < 48; i += 3) {
                batch.write(i, pair.b().at(HALF), pair.b().rkey())
                        .sge(pair.a().memory, 0, 3000)
                        .signaled();
                batch.read(i + 1, pair.b().at(HALF), pair.b().rkey())
                        .sge(pair.a().memory, HALF, 2000)
                        .signaled();
                batch.send(i + 2).sge(pair.a().memory, 0, 10L * i).signaled();
            }
        });
        for (int i = 0; i < 48; i++) {
            pair.a().ok(i);
        }
        for (int i = 0; i < 16; i++) {
            pair.b().received(1000 + i, 30L * i);
        }
    }

    public static void receivesAreUsedInTheirOrder(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int i = 0; i < 20; i++) {
            pair.b().receive(i, HALF + 64L * i, 64);
        }
        for (int i = 0; i < 20; i++) {
            pair.a().send(100 + i, i, 30 + i);
        }
        for (int i = 0; i < 20; i++) {
            pair.b().received(i, 30 + i);
            Expect.bytes("message " + i, pair.a().bytes(i, 30 + i), pair.b().bytes(HALF + 64L * i, 30 + i));
        }
    }

    public static void bothMaySendAtOnce(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int round = 0; round < 20; round++) {
            for (TestEnd end : new TestEnd[] {pair.a(), pair.b()}) {
                end.receive(1, HALF, 3000);
            }
            pair.a().send(2, 0, 3000);
            pair.b().send(2, 0, 2500);
            for (TestEnd end : new TestEnd[] {pair.a(), pair.b()}) {
                var ids = new java.util.HashSet<Long>();
                ids.add(end.take().wrId());
                ids.add(end.take().wrId());
                Expect.equal(end.name + ": completed", java.util.Set.of(1L, 2L), ids);
            }
        }
        Expect.bytes("what b received", pair.a().bytes(0, 3000), pair.b().bytes(HALF, 3000));
        Expect.bytes("what a received", pair.b().bytes(0, 2500), pair.a().bytes(HALF, 2500));
    }

    @Needs(Capability.RDMA_READ)
    public static void aFenceWaitsForReads(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int round = 0; round < 20; round++) {
            int seed = round;
            TestEnd.fill(pair.b().memory, seed);
            byte[] expected = pair.b().bytes(0, 8000);
            pair.b().receive(9, HALF, 8000);
            pair.a().post("a READ, and behind a fence a SEND of what it brings", batch -> {
                batch.read(1, pair.b().at(0), pair.b().rkey()).sge(pair.a().memory, 0, 8000);
                batch.send(2).sge(pair.a().memory, 0, 8000).fenced().signaled();
            });
            pair.a().ok(2);
            pair.b().received(9, 8000);
            Expect.bytes("what came back", expected, pair.b().bytes(HALF, 8000));
        }
    }

    /// Checks IBTA table 79: the effects that a later request of the same queue pair sees.
    public static void aReadSeesTheWriteBeforeIt(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int round = 0; round < 50; round++) {
            pair.a().word(0, 1000 + round);
            pair.a().post("a WRITE, and a READ of the same bytes", batch -> {
                batch.write(1, pair.b().at(64), pair.b().rkey()).sge(pair.a().memory, 0, 8);
                batch.read(2, pair.b().at(64), pair.b().rkey())
                        .sge(pair.a().memory, 128, 8)
                        .signaled();
            });
            pair.a().ok(2);
            Expect.equal("what was read", 1000L + round, pair.a().word(128));
        }
    }

    public static void aSendSeesTheWriteBeforeIt(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int round = 0; round < 50; round++) {
            pair.a().word(0, 5000 + round);
            pair.b().receive(9, HALF, 64);
            pair.a().post("a WRITE, and a SEND that tells of it", batch -> {
                batch.write(1, pair.b().at(4000), pair.b().rkey()).sge(pair.a().memory, 0, 8);
                batch.send(2).signaled();
            });
            pair.b().received(9, 0);
            Expect.equal("what was written", 5000L + round, pair.b().word(4000));
            pair.a().ok(2);
        }
    }

    @Needs(Capability.RDMA_READ)
    public static void moreReadsThanMayBeOutstandingWait(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC).reads(1).connect();
        pair.a().post("32 READs, one of which may be outstanding", batch -> {
            for (int i = 0; i < 32; i++) {
                batch.read(i, pair.b().at(i * 100L), pair.b().rkey())
                        .sge(pair.a().memory, HALF + i * 100L, 100)
                        .signaled();
            }
        });
        for (int i = 0; i < 32; i++) {
            pair.a().ok(i);
        }
        Expect.bytes("what was read", pair.b().bytes(0, 3200), pair.a().bytes(HALF, 3200));
    }

    public static void theFirstAndTheLastByteOfARegionCanBeReached(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = fixture.own(pair.b().domain.allocate(5000, verbena.verbs.Access.remoteAll()));
        TestEnd.fill(region, 4);
        RemoteMemory remote = region.remote();
        pair.a().qp().postRead(1, remote.slice(0, 5000), pair.a().memory.slice(0, 5000));
        pair.a().ok(1);
        Expect.bytes("all of it", TestEnd.bytes(region, 0, 5000), pair.a().bytes(0, 5000));
        pair.a().qp().postWrite(2, pair.a().memory.slice(HALF, 1), remote.slice(4999, 1));
        pair.a().ok(2);
        pair.a().qp().postRead(3, remote.slice(4999, 1), pair.a().memory.slice(0, 1));
        pair.a().ok(3);
        Expect.bytes("the last byte", pair.a().bytes(HALF, 1), TestEnd.bytes(region, 4999, 1));
    }

    public static void aHundredThousandBytesInSmallPiecesArriveInOrder(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        int sent = 0;
        for (int round = 0; round < 40; round++) {
            int from = sent;
            for (int i = 0; i < 32; i++) {
                pair.b().receive(i, HALF + i * 80L, 80);
            }
            pair.a().post("32 SENDs of 80 bytes", batch -> {
                for (int i = 0; i < 32; i++) {
                    batch.send(i).sge(pair.a().memory, (from + i) % 1000, 80);
                    if (i == 31) {
                        batch.signaled();
                    }
                }
            });
            pair.a().ok(31);
            for (int i = 0; i < 32; i++) {
                pair.b().received(i, 80);
                Expect.bytes(
                        "message " + sent,
                        pair.a().bytes(sent % 1000, 80),
                        pair.b().bytes(HALF + i * 80L, 80));
                sent++;
            }
        }
    }
}
