package verbena.nic.link.psp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.nic.link.psp.PspNet.Datagram;
import verbena.nic.link.psp.PspNet.End;
import verbena.nic.link.psp.PspPolicy.Mode;
import verbena.nic.link.psp.PspPolicy.Rule;
import verbena.verbs.Gid;

/// Whose packets are protected: by address, and what two ends of different policies do.
class PspPolicyTest {
    private static final PspPolicy MIXED = new PspPolicy(
            List.of(
                    Rule.parse("10.0.0.0/8", Mode.OFFERED),
                    Rule.parse("10.9.0.0/16", Mode.OFF),
                    Rule.parse("10.9.1.1", Mode.REQUIRED),
                    Rule.parse("fd00::/8", Mode.OFFERED),
                    Rule.parse("fd00:0:0:7::/64", Mode.OFF),
                    Rule.parse("0.0.0.0/0", Mode.OFF)),
            Mode.REQUIRED);

    private final PspNet net = new PspNet();

    private End end(String address, PspPolicy policy) {
        net.policy = policy;
        return net.end(address, PspNet.SECRET, address.hashCode());
    }

    private End off(String address) {
        return end(address, new PspPolicy(List.of(), Mode.OFF));
    }

    @ParameterizedTest
    @CsvSource({
        "10.1.2.3, OFFERED",
        "10.9.2.3, OFF",
        "10.9.1.1, REQUIRED",
        "10.9.1.2, OFF",
        "192.168.0.1, OFF",
        "fd12::1, OFFERED",
        "fd00:0:0:7::9, OFF",
        "fd00:0:0:8::9, OFFERED",
        "2001:db8::1, REQUIRED"
    })
    void theLongestPrefixDecides(String address, Mode mode) {
        Gid gid = Gid.parse(address);
        assertThat(MIXED.of(gid.high(), gid.low())).isEqualTo(mode);
    }

    @Test
    void aWrongPrefixIsNamed() {
        for (String wrong :
                List.of("10.0.0.0/33", "fd00::/129", "10.0.0.0/x", "10.0.0.1/8", "ten", "fd00::1/64", "/8")) {
            assertThatThrownBy(() -> Rule.parse(wrong, Mode.OFF))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(wrong);
        }
        Rule one = Rule.parse("10.0.0.0/8", Mode.OFF);
        assertThatThrownBy(() -> new PspPolicy(List.of(one, Rule.parse("10.0.0.0/8", Mode.OFFERED)), Mode.OFF))
                .hasMessageContaining("two rules for 10.0.0.0");
    }

    private void exchange(End a, End b) {
        a.send(b.gid, 1);
        net.pass(PspNet.SECOND);
        assertThat(b.received).containsExactly(1);
        b.send(a.gid, 2);
        net.pass(PspNet.SECOND);
        assertThat(a.received).containsExactly(2);
        b.received.clear();
        a.received.clear();
    }

    private long inTheClear() {
        return net.seen.stream()
                .filter(datagram -> (datagram.bytes()[1] & 0xF) == 0)
                .count();
    }

    @Test
    void twoThatOfferAreProtected() {
        End a = end("10.0.0.1", PspPolicy.OFFERED);
        End b = end("10.0.0.2", PspPolicy.OFFERED);
        exchange(a, b);
        assertThat(inTheClear()).isZero();
        assertThat(a.count("psp.peers.plain.now") + b.count("psp.peers.plain.now"))
                .isZero();
    }

    @Test
    void oneThatOffersAndOneThatRequiresAreProtected() {
        End a = end("10.0.0.1", PspPolicy.REQUIRED);
        End b = end("10.0.0.2", PspPolicy.OFFERED);
        exchange(b, a);
        assertThat(inTheClear()).isZero();
    }

    @Test
    void oneThatOffersTalksInTheClearWithOneWithout() {
        End a = end("10.0.0.1", PspPolicy.OFFERED);
        End b = off("10.0.0.2");
        exchange(a, b);
        exchange(b, a);
        assertThat(inTheClear()).isEqualTo(4);
        assertThat(a.count("psp.peers.plain.now")).isEqualTo(1);
        assertThat(a.count("psp.received.plain")).isEqualTo(2);
        assertThat(a.dropped() + b.dropped()).isZero();
        // It goes on without a pause, and asks again now and then.
        long hellos = net.seen.stream().filter(Datagram::isExchange).count();
        for (int i = 0; i < 300; i++) {
            a.send(b.gid, i);
            net.settle();
            assertThat(b.received).hasSize(i + 1);
            net.pass(PspNet.SECOND);
        }
        assertThat(a.count("psp.keys.failed")).isBetween(4L, 7L);
        assertThat(net.seen.stream().filter(Datagram::isExchange).count() - hellos)
                .isBetween(20L, 80L);
    }

    /// The first answer is lost for so long that packets leave in the clear; then the peer answers.
    @Test
    void aPeerThatAnswersLateIsProtectedThen() {
        End a = end("10.0.0.1", PspPolicy.OFFERED);
        End b = end("10.0.0.2", PspPolicy.OFFERED);
        net.carrier = datagram -> {
            if (!datagram.isExchange()) {
                net.deliver(datagram);
            }
        };
        exchange(a, b);
        assertThat(inTheClear()).isEqualTo(2);
        net.carrier = net::deliver;
        for (int i = 0; i < 140; i++) {
            a.send(b.gid, i);
            net.pass(PspNet.SECOND);
        }
        long before = inTheClear();
        a.send(b.gid, 7);
        b.send(a.gid, 7);
        net.settle();
        assertThat(b.received).hasSize(141);
        assertThat(inTheClear()).isEqualTo(before);
        assertThat(a.count("psp.peers.plain.now") + b.count("psp.peers.plain.now"))
                .isZero();
    }

    /// A packet in the clear with the address of a protected peer is dropped, although protection is only offered.
    @Test
    void aProtectedPeerIsTakenAtItsWord() {
        End a = end("10.0.0.1", PspPolicy.OFFERED);
        End b = end("10.0.0.2", PspPolicy.OFFERED);
        exchange(a, b);
        End c = off("10.0.0.3");
        c.send(b.gid, 66);
        Datagram plain = net.wire.remove();
        b.arriving.add(new Datagram(a.gid, b.gid, plain.bytes()));
        net.settle();
        assertThat(b.received).isEmpty();
        assertThat(b.count("psp.dropped.plain")).isEqualTo(1);
        net.pass(2_000 * PspNet.SECOND); // its keys are dead
        b.arriving.add(new Datagram(a.gid, b.gid, plain.bytes()));
        net.settle();
        assertThat(b.received).containsExactly(66);
    }

    @Test
    void oneThatRequiresTakesNothingFromOneWithout() {
        End a = end("10.0.0.1", PspPolicy.REQUIRED);
        End b = off("10.0.0.2");
        b.send(a.gid, 1);
        a.send(b.gid, 2);
        net.pass(10 * PspNet.SECOND);
        assertThat(a.received).isEmpty();
        assertThat(b.received).isEmpty();
        assertThat(inTheClear()).isEqualTo(1);
        assertThat(a.count("psp.dropped.plain")).isEqualTo(1);
        assertThat(b.count("psp.keys.stray")).isPositive();
    }

    @Test
    void addressesHaveModesOfTheirOwn() {
        End a = end("10.9.1.1", MIXED);
        End offered = end("10.0.0.2", PspPolicy.OFFERED);
        End off = off("10.9.0.2");
        exchange(a, offered);
        assertThat(inTheClear()).isZero();
        exchange(a, off);
        assertThat(inTheClear()).isEqualTo(2);
        assertThat(a.count("psp.peers.now")).isEqualTo(1);
    }
}
