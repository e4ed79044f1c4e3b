package verbena.abi.rsocket;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import verbena.foreign.Memory;
import verbena.verbs.Endpoint;

/// The messages between two rsockets of datagrams, as rdma-core's `librdmacm/docs/rsocket` has it. Over queue pairs
/// each datagram has its sender's name in front. A sender that does not know the peer's queue pair sends by UDP,
/// with its own queue pair's number in front; the peer answers in the same way, without data.
final class DatagramMessage {
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int TAG = 0x5555_5555;
    private static final int DATA = 0;
    private static final int CONTROL = 7;
    private static final int GENERAL_SERVICES = 1;
    private static final int GROUPS = 0xFF_FFFF;

    private DatagramMessage() {}

    private static int version(InetAddress address) {
        return address instanceof Inet4Address ? 4 : 6;
    }

    // ---- over queue pairs: version, length, port, address; behind the port of IPv6 is a flow label

    /// Returns the number of bytes in front of a datagram from this address.
    static int nameBytes(InetAddress own) {
        return own instanceof Inet4Address ? 8 : 24;
    }

    static void putName(InetSocketAddress own, MemorySegment into, long at) {
        byte[] address = own.getAddress().getAddress();
        int bytes = nameBytes(own.getAddress());
        into.asSlice(at, bytes).fill((byte) 0);
        into.set(ValueLayout.JAVA_BYTE, at, (byte) version(own.getAddress()));
        into.set(ValueLayout.JAVA_BYTE, at + 1, (byte) bytes);
        into.set(SHORT, at + 2, (short) own.getPort());
        MemorySegment.copy(address, 0, into, ValueLayout.JAVA_BYTE, at + bytes - address.length, address.length);
    }

    /// Returns the name in front of a datagram; empty when there is none.
    ///
    /// @param length bytes of the datagram
    static Optional<InetSocketAddress> name(MemorySegment from, long at, long length) {
        if (length < 8) {
            return Optional.empty();
        }
        int version = from.get(ValueLayout.JAVA_BYTE, at);
        int bytes = from.get(ValueLayout.JAVA_BYTE, at + 1);
        boolean isName = (version == 4 && bytes == 8) || (version == 6 && bytes == 24);
        if (!isName || length < bytes) {
            return Optional.empty();
        }
        var address = new byte[version == 4 ? 4 : 16];
        MemorySegment.copy(from, ValueLayout.JAVA_BYTE, at + bytes - address.length, address, 0, address.length);
        return Optional.of(new InetSocketAddress(address(address), from.get(SHORT, at + 2) & 0xFFFF));
    }

    private static InetAddress address(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("addresses have 4 or 16 bytes", e);
        }
    }

    // ---- by UDP

    /// The header in front of a datagram that comes by UDP.
    ///
    /// @param hasData whether there is a datagram behind it, and its sender waits for an answer
    /// @param qpn the sender's queue pair
    /// @param own the address of that
    record Introduction(boolean hasData, int qpn, InetAddress own) {
        int bytes() {
            return own instanceof Inet4Address ? 16 : 28;
        }

        /// Returns the name of its sender. Within loopback the system sends from 127.0.0.1 whatever address the
        /// queue pair has, and datagrams over that have the queue pair's.
        InetSocketAddress sender(InetSocketAddress from) {
            return own.isLoopbackAddress() && from.getAddress().isLoopbackAddress()
                    ? new InetSocketAddress(own, from.getPort())
                    : from;
        }

        /// Returns the header, and the datagram behind it.
        ByteBuffer before(Pieces data) {
            ByteBuffer whole = ByteBuffer.allocate(bytes() + (int) data.bytes());
            put(whole);
            long _ = data.forEach(0, (address, length, _) -> {
                whole.put(Memory.bytes(address, (int) length));
                return length;
            });
            return whole.flip();
        }

        void put(ByteBuffer into) {
            into.putInt(TAG)
                    .put((byte) version(own))
                    .put((byte) (hasData ? DATA : CONTROL))
                    .put((byte) bytes())
                    .put((byte) 0)
                    .putInt(qpn)
                    .put(own.getAddress());
        }

        /// Takes it from the beginning; empty when that is something else.
        static Optional<Introduction> take(ByteBuffer from) {
            if (from.remaining() < 16 || from.getInt() != TAG) {
                return Optional.empty();
            }
            int version = from.get();
            int kind = from.get();
            int bytes = from.get();
            int qpn = from.position(8).getInt() & Endpoint.QPN_MASK;
            boolean isOne = (version == 4 && bytes == 16) || (version == 6 && bytes == 28);
            boolean isQueuePair = qpn > GENERAL_SERVICES && qpn < GROUPS;
            if (!isOne || !isQueuePair || from.limit() < bytes) {
                return Optional.empty();
            }
            var own = new byte[version == 4 ? 4 : 16];
            from.get(own);
            return Optional.of(new Introduction(kind == DATA, qpn, address(own)));
        }
    }
}
