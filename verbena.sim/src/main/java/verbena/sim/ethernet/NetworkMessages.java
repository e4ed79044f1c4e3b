package verbena.sim.ethernet;

/// Messages between the hosts of an [EthernetNetwork], by the caller's virtual time. The packets of a message pass the
/// links and switches, with their rates, delays, queues, marks and pauses. A message has arrived when the last of its
/// packets has. Nothing is sent again: a caller asks for [#lost].
///
/// All times are in picoseconds. One thread.
public final class NetworkMessages {
    private static final long NOT_LAST = -1;

    private final EthernetNetwork network;
    private final Calendar calendar;
    private long arrived;
    private long over;

    /// A taker of messages that have arrived.
    public interface Arrival {
        /// Takes a message.
        ///
        /// @param number the one that [#send] was given
        void arrived(long number, long now);
    }

    /// Takes a network that has begun, and has no transfers.
    public NetworkMessages(EthernetNetwork network, Arrival arrival) {
        this.network = network;
        this.calendar = network.calendar();
        network.pool().onFrameOver(_ -> over++);
        for (Host host : network.hosts()) {
            host.outside((packet, now) -> {
                arrived++;
                if (packet.psn != NOT_LAST) {
                    arrival.arrived(packet.psn, now);
                }
            });
        }
    }

    /// Sends a message. Its packets wait in the card of the host until the link is free.
    ///
    /// @param bytes of the message, without headers
    /// @param mtu the most bytes of a packet, without headers
    /// @param headers the bytes that each packet has besides, with the gap between frames
    /// @param number of the message, 0 or more
    /// @param now not before anything that is [#due]
    public void send(int from, int to, int bytes, int mtu, int headers, long number, long now) {
        calendar.pass(now);
        int left = bytes;
        do {
            int part = Math.min(left, mtu);
            left -= part;
            LightPacket packet =
                    network.pool().take(LightPacket.Kind.DATA, part + headers, 0, left > 0 ? NOT_LAST : number);
            packet.to = to;
            packet.hash = from * 31 + to;
            packet.frame = 0; // so that the pool tells of its end
            network.hosts().get(from).port().add(packet, now);
        } while (left > 0);
    }

    /// Returns the time of what happens next in the network; [Long#MAX_VALUE] for never.
    public long due() {
        return calendar.due();
    }

    /// Lets what is [#due] happen.
    public void step() {
        calendar.step(Calendar.NEVER);
    }

    /// Returns what a byte takes on the link of a host.
    public long picosPerByte(int host) {
        return network.hosts().get(host).port().picosPerByte;
    }

    /// Returns the number of packets that are over and have not arrived.
    public long lost() {
        return over - arrived;
    }
}
