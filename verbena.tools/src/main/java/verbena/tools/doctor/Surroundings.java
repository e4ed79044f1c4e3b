package verbena.tools.doctor;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.verbs.Context;
import verbena.verbs.Gid;
import verbena.wire.cm.CmMessage;

/// All that the checks look at: this host, and through it the network. [ThisHost] is the real one.
interface Surroundings {
    /// Returns the folder that has `proc`, `sys`, `dev` and `etc` in it.
    Path root();

    /// Returns a system property of this JVM; empty when there is none.
    String property(String name);

    /// Returns the reason why software devices do without Linux system calls in this JVM; empty when they use them.
    Optional<String> whyPortable();

    /// Returns the reason why libibverbs cannot be used in this JVM; empty when it can.
    Optional<String> whyNoVerbs();

    List<HostInterface> interfaces();

    /// Returns whether all of 127.0.0.0/8 is local.
    boolean isLoopbackWhole();

    /// Returns the greatest number of bytes that may wait to be received by a device that asks for
    /// [verbena.nic.link.udp.UdpOptions#DEFAULT].
    ///
    /// @throws verbena.nic.link.LinkException when no device can be had at all
    long receiveBufferBytes();

    /// Opens a device as a program does.
    ///
    /// @throws verbena.verbs.DeviceException when that fails
    Context open(String device);

    /// Returns the addresses that a host's name stands for.
    List<InetAddress> resolve(String host) throws UnknownHostException;

    /// Returns the own address that this host's routes send from to `peer`; sends nothing.
    ///
    /// @throws IOException when there is no route; its message has the system's words
    InetAddress sourceTowards(InetAddress peer) throws IOException;

    /// The outcome of a UDP datagram.
    enum Echo {
        /// The peer's host, or a firewall in its name, said that no process has this port (ICMP port
        /// unreachable).
        REFUSED,
        /// A router or firewall said, or this host knows, that the peer cannot be reached. Not all say so.
        UNREACHABLE,
        /// A datagram that does not fit through some link of the path, as this host or a router reports (ICMP
        /// fragmentation needed).
        TOO_LARGE,
        /// A datagram without an answer in time: the packet arrived, or it was lost.
        SILENCE
    }

    /// Sends a UDP datagram of zeroes that must not be fragmented from `own`, and waits for a complaint.
    ///
    /// @param bytes of payload, at least 1
    Echo knock(InetAddress own, InetSocketAddress peer, int bytes, Duration timeout) throws IOException;

    /// Opens the way for questions to the managers of peers, from an own address at port 4791.
    ///
    /// @param own an interface with exactly this address; with none, for an address of its own on loopback
    /// @throws verbena.nic.link.LinkException when the port cannot be had
    Questions questions(HostInterface own);

    /// Questions to the communication managers of peers (IBTA 12), always from queue pair 1 to queue pair 1.
    interface Questions extends AutoCloseable {
        /// Returns the address that they come from.
        Gid own();

        /// Returns a number for a question, by which its answer is recognized; not 0.
        int newId();

        /// Sends a question, several times if need be. Returns the answer; empty when none comes in time.
        Optional<CmMessage> ask(Gid peer, CmMessage question, Duration timeout);

        /// Sends a message that is not answered.
        void tell(Gid peer, CmMessage message);

        @Override
        void close();
    }
}
