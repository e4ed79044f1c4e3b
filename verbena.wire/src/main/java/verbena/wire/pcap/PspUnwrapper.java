package verbena.wire.pcap;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import verbena.wire.BigEndian;
import verbena.wire.ib.Grh;
import verbena.wire.psp.JdkPspCipher;
import verbena.wire.psp.PspCipher;
import verbena.wire.psp.PspHeader;
import verbena.wire.psp.PspIp;
import verbena.wire.psp.PspOpener;
import verbena.wire.psp.PspVerdict;
import verbena.wire.psp.PspVersion;
import verbena.wire.roce.RoceV2;

/// An unwrapper that takes packets of IP out of PSP, where it stands directly in the IP of a captured packet, and
/// judges them as their receiver does. For captures and tests: it allocates. One owner.
public final class PspUnwrapper {
    /// The keys that are known.
    public interface Keys {
        /// Finds the keys that may be this SPI's, in the order in which they are tried.
        List<byte[]> of(int spi, PspVersion version);
    }

    /// A packet of PSP.
    ///
    /// @param sourceHigh upper half of the sender's GID, as [verbena.wire.Frame#sourceHigh]
    /// @param memory the captured packet, with the text in the clear when it was opened
    /// @param at where the header of PSP begins in it; -1 when lengths before it are wrong
    /// @param bytes from there on through the ICV, by the headers
    /// @param verdict null when the capture has cut the packet
    /// @param clear the packet without PSP; null when it was not opened. A packet that is [PspVerdict#REPEATED]
    ///     or [PspVerdict#OLD] is opened too when it is authentic
    public record Found(
            long sourceHigh,
            long sourceLow,
            long destinationHigh,
            long destinationLow,
            MemorySegment memory,
            long at,
            int bytes,
            @Nullable PspVerdict verdict,
            @Nullable MemorySegment clear) {}

    private static final int IPV4_ADDRESSES = 12;
    private static final int TRANSPORT_VERSION_BITS = 0xF;
    private static final int NO_NEXT_HEADER = 59;

    /// An association: the cipher by itself opens what the window refuses.
    private record Association(PspCipher cipher, PspOpener opener) {}

    /// An SPI and the version that it is used with.
    private record Use(int spi, PspVersion version) {}

    private final Keys keys;
    private final int port;
    private final byte[] scratch = new byte[JdkPspCipher.SCRATCH_BYTES_MAX];
    private final Map<Use, List<Association>> associations = new HashMap<>();

    /// @param port of UDP that is PSP's; also taken are packets at the port of RoCE that have the form of PSP and of
    ///     no RoCE
    public PspUnwrapper(Keys keys, int port) {
        this.keys = keys;
        this.port = port;
    }

    /// Opens a captured packet; null when it is no PSP.
    public @Nullable Found unwrap(CapturedPacket packet) {
        MemorySegment bytes = packet.bytes();
        long found = LinkHeaders.find(packet.linkType(), bytes);
        int type = (int) (found >>> 32);
        if (found < 0 || (type != LinkHeaders.TYPE_IPV4 && type != LinkHeaders.TYPE_IPV6)) {
            return null;
        }
        long ip = (int) found;
        long at = PspIp.find(bytes, ip, bytes.byteSize(), port);
        if (at == PspIp.NOT_PSP) {
            at = PspIp.find(bytes, ip, bytes.byteSize(), RoceV2.UDP_PORT);
            if (at < 0 || !isAmongRoce(bytes, at)) {
                return null;
            }
        }
        MemorySegment memory = MemorySegment.ofArray(bytes.toArray(ValueLayout.JAVA_BYTE));
        if (at == PspIp.BAD_LENGTH) {
            return found(memory, ip, -1, 0, PspVerdict.LENGTH, null);
        }
        int pspBytes = PspIp.bytes(memory, at);
        if (at + pspBytes > memory.byteSize()) {
            return found(memory, ip, at, pspBytes, packet.isTruncated() ? null : PspVerdict.LENGTH, null);
        }
        PspVerdict form = PspHeader.check(memory, at, pspBytes);
        return form == PspVerdict.ACCEPTED
                ? opened(memory, ip, at, pspBytes)
                : found(memory, ip, at, pspBytes, form, null);
    }

    /// Returns whether a packet at the port of RoCE is one of PSP: its second octet is no version of RoCE's
    /// transport, and it protects UDP or nothing.
    private static boolean isAmongRoce(MemorySegment memory, long at) {
        int next = PspHeader.nextHeader(memory, at);
        return at + PspHeader.BYTES <= memory.byteSize()
                && (BigEndian.u8(memory, at + 1) & TRANSPORT_VERSION_BITS) != 0
                && (next == RoceV2.PROTOCOL_UDP || next == NO_NEXT_HEADER);
    }

    private Found opened(MemorySegment memory, long ip, long at, int bytes) {
        PspVersion version = Objects.requireNonNull(PspHeader.version(memory, at), "its form was accepted");
        PspVerdict last = PspVerdict.UNKNOWN;
        for (Association each :
                associations.computeIfAbsent(new Use(PspHeader.spi(memory, at), version), this::associations)) {
            PspVerdict verdict = each.opener.open(memory, at, bytes);
            boolean isOpen = verdict == PspVerdict.ACCEPTED
                    || (verdict != PspVerdict.FORGED
                            && new PspOpener(version, each.cipher).open(memory, at, bytes) == PspVerdict.ACCEPTED);
            if (isOpen) {
                MemorySegment clear = clear(memory, ip, at, bytes);
                return found(memory, ip, at, bytes, clear == null ? PspVerdict.UNEXPECTED : verdict, clear);
            }
            last = verdict;
        }
        return found(memory, ip, at, bytes, last, null);
    }

    private List<Association> associations(Use use) {
        return keys.of(use.spi, use.version).stream()
                .map(key -> new JdkPspCipher(key, scratch))
                .map(cipher -> new Association(cipher, new PspOpener(use.version, cipher)))
                .toList();
    }

    /// Returns the packet without PSP. Where the headers of the link end with the type of their content, it becomes
    /// that of the inner packet.
    private static @Nullable MemorySegment clear(MemorySegment memory, long ip, long at, int bytes) {
        MemorySegment copy = MemorySegment.ofArray(memory.toArray(ValueLayout.JAVA_BYTE));
        long start = PspIp.strip(copy, 0, ip, at);
        if (start == PspIp.NOT_IP) {
            return null;
        }
        MemorySegment clear = copy.asSlice(start, at + bytes - PspHeader.ICV_BYTES - start);
        int before = type(memory, ip);
        int now = type(clear, ip);
        if (now != before && ip >= 2 && BigEndian.u16(clear, ip - 2) == before) {
            BigEndian.put16(clear, ip - 2, now);
        }
        return MemorySegment.ofArray(clear.toArray(ValueLayout.JAVA_BYTE));
    }

    private static int type(MemorySegment memory, long ip) {
        return PspIp.isIpv4(memory, ip) ? LinkHeaders.TYPE_IPV4 : LinkHeaders.TYPE_IPV6;
    }

    private static Found found(
            MemorySegment memory,
            long ip,
            long at,
            int bytes,
            @Nullable PspVerdict verdict,
            @Nullable MemorySegment clear) {
        return PspIp.isIpv4(memory, ip)
                ? new Found(
                        0,
                        RoceV2.MAPPED_IPV4 | BigEndian.u32(memory, ip + IPV4_ADDRESSES),
                        0,
                        RoceV2.MAPPED_IPV4 | BigEndian.u32(memory, ip + IPV4_ADDRESSES + Integer.BYTES),
                        memory,
                        at,
                        bytes,
                        verdict,
                        clear)
                : new Found(
                        Grh.sourceHigh(memory, ip),
                        Grh.sourceLow(memory, ip),
                        Grh.destinationHigh(memory, ip),
                        Grh.destinationLow(memory, ip),
                        memory,
                        at,
                        bytes,
                        verdict,
                        clear);
    }
}
