package verbena.nic.link.ethernet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.link.NativeAccess;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.roce.Ethernet;

/// Two links on a wire in memory, and frames that no correct link sends.
class EthernetLinkTest {
    private static final long MAC_A = 0x0200_0000_000AL;
    private static final long MAC_B = 0x0200_0000_000BL;
    private static final long OTHER = 0x0200_0000_00FFL;
    private static final int QPN = 0x12_3456;
    private static final int ETHERNET = 14;

    /// What is known of peers, as a test says it.
    private static final class Known implements Resolver {
        final Map<Gid, Long> macs = new HashMap<>();
        boolean news;
        int asked;

        @Override
        public long mac(long gidHigh, long gidLow, boolean asks) {
            long mac = macs.getOrDefault(new Gid(gidHigh, gidLow), NONE);
            asked += asks && mac == UNKNOWN ? 1 : 0;
            return mac;
        }

        @Override
        public boolean hasNews() {
            boolean was = news;
            news = false;
            return was;
        }

        @Override
        public int descriptor() {
            return -1;
        }

        @Override
        public void close() {}
    }

    private final MemoryWire wireA = new MemoryWire();
    private final MemoryWire wireB = new MemoryWire();
    private final Known known = new Known();
    private final Frame[] out = Frame.allocate(Arena.ofAuto().allocate(8L * Frame.SLOT_BYTES, 64));
    private final Frame[] in = Frame.allocate(Arena.ofAuto().allocate(64L * Frame.SLOT_BYTES, 64));
    private EthernetLink a;
    private EthernetLink b;

    @BeforeEach
    void aWireBetweenTwoLinks() {
        assumeTrue(NativeAccess.whyPortable() == null, NativeAccess.whyPortable());
        wireA.connect(wireB);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    private void open(GidType type, int vlan) {
        a = link(wireA, type, MAC_A, "10.0.0.1", "fd00::1", vlan);
        b = link(wireB, type, MAC_B, "10.0.0.2", "fd00::2", vlan);
        known.macs.put(Gid.parse("10.0.0.2"), MAC_B);
        known.macs.put(Gid.parse("fd00::2"), MAC_B);
        known.macs.put(Gid.parse("10.0.0.1"), MAC_A);
    }

    private EthernetLink link(MemoryWire wire, GidType type, long mac, String ipv4, String ipv6, int vlan) {
        var local = new Gid(Ethernet.linkLocalPrefix(), Ethernet.interfaceId(mac));
        var gids = List.of(
                new GidEntry(0, local, type, "veth", 7),
                new GidEntry(1, Gid.parse(ipv4), type, "veth", 7),
                new GidEntry(2, Gid.parse(ipv6), type, "veth", 7));
        return new EthernetLink(new EthernetLink.Station(gids, mac, 1500, vlan, false, 0), wire, known);
    }

    private static Gid local(long mac) {
        return new Gid(Ethernet.linkLocalPrefix(), Ethernet.interfaceId(mac));
    }

    private Frame packet(int i, Gid from, Gid to, int payload) {
        Frame frame = out[i];
        frame.viewOwn();
        Bth.write(frame.slot, frame.start, Opcode.RC_SEND_ONLY, false, 0, 0xFFFF, QPN, true, i);
        for (int at = 0; at < payload; at++) {
            frame.slot.set(ValueLayout.JAVA_BYTE, frame.start + Bth.BYTES + (long) at, (byte) (at + i));
        }
        frame.length = Bth.BYTES + payload + 4;
        frame.sourceHigh = from.high();
        frame.sourceLow = from.low();
        frame.destinationHigh = to.high();
        frame.destinationLow = to.low();
        frame.trafficClass = 0x2A;
        frame.hopLimit = 9;
        frame.sourcePort = 0;
        frame.serviceLevel = 5;
        frame.marks.unsendable = false;
        frame.marks.damagedBit = -1;
        return frame;
    }

    private int send(EthernetLink link, int count) {
        return link.transmit(out, 0, count);
    }

    private int receive(EthernetLink link) {
        return link.receive(in, 0, in.length);
    }

    private static String hex(MemorySegment bytes) {
        return HexFormat.of().formatHex(bytes.toArray(ValueLayout.JAVA_BYTE));
    }

    private static long counter(EthernetLink link, String name) {
        return link.counters().get("ethernet.dropped." + name);
    }

    /// The frame that waits at an end of the wire.
    private static byte[] onTheWire(MemoryWire wire) {
        assertThat(wire.next()).isTrue();
        byte[] bytes = wire.memory().asSlice(wire.start(), wire.length()).toArray(ValueLayout.JAVA_BYTE);
        wire.release();
        return bytes;
    }

    private void deliver(byte[] frame) {
        wireB.deliver(MemorySegment.ofArray(frame), Ethernet.NO_TAG);
    }

    @ParameterizedTest
    @EnumSource(
            value = GidType.class,
            names = {"ROCE_V1", "ROCE_V2"})
    void aPacketArrivesAsItWasSentByEachAddress(GidType type) {
        open(type, Ethernet.NO_TAG);
        for (int i = 0; i < 3; i++) {
            // On RoCE v2 the link-local address has to be asked for, as every other.
            known.macs.put(local(MAC_B), type == GidType.ROCE_V1 ? Resolver.NONE : MAC_B);
            Frame sent = packet(0, a.gids().get(i).gid(), b.gids().get(i).gid(), 100 + i);
            assertThat(send(a, 1)).isEqualTo(1);
            assertThat(receive(b)).isEqualTo(1);
            Frame arrived = in[0];
            assertThat(hex(arrived.packet())).isEqualTo(hex(sent.packet()));
            assertThat(arrived.icrcValid).isTrue();
            assertThat(new Gid(arrived.sourceHigh, arrived.sourceLow))
                    .isEqualTo(a.gids().get(i).gid());
            assertThat(new Gid(arrived.destinationHigh, arrived.destinationLow))
                    .isEqualTo(b.gids().get(i).gid());
            assertThat(arrived.trafficClass).isEqualTo(0x2A);
            assertThat(arrived.hopLimit).isEqualTo(9);
            assertThat(arrived.local.isRoceV1).isEqualTo(type == GidType.ROCE_V1);
            assertThat(arrived.local.sourceMac).isEqualTo(MAC_A);
            assertThat(arrived.local.destinationMac).isEqualTo(MAC_B);
            assertThat(arrived.sourcePort >= 0xC000).isEqualTo(type == GidType.ROCE_V2);
        }
    }

    @Test
    void packetsForDifferentQueuePairsOfAHostHaveDifferentSourcePorts() {
        open(GidType.ROCE_V2, Ethernet.NO_TAG);
        var ports = new java.util.HashSet<Integer>();
        for (int qpn = 1; qpn <= 64; qpn++) {
            Frame frame = packet(0, a.gids().get(1).gid(), b.gids().get(1).gid(), 8);
            Bth.write(frame.slot, frame.start, Opcode.RC_SEND_ONLY, false, 0, 0xFFFF, qpn, true, 1);
            send(a, 1);
            assertThat(receive(b)).isEqualTo(1);
            ports.add(in[0].sourcePort);
        }
        assertThat(ports).hasSize(64).allMatch(port -> port >= 0xC000);
    }

    @Test
    void aServiceLevelIsThePriorityOfTheTag() {
        open(GidType.ROCE_V1, 100);
        packet(0, local(MAC_A), local(MAC_B), 8);
        send(a, 1);
        byte[] frame = onTheWire(wireB);
        assertThat(HexFormat.of().formatHex(frame, 12, 18)).isEqualTo("8100" + "a064" + "8915");
        deliver(frame);
        assertThat(receive(b)).isEqualTo(1);
        assertThat(in[0].local.vlanTag).isEqualTo(5 << 13 | 100);
    }

    @ParameterizedTest
    @ValueSource(strings = {"8100a065", "8100a064810000018915", "81000000", "88a800648915"})
    void aFrameOfAnotherVlanOrWithAStackOfTagsIsForeign(String tags) {
        open(GidType.ROCE_V1, 100);
        packet(0, local(MAC_A), local(MAC_B), 8);
        send(a, 1);
        byte[] frame = onTheWire(wireB);
        byte[] tag = HexFormat.of().parseHex(tags);
        System.arraycopy(tag, 0, frame, 12, tag.length);
        deliver(frame);
        assertThat(receive(b)).isZero();
        assertThat(counter(b, "foreign")).isEqualTo(1);
    }

    @Test
    void aTagThatTheSystemHasTakenOutCountsAsOneInItsPlace() {
        open(GidType.ROCE_V1, Ethernet.NO_TAG);
        packet(0, local(MAC_A), local(MAC_B), 8);
        send(a, 1);
        byte[] frame = onTheWire(wireB);
        wireB.deliver(MemorySegment.ofArray(frame), 3 << 13); // a priority, and no VLAN
        wireB.deliver(MemorySegment.ofArray(frame), 100);
        assertThat(receive(b)).isEqualTo(1);
        assertThat(in[0].local.vlanTag).isEqualTo(3 << 13);
        assertThat(counter(b, "foreign")).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(
            value = GidType.class,
            names = {"ROCE_V1", "ROCE_V2"})
    void paddingBehindAPacketIsNoPartOfIt(GidType type) {
        open(type, Ethernet.NO_TAG);
        Frame sent = packet(0, a.gids().get(1).gid(), b.gids().get(1).gid(), 0);
        send(a, 1);
        byte[] frame = onTheWire(wireB);
        deliver(java.util.Arrays.copyOf(frame, frame.length + 46));
        assertThat(receive(b)).isEqualTo(1);
        assertThat(in[0].length).isEqualTo(sent.length);
        assertThat(in[0].icrcValid).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = GidType.class,
            names = {"ROCE_V1", "ROCE_V2"})
    void aFrameCutAtAnyLengthIsMalformedAndNeverAPacket(GidType type) {
        open(type, Ethernet.NO_TAG);
        for (int address = 1; address <= 2; address++) {
            packet(0, a.gids().get(address).gid(), b.gids().get(address).gid(), 40);
            send(a, 1);
            byte[] frame = onTheWire(wireB);
            for (int length = 0; length < frame.length; length++) {
                long before = b.malformed();
                deliver(java.util.Arrays.copyOf(frame, length));
                assertThat(receive(b)).as("%d bytes", length).isZero();
                assertThat(b.malformed()).as("%d bytes", length).isEqualTo(before + 1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = GidType.class,
            names = {"ROCE_V1", "ROCE_V2"})
    void noBitThatIsTurnedOverGoesUnnoticed(GidType type) {
        open(type, Ethernet.NO_TAG);
        for (int address = 1; address <= 2; address++) {
            Frame sent =
                    packet(0, a.gids().get(address).gid(), b.gids().get(address).gid(), 12);
            send(a, 1);
            String expected = hex(sent.packet());
            byte[] frame = onTheWire(wireB);
            for (int bit = 0; bit < frame.length * 8; bit++) {
                byte[] damaged = frame.clone();
                damaged[bit / 8] ^= (byte) (1 << bit % 8);
                deliver(damaged);
                boolean isThere = receive(b) == 1 && in[0].icrcValid;
                // What the ICRC leaves out: the way there, priorities, the hop limit, the congestion bits, checksums.
                assertThat(!isThere
                                || hex(in[0].packet()).equals(expected)
                                || bit / 8 == frame.length - sent.length + 4)
                        .as("bit %d of byte %d", bit % 8, bit / 8)
                        .isTrue();
            }
        }
    }

    @Test
    void whatIsNotForThisLinkIsForeign() {
        open(GidType.ROCE_V1, Ethernet.NO_TAG);
        packet(0, local(MAC_A), local(MAC_B), 8);
        send(a, 1);
        byte[] frame = onTheWire(wireB);
        byte[] anotherMac = frame.clone();
        BigEndian.put64(MemorySegment.ofArray(anotherMac), 0, OTHER << 16 | MAC_A >>> 32);
        byte[] toAll = frame.clone();
        java.util.Arrays.fill(toAll, 0, 6, (byte) 0xFF);
        byte[] anotherGid = frame.clone();
        anotherGid[ETHERNET + 39]++;
        byte[] ownSource = frame.clone();
        System.arraycopy(frame, ETHERNET + 24, ownSource, ETHERNET + 8, 16);
        byte[] groupAsSource = frame.clone();
        groupAsSource[ETHERNET + 8] = (byte) 0xFF;
        byte[] anotherType = frame.clone();
        anotherType[13] = 0x14;
        byte[] anotherHeader = frame.clone();
        anotherHeader[ETHERNET + 6] = 0x11;
        var all = List.of(anotherMac, toAll, anotherGid, ownSource, groupAsSource, anotherType, anotherHeader);
        all.forEach(this::deliver);
        assertThat(receive(b)).isZero();
        assertThat(counter(b, "foreign")).isEqualTo(all.size());
        assertThat(b.malformed()).isZero();
    }

    @Test
    void headersOfIpThatNoHostTakesAreMalformedOrForeign() {
        open(GidType.ROCE_V2, Ethernet.NO_TAG);
        packet(0, a.gids().get(1).gid(), b.gids().get(1).gid(), 8);
        send(a, 1);
        byte[] ipv4 = onTheWire(wireB);
        deliver(with(ipv4, 0, 0x46)); // options
        deliver(with(ipv4, 6, 0x20)); // more fragments
        deliver(with(ipv4, 7, 1)); // a later fragment
        deliver(with(ipv4, 10, ipv4[ETHERNET + 10] ^ 1)); // the checksum
        deliver(with(ipv4, 25, ipv4[ETHERNET + 25] + 4)); // UDP is longer than IP
        assertThat(receive(b)).isZero();
        assertThat(b.malformed()).isEqualTo(5);
        deliver(with(ipv4, 9, 6)); // TCP
        deliver(with(ipv4, 23, 0xB8)); // another port
        assertThat(receive(b)).isZero();
        assertThat(counter(b, "foreign")).isEqualTo(2);

        packet(0, a.gids().get(2).gid(), b.gids().get(2).gid(), 8);
        send(a, 1);
        byte[] ipv6 = onTheWire(wireB);
        deliver(with(ipv6, 0, 0x50));
        byte[] mapped = ipv6.clone();
        System.arraycopy(HexFormat.of().parseHex("00000000000000000000ffff0a000002"), 0, mapped, ETHERNET + 24, 16);
        deliver(mapped);
        assertThat(receive(b)).isZero();
        assertThat(b.malformed()).isEqualTo(7);
        deliver(with(ipv6, 6, 0)); // hop-by-hop options
        assertThat(receive(b)).isZero();
        assertThat(counter(b, "foreign")).isEqualTo(3);
    }

    private static byte[] with(byte[] frame, int at, int value) {
        byte[] changed = frame.clone();
        changed[ETHERNET + at] = (byte) value;
        return changed;
    }

    /// What a socket hides is seen here: the identification, and whether "don't fragment" is set.
    @Test
    void theIcrcOfRoceV2IsJudgedWithTheTrueIdentification() {
        open(GidType.ROCE_V2, Ethernet.NO_TAG);
        packet(0, a.gids().get(1).gid(), b.gids().get(1).gid(), 8);
        send(a, 1);
        byte[] frame = onTheWire(wireB);
        byte[] renamed = with(frame, 5, 1);
        int sum = (frame[ETHERNET + 10] & 0xFF) << 8 | (frame[ETHERNET + 11] & 0xFF);
        renamed = with(renamed, 11, sum - 1);
        renamed = with(renamed, 10, (sum - 1) >> 8);
        deliver(renamed);
        assertThat(receive(b)).isEqualTo(1);
        assertThat(in[0].icrcValid).isFalse();
    }

    @Test
    void packetsWaitForAnAddressInOrderAndAreDroppedWhenThereIsNone() {
        open(GidType.ROCE_V2, Ethernet.NO_TAG);
        Gid to = b.gids().get(1).gid();
        known.macs.put(to, Resolver.UNKNOWN);
        for (int i = 0; i < 3; i++) {
            packet(i, a.gids().get(1).gid(), to, 8);
        }
        assertThat(send(a, 3)).isEqualTo(3);
        assertThat(known.asked).isEqualTo(3);
        assertThat(receive(b)).isZero();

        known.macs.put(to, MAC_B);
        tellNews();
        assertThat(receive(b)).isEqualTo(3);
        for (int i = 0; i < 3; i++) {
            assertThat(Bth.psn(in[i].slot, in[i].start)).isEqualTo(i);
            assertThat(in[i].icrcValid).isTrue();
        }

        known.macs.put(to, Resolver.UNKNOWN);
        for (int sent = 0; sent < WaitingFrames.CAPACITY + 2; sent++) {
            packet(0, a.gids().get(1).gid(), to, 8);
            assertThat(send(a, 1)).isEqualTo(1);
        }
        assertThat(counter(a, "unresolved")).isEqualTo(2);
        known.macs.put(to, Resolver.NONE);
        tellNews();
        assertThat(counter(a, "unresolved")).isEqualTo(WaitingFrames.CAPACITY + 2);
        Frame refused = packet(0, a.gids().get(1).gid(), to, 8);
        assertThat(send(a, 1)).isEqualTo(1);
        assertThat(refused.marks.unsendable).isTrue();
        assertThat(a.unsendable()).isEqualTo(1);
    }

    /// A link looks by itself after a while, because a thread that polls never sleeps.
    private void tellNews() {
        known.news = true;
        for (int i = 0; i < 5_000 && known.news; i++) {
            receive(a);
        }
        assertThat(known.news).isFalse();
    }

    @Test
    void whatALinkSendsToItselfStaysInside() {
        open(GidType.ROCE_V1, Ethernet.NO_TAG);
        Frame sent = packet(0, a.gids().get(1).gid(), a.gids().get(2).gid(), 50);
        packet(1, a.gids().get(1).gid(), b.gids().get(1).gid(), 8);
        assertThat(send(a, 2)).isEqualTo(2);
        assertThat(a.hasArrivals()).isTrue();
        assertThat(receive(a)).isEqualTo(1);
        assertThat(hex(in[0].packet())).isEqualTo(hex(sent.packet()));
        assertThat(in[0].icrcValid).isTrue();
        assertThat(in[0].local.isRoceV1).isTrue();
        assertThat(a.hasArrivals()).isFalse();
        assertThat(receive(b)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(
            value = GidType.class,
            names = {"ROCE_V1", "ROCE_V2"})
    void aGroupReachesItsMembersOnBothSidesOfTheWire(GidType type) {
        open(type, Ethernet.NO_TAG);
        Gid ipv4 = Gid.parse("239.129.2.3");
        Gid ipv6 = Gid.parse("ff02::1:ff00:7");
        for (Gid group : List.of(ipv4, ipv6)) {
            a.join(group);
            b.join(group);
            assertThat(wireB.groups()).contains(group);
            packet(0, a.gids().get(group.isIpv4() ? 1 : 2).gid(), group, 8);
            assertThat(send(a, 1)).isEqualTo(1);
            assertThat(receive(b)).isEqualTo(1);
            assertThat(in[0].local.destinationMac).isEqualTo(group.isIpv4() ? 0x0100_5E01_0203L : 0x3333_FF00_0007L);
            assertThat(receive(a)).isEqualTo(1);
            b.leave(group);
            assertThat(wireB.groups()).isEmpty();
            packet(0, a.gids().get(group.isIpv4() ? 1 : 2).gid(), group, 8);
            send(a, 1);
            assertThat(receive(b)).isZero();
            assertThat(receive(a)).isEqualTo(1);
        }
        assertThatThrownBy(() -> a.join(Gid.parse("10.0.0.9"))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aFullWireTakesWhatItHasRoomForAndNothingIsSentTwice() {
        open(GidType.ROCE_V1, Ethernet.NO_TAG);
        for (int i = 0; i < 6; i++) {
            packet(i, local(MAC_A), i == 3 ? local(MAC_A) : local(MAC_B), 8);
        }
        wireA.room(2);
        assertThat(send(a, 6)).isEqualTo(2);
        assertThat(receive(a)).isZero();
        wireA.room(1);
        assertThat(a.transmit(out, 2, 4)).isEqualTo(2); // one on the wire, and the one to itself behind it
        assertThat(receive(a)).isEqualTo(1);
        wireA.room(9);
        assertThat(a.transmit(out, 4, 2)).isEqualTo(2);
        assertThat(receive(b)).isEqualTo(5);
        for (int i = 0; i < 5; i++) {
            assertThat(Bth.psn(in[i].slot, in[i].start)).isEqualTo(i < 3 ? i : i + 1);
        }
    }

    @Test
    void aFrameThatWasTooLargeForTheWiresMemoryIsMalformed() {
        open(GidType.ROCE_V1, Ethernet.NO_TAG);
        packet(0, local(MAC_A), local(MAC_B), 8);
        send(a, 1);
        deliver(java.util.Arrays.copyOf(onTheWire(wireB), 1 << 16));
        assertThat(receive(b)).isZero();
        assertThat(b.malformed()).isEqualTo(1);
    }

    /// Bytes of any kind, most of them near to what is right.
    @ParameterizedTest
    @EnumSource(
            value = GidType.class,
            names = {"ROCE_V1", "ROCE_V2"})
    void bytesOfAnyKindNeverThrow(GidType type) {
        open(type, Ethernet.NO_TAG);
        packet(0, a.gids().get(1).gid(), b.gids().get(1).gid(), 60);
        send(a, 1);
        byte[] right = onTheWire(wireB);
        var chance = new Random(22);
        long sent = 0;
        long taken = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] frame = java.util.Arrays.copyOf(right, chance.nextInt(right.length + 20));
            for (int changes = chance.nextInt(6); changes > 0 && frame.length > 0; changes--) {
                frame[chance.nextInt(frame.length)] = (byte) chance.nextInt();
            }
            deliver(frame);
            sent++;
            taken += receive(b);
        }
        assertThat(taken + b.malformed() + counter(b, "foreign")).isEqualTo(sent);
    }
}
