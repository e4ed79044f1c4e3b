package verbena.tools.perf;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import verbena.fuzz.Contract;
import verbena.fuzz.Input;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Context;
import verbena.verbs.Endpoint;
import verbena.verbs.GidType;
import verbena.verbs.Mtu;

/// The messages of the peer of a measurement: versions and sizes, and its queue pair, as text and as a structure.
/// The input is all its messages in turn. It is in this package because that is where the messages are.
public final class PerfExchangeTarget {
    private PerfExchangeTarget() {}

    public static void run(byte[] data) {
        var in = new Input(data);
        int choices = in.u8();
        byte[] said = in.rest();
        switch (choices % 3) {
            case 0 -> {
                var peers = new ArrayList<PerfPeer>();
                Contract.worksOrFailsBy(IllegalArgumentException.class, () -> peers.add(PerfPeer.ofText(said)));
                for (PerfPeer peer : peers) {
                    Contract.equal(PerfPeer.TEXT_BYTES, peer.text().length, "the length of the text");
                    Contract.equal(peer, PerfPeer.ofText(peer.text()), "said and heard again");
                    believed(peer);
                }
            }
            case 1 -> {
                var peers = new ArrayList<PerfPeer>();
                byte[] structure = Arrays.copyOf(said, PerfPeer.STRUCTURE_BYTES);
                Contract.worksOrFailsBy(
                        IllegalArgumentException.class, () -> peers.add(PerfPeer.ofStructure(structure)));
                for (PerfPeer peer : peers) {
                    Contract.equal(peer, PerfPeer.ofStructure(peer.structure()), "said and heard again");
                    believed(peer);
                }
            }
            default ->
                Contract.worksOrFailsBy(CommandFailed.class, () -> {
                    Exchange.Agreement agreed =
                            new Scripted(said).agree(Mtu.MTU_1024, List.of("--rate-limit", "size 4096"), true);
                    Contract.holds(agreed.mtu().compareTo(Mtu.MTU_1024) <= 0, "no larger path MTU than here");
                    Contract.holds(agreed.cycle() >= 4_096 && agreed.cacheLine() >= 64, "no less than here");
                });
        }
    }

    /// Checks that an accepted peer can be connected to.
    private static void believed(PerfPeer peer) {
        Contract.holds(!peer.lines("remote", Verb.READ).isEmpty(), "printed");
        var _ = new Endpoint(peer.gid(), GidType.ROCE_V2, peer.qpn(), peer.psn(), Mtu.MTU_1024);
        Contract.holds(peer.outstanding() >= 0, "a number of READs");
    }

    /// An exchange that plays the messages of the input.
    private static final class Scripted implements Exchange {
        private final Input in;

        Scripted(byte[] said) {
            in = new Input(said);
        }

        @Override
        public byte[] swap(byte[] mine) {
            return Arrays.copyOf(in.take(mine.length), mine.length);
        }

        @Override
        public PerfPeer swap(PerfPeer mine) {
            return mine;
        }

        @Override
        public void waitWithoutLimit() {}

        @Override
        public boolean hasEnded() {
            return false;
        }

        @Override
        public void part(boolean done) {}

        @Override
        public InetAddress localAddress() {
            return InetAddress.getLoopbackAddress();
        }

        @Override
        public InetAddress remoteAddress() {
            return InetAddress.getLoopbackAddress();
        }

        @Override
        public Optional<Context> context() {
            return Optional.empty();
        }

        @Override
        public String peer() {
            return "the test";
        }

        @Override
        public void close() {}
    }
}
