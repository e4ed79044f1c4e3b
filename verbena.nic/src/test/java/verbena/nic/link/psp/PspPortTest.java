package verbena.nic.link.psp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.link.psp.PspNet.Datagram;
import verbena.nic.link.psp.PspNet.End;
import verbena.wire.psp.PspHeader;
import verbena.wire.roce.RoceV2;

/// The UDP port of two devices with PSP: that of PSP where both have it and it is open, else that of RoCE.
class PspPortTest {
    private static final int PSP = PspHeader.UDP_PORT;

    private final PspNet net = new PspNet();
    private End a = net.end("10.0.0.1", PspNet.SECRET, 1);
    private End b = net.end("10.0.0.2", PspNet.SECRET, 2);

    private void begin(int portOfA, int portOfB) {
        net.forget();
        net.secondPort = portOfA;
        a = net.end("10.0.0.1", PspNet.SECRET, 1);
        net.secondPort = portOfB;
        b = net.end("10.0.0.2", PspNet.SECRET, 2);
    }

    /// Sends a packet each way, and returns the port of each that was encrypted; the first are of the agreement.
    private List<Integer> portsOfPackets() {
        a.send(b.gid, 1);
        net.settle();
        net.pass(PspNet.SECOND);
        net.seen.clear();
        a.send(b.gid, 2);
        b.send(a.gid, 3);
        net.settle();
        assertThat(b.received).containsExactly(1, 2);
        assertThat(a.received).containsExactly(3);
        return net.seen.stream().map(Datagram::port).toList();
    }

    private void loses(Predicate<Datagram> lost) {
        net.carrier = datagram -> {
            if (!lost.test(datagram)) {
                net.deliver(datagram);
            }
        };
    }

    private static int said(End end) {
        return end.psp.peers().getFirst().port();
    }

    @Test
    void packetsGoToThePortOfPspWhereBothEndsHaveIt() {
        begin(PSP, PSP);
        a.send(b.gid, 1);
        net.settle();
        // Hello, cookie, and two messages at the port where the device is known to be; the third tries the other.
        assertThat(net.seen.stream().filter(Datagram::isExchange).map(Datagram::port))
                .containsExactly(0, 0, 0, 0, PSP);
        net.seen.clear();
        a.received.clear();
        b.received.clear();
        assertThat(portsOfPackets()).containsExactly(PSP, PSP);
        assertThat(said(a)).isEqualTo(PSP);
        assertThat(said(b)).isEqualTo(PSP);
        assertThat(a.count("psp.port.now")).isEqualTo(PSP);
        assertThat(a.dropped() + b.dropped()).isZero();
    }

    @Test
    void whereOneEndLacksItBothUseThePortOfRoce() {
        begin(PSP, 0);
        assertThat(portsOfPackets()).containsExactly(0, 0);
        assertThat(said(a)).isEqualTo(RoceV2.UDP_PORT);
        assertThat(said(b)).isEqualTo(RoceV2.UDP_PORT);
        assertThat(b.count("psp.port.now")).isEqualTo(RoceV2.UDP_PORT);
    }

    @Test
    void whereTheOtherEndLacksItToo() {
        begin(0, PSP);
        assertThat(portsOfPackets()).containsExactly(0, 0);
    }

    /// The third message is repeated at the port of RoCE, and that is where all goes then.
    @Test
    void aFirewallBeforeOneEndCostsATenthOfASecond() {
        begin(PSP, PSP);
        loses(datagram -> datagram.port() == PSP && datagram.to().equals(b.gid));
        assertThat(portsOfPackets()).containsExactly(0, 0);
        assertThat(a.count("psp.keys.failed")).isZero();
    }

    @Test
    void aFirewallBeforeTheEndThatBeganCostsTheSame() {
        begin(PSP, PSP);
        loses(datagram -> datagram.port() == PSP && datagram.to().equals(a.gid));
        assertThat(portsOfPackets()).containsExactly(0, 0);
    }

    /// A busy process takes a message after the other end has repeated it. Both ports are open, so both ends use
    /// that of PSP, whichever of the two the process looks at first.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anEndThatIsSlowUsesThePortOfPspAllTheSame(boolean inOrder) {
        begin(PSP, PSP);
        List<Datagram> late = new ArrayList<>();
        net.carrier = datagram -> {
            boolean isLast = datagram.isExchange() && (datagram.port() == PSP || !late.isEmpty());
            if (isLast) {
                late.add(datagram);
            } else {
                net.deliver(datagram);
            }
        };
        a.send(b.gid, 1);
        net.settle();
        net.pass(PspNet.SECOND / 5);
        assertThat(late).extracting(Datagram::port).containsExactly(PSP, 0);
        net.carrier = net::deliver;
        (inOrder ? late : late.reversed()).forEach(net::deliver);
        net.settle();
        a.received.clear();
        b.received.clear();
        a.send(b.gid, 0); // from which b learns it
        net.settle();
        b.received.clear();
        assertThat(portsOfPackets()).containsExactly(PSP, PSP);
        assertThat(said(a)).isEqualTo(PSP);
        assertThat(said(b)).isEqualTo(PSP);
    }

    /// So that no packet is lost by another try.
    @Test
    void newKeysAreForThePortOfTheOldOnes() {
        begin(PSP, PSP);
        loses(datagram -> datagram.port() == PSP);
        assertThat(portsOfPackets()).containsExactly(0, 0);
        net.seen.clear();
        a.received.clear();
        b.received.clear();
        for (int i = 0; i < 1_000; i++) { // keys are replaced after 500
            a.send(b.gid, i);
            net.settle();
        }
        assertThat(a.psp.peers().getFirst().agreements()).isGreaterThan(1);
        assertThat(b.received).hasSize(1_000);
        assertThat(net.seen).allSatisfy(datagram -> assertThat(datagram.port()).isZero());
    }

    @Test
    void aPacketInTheClearAtThePortOfPspIsNone() {
        net.policy = PspPolicy.OFFERED;
        begin(PSP, PSP);
        assertThat(portsOfPackets()).containsExactly(PSP, PSP);
        byte[] clear = new byte[64];
        clear[0] = 100; // a SEND of datagrams
        b.arriving.add(new Datagram(a.gid, b.gid, clear, PSP));
        net.settle();
        assertThat(b.received).containsExactly(1, 2);
        assertThat(b.count("psp.dropped.length")).isOne();
    }
}
