package verbena.nic.link.udp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static verbena.nic.link.LinkBench.frames;
import static verbena.nic.link.LinkBench.gidOf;
import static verbena.nic.link.LinkBench.lastByte;
import static verbena.nic.link.LinkBench.number;
import static verbena.nic.link.LinkBench.openAnywhere;
import static verbena.nic.link.LinkBench.receiveAll;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.nic.link.LinkBench;
import verbena.nic.link.LinkKind;
import verbena.nic.link.Namespace;
import verbena.verbs.Gid;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// Successive packets that leave as one message and are cut on the way (UDP_SEGMENT), and packets that arrive as
/// one message (UDP_GRO).
@EnabledOnOs(value = OS.LINUX, disabledReason = "Linux system calls")
@Timeout(120)
class SegmentsTest {
    private static final int QPN = 0x11_2233;
    private static final int FULL = 4096 + 12 + 16 + 4;

    /// Packets for one queue pair, so that they may travel together.
    static Frame[] run(Gid source, Gid destination, int... lengths) {
        Frame[] frames = frames(lengths.length);
        for (int i = 0; i < lengths.length; i++) {
            LinkBench.fill(frames[i], source, destination, i, lengths[i]);
            BigEndian.put24(frames[i].slot, frames[i].start + 5, QPN);
        }
        return frames;
    }

    private static int[] equal(int count, int length) {
        int[] lengths = new int[count];
        Arrays.fill(lengths, length);
        return lengths;
    }

    /// Where nothing cuts the message, the i-th packet arrives as a part of it, with an ICRC sealed for
    /// identification i. This shows that the packets have left together.
    @Test
    void theIcrcOfTheIthIsSealedForIdentificationI() {
        try (UdpLink a = openAnywhere(LinkBench.options(LinkKind.LINUX));
                UdpLink b = openAnywhere(LinkBench.options(LinkKind.LINUX))) {
            Frame[] sent = run(gidOf(a), gidOf(b), 256, 256, 256, 64, 256, 256);
            a.transmit(sent, 0, sent.length);
            Frame[] received = frames(sent.length);
            assertThat(receiveAll(b, received, sent.length)).isEqualTo(sent.length);

            int[] identifications = {0, 1, 2, 3, 0, 1}; // a shorter one is the last of its message
            var roce = new RoceV2();
            for (int i = 0; i < sent.length; i++) {
                assertThat(received[i].icrcValid).isTrue();
                assertThat(roce.verify(received[i], identifications[i], RoceV2.DONT_FRAGMENT))
                        .as("packet %d has identification %d", i, identifications[i])
                        .isTrue();
            }
        }
    }

    /// Packets to another place, or sent in another way, do not travel together.
    @Test
    void eachMessageHasOneDestinationOneWayAndOneSlot() {
        try (UdpLink a = openAnywhere(LinkBench.options(LinkKind.LINUX));
                UdpLink b = openAnywhere(LinkBench.options(LinkKind.LINUX));
                UdpLink c = openAnywhere(LinkBench.options(LinkKind.LINUX))) {
            Frame[] sent = run(gidOf(a), gidOf(b), equal(8, 128));
            sent[2].trafficClass = 0x68;
            sent[3].trafficClass = 0x68;
            sent[5].hopLimit = 9;
            BigEndian.put24(sent[7].slot, sent[7].start + 5, 0x22_0001);
            Frame[] elsewhere = run(gidOf(a), gidOf(c), 128);
            Frame[] all = {sent[0], sent[1], elsewhere[0], sent[2], sent[3], sent[4], sent[5], sent[6], sent[7]};
            a.transmit(all, 0, all.length);
            Frame[] received = frames(8);
            assertThat(receiveAll(b, received, 8)).isEqualTo(8);
            assertThat(receiveAll(c, frames(1), 1)).isEqualTo(1);

            int[] identifications = {0, 1, 0, 1, 0, 0, 0, 0};
            var roce = new RoceV2();
            for (int i = 0; i < 8; i++) {
                assertThat(number(received[i])).isEqualTo(i);
                assertThat(received[i].trafficClass).isEqualTo(sent[i].trafficClass);
                assertThat(received[i].hopLimit).isEqualTo(i == 5 ? 9 : 64);
                assertThat(roce.verify(received[i], identifications[i], RoceV2.DONT_FRAGMENT))
                        .as("packet %d has identification %d", i, identifications[i])
                        .isTrue();
            }
        }
    }

    /// Batches of every shape, received in pieces of every size, by links with and without messages of many
    /// packets. Each packet arrives once, whole and in order.
    @ParameterizedTest
    @CsvSource({"LINUX, LINUX", "LINUX, PORTABLE", "PORTABLE, LINUX"})
    void whateverTravelsTogetherArrivesOnceAndInOrder(LinkKind sender, LinkKind receiver) {
        var random = new Random(20);
        try (UdpLink a = openAnywhere(LinkBench.options(sender));
                UdpLink b = openAnywhere(LinkBench.options(receiver))) {
            for (int round = 0; round < 300; round++) {
                int[] lengths = new int[1 + random.nextInt(150)];
                int length = 0;
                for (int i = 0; i < lengths.length; i++) {
                    if (i == 0 || random.nextInt(6) == 0) {
                        length = random.nextInt(4) == 0 ? FULL : 16 + 4 * random.nextInt((FULL - 16) / 4);
                    }
                    lengths[i] = length;
                }
                Frame[] sent = run(gidOf(a), gidOf(b), lengths);
                assertThat(a.transmit(sent, 0, sent.length)).isEqualTo(sent.length);
                Frame[] received = frames(sent.length);
                int arrived = 0;
                while (arrived < sent.length) {
                    int piece = Math.min(1 + random.nextInt(64), sent.length - arrived);
                    arrived += receiveAll(b, Arrays.copyOfRange(received, arrived, arrived + piece), piece);
                }
                assertThat(b.hasArrivals()).as("more than was sent").isFalse();
                for (int i = 0; i < sent.length; i++) {
                    assertThat(received[i].icrcValid).isTrue();
                    assertThat(number(received[i])).isEqualTo(i);
                    assertThat(received[i].length).isEqualTo(lengths[i]);
                    assertThat(lastByte(received[i])).isEqualTo(lengths[i] < 20 ? lastByte(sent[i]) : (byte) i);
                }
            }
        }
    }

    /// Packets that the system has delivered and the engine has not taken yet: the system would not wake a sleeper
    /// for them again.
    @Test
    void theRestOfAMessageIsNotForgotten() {
        try (UdpLink a = openAnywhere(LinkBench.options(LinkKind.LINUX));
                UdpLink b = openAnywhere(LinkBench.options(LinkKind.LINUX))) {
            Frame[] sent = run(gidOf(a), gidOf(b), equal(5, 64));
            a.transmit(sent, 0, 5);
            Frame[] received = frames(1);
            for (int i = 0; i < 5; i++) {
                assertThat(receiveAll(b, received, 1)).isEqualTo(1);
                assertThat(number(received[0])).isEqualTo(i);
                assertThat(b.hasArrivals()).isEqualTo(i < 4);
            }
        }
    }

    /// One inverted bit in the middle of a message costs one packet.
    @Test
    void oneDamagedPacketDoesNotTaintItsCompanions() {
        try (UdpLink a = openAnywhere(LinkBench.options(LinkKind.LINUX));
                UdpLink b = openAnywhere(LinkBench.options(LinkKind.LINUX))) {
            Frame[] sent = run(gidOf(a), gidOf(b), equal(9, FULL));
            sent[4].marks.damagedBit = 8 * 1000 + 3;
            a.transmit(sent, 0, 9);
            Frame[] received = frames(9);
            assertThat(receiveAll(b, received, 9)).isEqualTo(9);
            for (int i = 0; i < 9; i++) {
                assertThat(received[i].icrcValid).isEqualTo(i != 4);
            }
        }
    }

    /// In a network namespace whose loopback cuts messages, as a network card would.
    @Test
    void whatIsCutOnTheWayCarriesTheIdentificationsThatWereSealed() throws Exception {
        Namespace cutting = Namespace.with("ip link set lo gso_max_segs 1 && ip link set lo up");
        assumeTrue(cutting != null, "no right to a network namespace here");

        assertThat(cutting.run(CutOnTheWay.class, "identifications")).isEmpty();
    }

    /// Packets that are too long for the path are refused one by one, and no other packet is.
    @Test
    void aRefusedMessageIsSentOneByOne() throws Exception {
        Namespace narrow = Namespace.with("ip link set lo mtu 1500 && ip link set lo up");
        assumeTrue(narrow != null, "no right to a network namespace here");

        assertThat(narrow.run(CutOnTheWay.class, "narrow")).isEmpty();
    }
}
