package verbena.wire.cm;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.wire.mad.Field;

/// The header that the RDMA connection manager puts in front of the private data of a [Req] or [SidrReq]: the IP
/// addresses that the applications know (IBTA annex A11).
///
/// @param isIpv4 whether the addresses are IPv4, in the form `::ffff:a.b.c.d`
/// @param sourcePort port of the sender, in host order
public record IpCmHeader(
        boolean isIpv4, int sourcePort, long sourceHigh, long sourceLow, long destinationHigh, long destinationLow) {
    /// Size, in bytes.
    public static final int BYTES = 36;
    /// Port spaces (`enum rdma_ucm_port_space`): what the number of a port belongs to.
    public static final int PORT_SPACE_TCP = 0x0106;

    public static final int PORT_SPACE_UDP = 0x0111;
    public static final int PORT_SPACE_IB = 0x013F;
    public static final int PORT_SPACE_IPOIB = 0x0002;

    private static final Field VERSION = Field.of(0, 8);
    private static final Field IP_VERSION = Field.of(1, 4);
    private static final Field SOURCE_PORT = Field.of(2, 16);
    private static final Field SOURCE_HIGH = Field.of(4, 64);
    private static final Field SOURCE_LOW = Field.of(12, 64);
    private static final Field DESTINATION_HIGH = Field.of(20, 64);
    private static final Field DESTINATION_LOW = Field.of(28, 64);

    private static final long IPV4_MAPPED = 0xFFFF_0000_0000L;
    private static final long LOW_32 = 0xFFFF_FFFFL;

    /// Returns the service ID of a port.
    public static long serviceId(int portSpace, int port) {
        return ((long) portSpace << 16) | port;
    }

    /// Returns the port of a service ID.
    public static int port(long serviceId) {
        return (int) serviceId & 0xFFFF;
    }

    /// Returns the header that the private data begin with; null when they do not begin with a header.
    public static @Nullable IpCmHeader read(PrivateData data) {
        if (data.length() < BYTES) {
            return null;
        }
        MemorySegment at = MemorySegment.ofArray(data.bytes());
        int ipVersion = IP_VERSION.getInt(at);
        if (VERSION.getInt(at) != 0 || (ipVersion != 4 && ipVersion != 6)) {
            return null;
        }
        boolean isIpv4 = ipVersion == 4;
        return new IpCmHeader(
                isIpv4,
                SOURCE_PORT.getInt(at),
                isIpv4 ? 0 : SOURCE_HIGH.get(at),
                isIpv4 ? IPV4_MAPPED | (SOURCE_LOW.get(at) & LOW_32) : SOURCE_LOW.get(at),
                isIpv4 ? 0 : DESTINATION_HIGH.get(at),
                isIpv4 ? IPV4_MAPPED | (DESTINATION_LOW.get(at) & LOW_32) : DESTINATION_LOW.get(at));
    }

    /// Returns private data that begin with this header and continue with the application's own data.
    public PrivateData before(PrivateData own) {
        byte[] all = new byte[BYTES + own.length()];
        MemorySegment at = MemorySegment.ofArray(all);
        IP_VERSION.put(at, isIpv4 ? 4 : 6);
        SOURCE_PORT.put(at, sourcePort);
        SOURCE_HIGH.put(at, sourceHigh);
        SOURCE_LOW.put(at, isIpv4 ? sourceLow & LOW_32 : sourceLow);
        DESTINATION_HIGH.put(at, destinationHigh);
        DESTINATION_LOW.put(at, isIpv4 ? destinationLow & LOW_32 : destinationLow);
        own.write(at, BYTES, own.length());
        return PrivateData.of(all);
    }
}
