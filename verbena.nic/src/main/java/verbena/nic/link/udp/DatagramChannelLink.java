package verbena.nic.link.udp;

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
import verbena.nic.link.Channels;
import verbena.nic.link.LinkException;
import verbena.nic.link.LoopbackAddress;
import verbena.nic.link.UdpSeal;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// UDP through [DatagramChannel]: every platform, no native access.
///
/// The JDK does not offer everything, so this link differs from [LinuxUdpLink]:
///
/// - IPv6 datagrams with UDP checksum 0, as soft-RoCE and hardware send them, do not arrive on Linux;
/// - each system call carries one packet;
/// - [Frame#trafficClass] and [Frame#hopLimit] of arrivals are 0, which means unknown;
/// - departures carry the traffic class without its lowest bit, which the JDK masks, so ECT(1) and CE (ECN) cannot
///   be sent; except for multicasts, the hop limit is the system's;
/// - the sleep is rounded up to milliseconds;
/// - a member of an IPv6 group may get packets from another interface, if a program of this host has joined there. It
///   may not for groups of one network (`ff02::`, `ff12::`);
/// - [#packetMax()] is at least one word less than a frame holds: a datagram that fills the frame might have been
///   cut, so it counts as malformed.
///
/// Steady traffic with one peer allocates nothing here; a change of the sender makes the JDK allocate an address.
public final class DatagramChannelLink extends UdpLink {
    private static final int WORD = 4;

    // One for each own address, in their order: departures leave by these.
    private final List<Endpoint> endpoints = new ArrayList<>();
    // The endpoints, then the receivers of groups. The list never changes, but is replaced; the closing thread reads
    // it too.
    private volatile List<Receiver> receivers;
    private final UdpChannels channels;
    /// Whether addresses of loopback are [StandIn]s.
    private final boolean isLone;
    private final Selector selector;
    private final boolean fragmentationForbidden;
    private final long receiveBufferBytes;
    private final long sendBufferBytes;
    private int firstToReceive;

    /// A channel and the address or group that it is bound to.
    private static class Receiver {
        final DatagramChannel channel;
        final SelectionKey key;
        final long gidHigh;
        final long gidLow;
        /// The membership of a group's channel; null for other channels.
        final @Nullable MembershipKey membership;
        // The last sender and its GID, so that steady traffic creates no GIDs.
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

    /// A receiver that also sends.
    private static final class Endpoint extends Receiver {
        final AddressCache destinations;
        int trafficClass;
        int multicastHops = MULTICAST_HOPS_DEFAULT;

        Endpoint(DatagramChannel channel, SelectionKey key, GidEntry entry, AddressCache destinations) {
            super(channel, key, entry.gid(), null);
            this.destinations = destinations;
        }
    }

    /// @throws LinkException when an address cannot be had
    DatagramChannelLink(List<GidEntry> addresses, int port, UdpOptions options) {
        this(addresses, port, options, !LoopbackAddress.isWhole());
    }

    /// @param isLone whether only 127.0.0.1 of 127.0.0.0/8 is local
    /// @throws LinkException when an address cannot be had
    DatagramChannelLink(List<GidEntry> addresses, int port, UdpOptions options, boolean isLone) {
        super(addresses, port, options);
        this.isLone = isLone;
        channels = new UdpChannels(port, options, isLone);
        Selector opening = Channels.openSelector();
        boolean opened = false;
        try {
            boolean forbidden = true;
            long receiveBuffer = Long.MAX_VALUE;
            long sendBuffer = Long.MAX_VALUE;
            for (GidEntry entry : addresses) {
                DatagramChannel channel = channels.openOwn(entry);
                try {
                    SelectionKey key = channel.register(opening, SelectionKey.OP_READ);
                    var destinations = new AddressCache(port, entry.interfaceIndex(), isLone);
                    endpoints.add(new Endpoint(channel, key, entry, destinations));
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

    /// Returns whether "don't fragment" could be set on every socket. Without it, the IPv4 identification is
    /// unpredictable. Peers that check the whole ICRC (soft-RoCE and hardware) then drop this link's packets over
    /// IPv4. A peer behind a socket, as every Verbena link is, does not see the identification and accepts the
    /// packets.
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
            listening = selector.isOpen(); // otherwise the closing thread may have missed the new channels
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
                    receiver.membership.drop(); // at once: the socket lives on until the next call of the selector
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
        int first = firstToReceive < size ? firstToReceive : 0; // there may be fewer receivers than last time
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
            // The channel is closed, or reports an ICMP error of an earlier packet: nothing has arrived.
            return Arrival.NOTHING;
        } finally {
            buffer.clear();
        }
    }

    private void takeSender(Receiver receiver, SocketAddress sender) {
        if (sender.equals(receiver.sender)) {
            return;
        }
        var address = (InetSocketAddress) sender;
        Gid gid = isLone ? StandIn.gidOf(address, port()) : Gid.of(address.getAddress());
        receiver.sender = sender;
        receiver.senderHigh = gid.high();
        receiver.senderLow = gid.low();
        receiver.senderPort = isLone && gid.address().isLoopbackAddress() ? port() : address.getPort();
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
            if (frame.sourceLow == endpoint.gidLow
                    && frame.sourceHigh == endpoint.gidHigh
                    && UdpSeal.isSameFamily(frame)) {
                return endpoint;
            }
        }
        return null;
    }

    // Returns false when there is no room to send, or the channel is closed.
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
            // No route, too large, forbidden: the JDK throws one exception for all of these.
            refuse(frame);
            return true;
        } finally {
            buffer.clear();
        }
    }

    // A system call, made only when the traffic class changes.
    private static void setTrafficClass(Endpoint endpoint, int trafficClass) throws IOException {
        if (trafficClass != endpoint.trafficClass) {
            endpoint.channel.setOption(StandardSocketOptions.IP_TOS, trafficClass);
            endpoint.trafficClass = trafficClass;
        }
    }

    // A system call, made only when the hop limit changes.
    private static void setMulticastHops(Endpoint endpoint, int hops) throws IOException {
        if (hops != endpoint.multicastHops) {
            endpoint.channel.setOption(StandardSocketOptions.IP_MULTICAST_TTL, hops);
            endpoint.multicastHops = hops;
        }
    }

    // --- sleeping

    // Interest in room to send lasts for one sleep.
    private static void backToReading(SelectionKey key) {
        key.interestOps(SelectionKey.OP_READ);
    }

    /// Sleeps as [verbena.nic.link.Link#await(long)] does. Also returns when there is room again after [#transmit]
    /// took fewer frames than it was given.
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

    // Closes the channels first: a closed selector releases them.
    private static void closeAll(List<? extends Receiver> receivers, Selector open) {
        for (Receiver receiver : receivers) {
            Channels.close(receiver.channel);
        }
        Channels.close(open);
    }
}
