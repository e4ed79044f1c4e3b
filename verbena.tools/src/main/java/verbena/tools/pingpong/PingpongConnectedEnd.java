package verbena.tools.pingpong;

import picocli.CommandLine.Mixin;
import verbena.verbs.Mtu;

/// A ping-pong over connected queue pairs, whose messages may be longer than a packet.
abstract class PingpongConnectedEnd extends PingpongEnd {
    @Mixin
    private PingpongSizes sizes;

    PingpongConnectedEnd(PingpongService service) {
        super(service);
    }

    @Override
    final int size() {
        return sizes.size;
    }

    @Override
    final Mtu mtu() {
        return sizes.mtu();
    }
}
