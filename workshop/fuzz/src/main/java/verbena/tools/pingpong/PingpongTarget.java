package verbena.tools.pingpong;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import verbena.fuzz.Contract;
import verbena.verbs.Endpoint;
import verbena.verbs.GidType;
import verbena.verbs.Mtu;

/// The messages of the peer of a ping-pong over TCP. The input is a message. It is in this package because that is
/// where the messages are.
public final class PingpongTarget {
    private PingpongTarget() {}

    public static void run(byte[] data) {
        String text = new String(data, StandardCharsets.ISO_8859_1);
        var parsed = new ArrayList<PingpongPeer>();
        Contract.worksOrFailsBy(IllegalArgumentException.class, () -> parsed.add(PingpongPeer.parse(text)));
        for (PingpongPeer peer : parsed) {
            Contract.equal(PingpongPeer.MESSAGE_BYTES, peer.message().length(), "the length of a message");
            Contract.equal(peer, PingpongPeer.parse(peer.message()), "said and heard again");
            Contract.holds(!peer.toString().isEmpty(), "printed");
            // What was believed can be connected to.
            var _ = new Endpoint(peer.gid(), GidType.ROCE_V2, peer.qpn(), peer.psn(), Mtu.MTU_1024);
        }
    }
}
