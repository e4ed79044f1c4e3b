package verbena.nic.link;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.MembershipKey;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// UDP through [DatagramChannel]: every platform, no native access.
///
/// What the JDK does not offer, and so is different from [LinuxUdpLink]:
///
/// - IPv6 datagrams with UDP checksum 0, as soft-RoCE and hardware send them, do not arrive on Linux;
/// - one packet a system call;
/// - [Frame#trafficClass] and [Frame#hopLimit] of arrivals are 0, that is unknown; on the way out the traffic
/// class is set, but for its lowest bit, which the JDK masks (an ECN codepoint of ECT(1) or CE cannot be sent),
/// and the hop limit is the system's, but for multicasts;
/// - the sleep is rounded up to milliseconds;
/// - of an IPv6 group whose addresses reach beyond one network (not `ff02::` or `ff12::`) a member also gets what
/// other interfaces bring, where a program of this host has joined there;
/// - [#packetMax()] is at most one word less than a frame holds: a datagram that fills the frame might have been
/// cut, so it counts as malformed.
///
/// Steady traffic with one peer allocates nothing here; a change of the sender makes the JDK allocate an address.
public final class DatagramChannelLink extends UdpLink {
    private static final int WORD = 4;

    // Of the own addresses, in their order: what is sent leaves by these.
    private final List<Endpoint> endpoints = new ArrayList<>();
    // Those, then the ones of groups; never changed, but replaced. The closer reads it too.
    private volatile List<Receiver> receivers;
    private final UdpChannels channels;
    private final Selector selector;
    private final boolean fragmentationForbidden;
    private final long receiveBufferBytes;
    private final long sendBufferBytes;
    private int firstToReceive;

    /// A channel and the address, or the group, that it is bound to.
    private static class Receiver {
        final DatagramChannel channel;
        final SelectionKey key;
        final long gidHigh;
        final long gidLow;
        /// Of a group's channel; else null.
        final @Nullable MembershipKey membership;
        // The last one and what it means, so that steady traffic makes no GIDs.
        @Nullable
        SocketAddress sender;

        long senderHigh;
        long senderLow;
        int senderPort;

        Receiver(DatagramChannel channel, SelectionKey key, Gid gid, @Nullable MembershipKey membership) {
            this.channel = channel;
            this.key = key;
            this.membership = membership;
            gidHigh = gid.high();
            gidLow = gid.low();
        }
    }

    /// One that also sends.
    private static final class Endpoint extends Receiver {
        final AddressCache destinations;
        int trafficClass;
        int multicastHops = MULTICAST_HOPS_DEFAULT;

        Endpoint(DatagramChannel channel, SelectionKey key, GidEntry entry, int port) {
            super(channel, key, entry.gid(), null);
            destinations = new AddressCache(port, entry.interfaceIndex());
        }
    }

    /// @throws LinkException when an address cannot be had
    DatagramChannelLink(List<GidEntry> addresses, int port, UdpLinks.Options options) {
        super(addresses, port, options);
        channels = new UdpChannels(port, options);
        Selector opening = Channels.openSelector();
        boolean opened = false;
        try {
            boolean forbidden = true;
            long receiveBuffer = Long.MAX_VALUE;
            long sendBuffer = Long.MAX_VALUE;
            for (GidEntry entry : addresses) {
                DatagramChannel channel = channels.openOwn(entry);
                try {
                    endpoints.add(new Endpoint(channel, channel.register(opening, SelectionKey.OP_READ), entry, port));
                } catch (ClosedChannelException e) {
                    throw new LinkException(LinkException.Kind.FAILED, "link: closed while opening", e);
                }
                forbidden &= UdpChannels.forbidFragmentation(channel);
                receiveBuffer = Math.min(receiveBuffer, channel.getOption(StandardSocketOptions.SO_RCVBUF));
                sendBuffer = Math.min(sendBuffer, channel.getOption(StandardSocketOptions.SO_SNDBUF));
            }
            receivers = List.copyOf(endpoints);
            fragmentationForbidden = forbidden;
            receiveBufferBytes = receiveBuffer;
            sendBufferBytes = sendBuffer;
            opened = true;
        } catch (IOException e) {
            throw new LinkException(LinkException.Kind.FAILED, "link: " + e.getMessage(), e);
        } finally {
            if (!opened) {
                closeAll(endpoints, opening);
            }
        }
        selector = opening;
    }

    private Receiver openGroup(Gid group, GidEntry at) {
        UdpChannels.Joined joined = channels.openGroup(group, at);
        try {
            SelectionKey key = joined.channel().register(selector, SelectionKey.OP_READ);
            return new Receiver(joined.channel(), key, group, joined.membership());
        } catch (IOException | ClosedSelectorException e) {
            Channels.close(joined.channel());
            throw LinkException.ofJoin(LinkException.Kind.FAILED, group, at, String.valueOf(e.getMessage()), e);
        }
    }

    /// Whether "don't fragment" could be set on every socket. Without it the IPv4 identification is unpredictable,
    /// and peers that check the ICRC in full, soft-RoCE and hardware, drop this link's packets over IPv4; a peer
    /// behind a socket, as every Verbena link is, does not see the identification and takes them.
    public boolean isFragmentationForbidden() {
        return fragmentationForbidden;
    }

    @Override
    public int packetMax() {
        return Math.min(super.packetMax(), Frame.PACKET_MAX - WORD);
    }

    @Override
    public long receiveBufferBytes() {
        return receiveBufferBytes;
    }

    @Override
    public long sendBufferBytes() {
        return sendBufferBytes;
    }

    // --- multicast

    @Override
    void listen(Gid group, Collection<GidEntry> interfaces) {
        var all = new ArrayList<>(receivers);
        boolean listening = false;
        try {
            for (GidEntry at : interfaces) {
                all.add(openGroup(group, at));
            }
            receivers = List.copyOf(all);
            listening = selector.isOpen(); // else the closer may have missed the new ones
        } finally {
            if (!listening) {
                close(all, group);
            }
        }
    }

    @Override
    void ignore(Gid group) {
        var all = new ArrayList<>(receivers);
        close(all, group);
        receivers = List.copyOf(all);
    }

    private static void close(List<Receiver> all, Gid group) {
        all.removeIf(receiver -> {
            boolean bound = receiver.gidLow == group.low() && receiver.gidHigh == group.high();
            if (bound) {
                if (receiver.membership != null) {
                    receiver.membership.drop(); // now: the socket lives on until the selector is asked next
                }
                Channels.close(receiver.channel);
            }
            return bound;
        });
    }

    // --- receiving

    @Override
    public int receive(Frame[] frames, int from, int count) {
        int received = 0;
        List<Receiver> all = receivers;
        int size = all.size();
        int first = firstToReceive < size ? firstToReceive : 0; // there may be fewer than last time
        firstToReceive = first + 1;
        for (int i = 0; i < size && received < count; i++) {
            Receiver receiver = all.get((first + i) % size);
            while (received < count) {
                Arrival arrival = receiveOne(receiver, frames[from + received]);
                if (arrival == Arrival.NOTHING) {
                    break;
                }
                if (arrival == Arrival.PACKET) {
                    received++;
                }
            }
        }
        return received;
    }

    private enum Arrival {
        NOTHING,
        MALFORMED,
        PACKET
    }

    private Arrival receiveOne(Receiver receiver, Frame frame) {
        frame.viewOwn();
        ByteBuffer buffer = frame.buffer.clear().position(frame.start);
        try {
            SocketAddress sender = receiver.channel.receive(buffer);
            if (sender == null) {
                return Arrival.NOTHING;
            }
            int length = buffer.position() - frame.start;
            if (length < PACKET_MIN || length == Frame.PACKET_MAX) {
                malformed.incrementAndGet();
                return Arrival.MALFORMED;
            }
            takeSender(receiver, sender);
            frame.length = length;
            frame.sourceHigh = receiver.senderHigh;
            frame.sourceLow = receiver.senderLow;
            frame.sourcePort = receiver.senderPort;
            frame.destinationHigh = receiver.gidHigh;
            frame.destinationLow = receiver.gidLow;
            frame.trafficClass = 0;
            frame.hopLimit = 0;
            buffer.clear();
            seal.judge(frame, 0);
            return Arrival.PACKET;
        } catch (IOException _) {
            // Closed, or late news about what was sent (ICMP): nothing arrived.
            return Arrival.NOTHING;
        } finally {
            buffer.clear();
        }
    }

    private static void takeSender(Receiver receiver, SocketAddress sender) {
        if (sender.equals(receiver.sender)) {
            return;
        }
        var address = (InetSocketAddress) sender;
        Gid gid = Gid.of(address.getAddress());
        receiver.sender = sender;
        receiver.senderHigh = gid.high();
        receiver.senderLow = gid.low();
        receiver.senderPort = address.getPort();
    }

    // --- sending

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        for (int done = 0; done < count; done++) {
            Frame frame = frames[from + done];
            Endpoint endpoint = endpointOf(frame);
            if (endpoint == null) {
                refuse(frame);
                continue;
            }
            seal.seal(frame, 0);
            if (!send(endpoint, frame)) {
                return done;
            }
        }
        return count;
    }

    private @Nullable Endpoint endpointOf(Frame frame) {
        for (int i = 0; i < endpoints.size(); i++) {
            Endpoint endpoint = endpoints.get(i);
            if (frame.sourceLow == endpoint.gidLow && frame.sourceHigh == endpoint.gidHigh && isSameFamily(frame)) {
                return endpoint;
            }
        }
        return null;
    }

    // False when the way out is full, or closed.
    private boolean send(Endpoint endpoint, Frame frame) {
        ByteBuffer buffer =
                frame.buffer.clear().limit(frame.start + frame.length).position(frame.start);
        try {
            setTrafficClass(endpoint, frame.trafficClass);
            if (RoceV2.isMulticast(frame.destinationHigh, frame.destinationLow)) {
                setMulticastHops(endpoint, frame.hopLimit == 0 ? MULTICAST_HOPS_DEFAULT : frame.hopLimit);
            }
            SocketAddress destination = endpoint.destinations.of(frame.destinationHigh, frame.destinationLow);
            boolean sent = endpoint.channel.send(buffer, destination) > 0;
            if (!sent) {
                endpoint.key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            }
            return sent;
        } catch (ClosedChannelException | CancelledKeyException _) {
            return false;
        } catch (IOException _) {
            // No route, too large, forbidden: the JDK has one exception for all.
            refuse(frame);
            return true;
        } finally {
            buffer.clear();
        }
    }

    // A system call, but only when it changes.
    private static void setTrafficClass(Endpoint endpoint, int trafficClass) throws IOException {
        if (trafficClass != endpoint.trafficClass) {
            endpoint.channel.setOption(StandardSocketOptions.IP_TOS, trafficClass);
            endpoint.trafficClass = trafficClass;
        }
    }

    // Likewise.
    private static void setMulticastHops(Endpoint endpoint, int hops) throws IOException {
        if (hops != endpoint.multicastHops) {
            endpoint.channel.setOption(StandardSocketOptions.IP_MULTICAST_TTL, hops);
            endpoint.multicastHops = hops;
        }
    }

    // --- sleeping

    // Interest in room to send is for one sleep.
    private static void backToReading(SelectionKey key) {
        key.interestOps(SelectionKey.OP_READ);
    }

    /// As [Link#await(long)]; returns as well when there is room again after [#transmit] took fewer than it was
    /// given.
    @Override
    public void await(long timeoutNanos) {
        if (!selector.isOpen() || !signal.sleep()) {
            return;
        }
        try {
            Channels.sleep(selector, timeoutNanos, DatagramChannelLink::backToReading);
        } finally {
            signal.awake();
        }
    }

    @Override
    public void wakeup() {
        if (signal.raise()) {
            selector.wakeup();
        }
    }

    @Override
    public void close() {
        closeAll(receivers, selector);
    }

    // Channels first: a closed selector lets go of them.
    private static void closeAll(List<? extends Receiver> receivers, Selector open) {
        for (Receiver receiver : receivers) {
            Channels.close(receiver.channel);
        }
        Channels.close(open);
    }
}
