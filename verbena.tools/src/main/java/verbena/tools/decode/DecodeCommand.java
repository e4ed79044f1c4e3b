package verbena.tools.decode;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.notation.CmText;
import verbena.wire.notation.Names;
import verbena.wire.notation.PacketText;
import verbena.wire.notation.PspText;
import verbena.wire.pcap.CaptureException;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.CapturedPacket;
import verbena.wire.pcap.Encapsulation;
import verbena.wire.pcap.PspUnwrapper;
import verbena.wire.pcap.Unwrapped;

/// `verbena decode`: what a capture has of RoCE and iWARP, one line each in the packet notation.
@Command(
        name = "decode",
        header = "Show the RoCE and iWARP packets of a capture, one line each.",
        description = {
            "",
            "Reads pcap and pcapng: RoCE v1 and v2, and iWARP in TCP. A line is: number in the capture, seconds since the"
                    + " first packet, sender -> receiver, and the packet in Verbena's notation; 'badicrc' marks a wrong"
                    + " checksum, 'malformed' a packet that no card would take. Behind a management datagram of the"
                    + " communication manager stands CM and what it says. Of iWARP a line is a frame of MPA or an FPDU,"
                    + " with the number and time of the packet that completes it; 'badcrc' marks a wrong checksum. A"
                    + " packet of PSP has a line of its own, above the one of the packet in it. The last lines sum up."
        })
public final class DecodeCommand extends ToolCommand {
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    private static final long MICROS_PER_SECOND = 1_000_000;
    /// The most kinds of packets that the summary names.
    private static final int UNDECODED_MAX = 20;

    @Parameters(index = "0", paramLabel = "FILE", description = "The capture; - reads standard input.")
    private String file;

    @Option(
            names = "--qp",
            paramLabel = "QPN",
            description = "Only packets to this queue pair number (0x for hexadecimal); may be given several times.")
    private @Nullable List<String> queuePairs;

    @Option(
            names = "--opcode",
            paramLabel = "NAME",
            description = "Only packets whose opcode contains this, for example WRITE, RC_ACK or TERMINATE; several"
                    + " times.")
    private @Nullable List<String> opcodes;

    @Option(
            names = "--address",
            paramLabel = "A",
            description = "Only packets from or to this IP address; may be given several times.")
    private @Nullable List<String> addresses;

    @Option(
            names = "--port",
            paramLabel = "P",
            description = "Only iWARP from or to this TCP port; may be given several times.")
    private @Nullable List<Integer> ports;

    @Option(
            names = "--dropped",
            description = "Only packets that were dropped, as the comments of a capture by Verbena tell.")
    private boolean onlyDropped;

    @Option(names = "--from", paramLabel = "S", description = "Only packets from S seconds after the first one on.")
    private @Nullable Double from;

    @Option(names = "--to", paramLabel = "S", description = "Only packets before S seconds after the first one.")
    private @Nullable Double to;

    @Option(
            names = "--follow",
            paramLabel = "QPN",
            description = "The conversation of this queue pair: what it sends (->) and what it gets (<-), with what was"
                    + " sent again, gaps, what each ACK is for, and how long answers took.")
    private @Nullable String follow;

    @Option(
            names = {"-n", "--count"},
            paramLabel = "N",
            defaultValue = "9223372036854775807",
            showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
            description = "Stop after N packets shown.")
    private long countMax;

    @Option(
            names = "--strict",
            description =
                    "End with status 1 when a packet shown is malformed or has a bad ICRC, or there was a packet of PSP"
                            + " that is malformed or has a wrong ICV.")
    private boolean strict;

    @Mixin
    private PspOptions pspOptions = new PspOptions();

    private final Encapsulation encapsulation = new Encapsulation();
    private final IwarpStreams streams = new IwarpStreams();
    private final PspSummary psp = new PspSummary();
    /// The line of PSP that stands above the packet, if it is shown.
    private @Nullable String above;
    private long seen;
    private long shown;
    private long badChecksum;
    private long malformed;
    private long cutShort;
    private long tcpPackets;
    private long other;
    /// Packets of each link type that is not known.
    private final SortedMap<Integer, Integer> unknownLinks = new TreeMap<>();
    /// Packets that were not decoded, by the header that was not taken off.
    private final SortedMap<String, Integer> undecoded = new TreeMap<>();
    private long firstNanos;
    private @Nullable Conversation conversation;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = out();
        PacketFilter wanted = filter();
        if (countMax < 1) {
            throw wrong("--count: at least 1, got " + countMax);
        }
        if (follow != null) {
            conversation = conversation(queuePair("--follow", follow));
            out.println(conversation.heading());
        }
        PspUnwrapper unwrapper = pspOptions.unwrapper();
        try (CaptureReader reader = open();
                ClearCapture clear = pspOptions.clearCapture(file);
                Arena arena = Arena.ofConfined()) {
            Frame frame = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 8))[0];
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                PspUnwrapper.Found found = unwrapper.unwrap(packet);
                if (clear != null) {
                    clear.write(packet, found);
                }
                show(packet, found, frame, wanted, out);
                if (shown == countMax) {
                    break;
                }
            }
        } catch (CaptureException e) {
            summary(out);
            throw new CommandFailed(file + ": " + e.getMessage(), e);
        }
        if (conversation != null) {
            conversation.summary().forEach(out::println);
        }
        summary(out);
        return strict && (malformed + badChecksum > 0 || psp.hasErrors()) ? 1 : 0;
    }

    private CaptureReader open() throws IOException {
        try {
            return file.equals("-")
                    ? CaptureReader.of(new BufferedInputStream(System.in))
                    : CaptureReader.open(Path.of(file));
        } catch (CaptureException e) {
            throw new CommandFailed(file + ": " + e.getMessage(), e);
        } catch (NoSuchFileException e) {
            throw new CommandFailed(file + ": no such file", e);
        } catch (AccessDeniedException e) {
            throw new CommandFailed(file + ": not allowed to read it", e);
        } catch (IOException e) {
            throw new CommandFailed(file + ": cannot be read: " + e.getMessage(), e);
        }
    }

    private void show(
            CapturedPacket packet,
            PspUnwrapper.@Nullable Found found,
            Frame frame,
            PacketFilter wanted,
            PrintWriter out) {
        if (seen++ == 0) {
            firstNanos = packet.nanos();
        }
        above = null;
        if (found == null) {
            showClear(packet, frame, wanted, out);
            return;
        }
        psp.add(found);
        String line = head(packet) + "  " + new Gid(found.sourceHigh(), found.sourceLow()) + " -> "
                + new Gid(found.destinationHigh(), found.destinationLow()) + "  " + PspText.format(found);
        if (found.clear() != null) {
            above = line;
            showClear(clear(packet, found.clear()), frame, wanted, out);
        } else if (conversation == null && wanted.wants(found) && wanted.wantsTime(packet.nanos() - firstNanos)) {
            shown++;
            out.println(line + comment(packet));
        }
    }

    private static CapturedPacket clear(CapturedPacket packet, MemorySegment bytes) {
        return new CapturedPacket(packet.nanos(), packet.linkType(), bytes.byteSize(), bytes, packet.comment());
    }

    private void showClear(CapturedPacket packet, Frame frame, PacketFilter wanted, PrintWriter out) {
        switch (encapsulation.unwrap(packet.linkType(), packet.bytes(), frame)) {
            case Unwrapped.Roce _ -> showRoce(packet, frame, true, wanted, out);
            case Unwrapped.Part _ when packet.isTruncated() -> showRoce(packet, frame, false, wanted, out);
            case Unwrapped.Part _ -> showOther(packet, Unwrapped.Reason.TRUNCATED, "", wanted, out);
            case Unwrapped.Tcp tcp -> showTcp(packet, tcp, wanted, out);
            case Unwrapped.Other(Unwrapped.Reason reason, String what) -> showOther(packet, reason, what, wanted, out);
        }
    }

    private void showRoce(CapturedPacket packet, Frame frame, boolean isWhole, PacketFilter wanted, PrintWriter out) {
        Opcode opcode = Opcode.of(Bth.opcode(frame.slot, frame.start));
        Malformed shape = Packet.check(frame);
        Conversation.Told told = null;
        if (conversation != null) { // which has to hear of all
            told = opcode == null || shape != Malformed.OK
                    ? null
                    : conversation.tell(frame, opcode, seen, packet.nanos(), isDirect(packet));
            if (told == null) {
                return;
            }
        }
        if (!wanted.wantsTime(packet.nanos() - firstNanos) || !wanted.wants(frame, opcode, packet.comment())) {
            return;
        }
        shown++;
        if (shape != Malformed.OK) {
            malformed++;
        }
        if (!frame.icrcValid) {
            badChecksum++;
        }
        if (!isWhole) {
            cutShort++;
        }
        var source = new Gid(frame.sourceHigh, frame.sourceLow);
        var destination = new Gid(frame.destinationHigh, frame.destinationLow);
        String message = isWhole ? CmText.format(frame) : null;
        showAbove(told != null, out);
        out.println(head(packet) + "  " + (told == null ? source + " -> " + destination : told.arrow()) + "  "
                + PacketText.format(frame, Names.NUMBERS)
                + (message == null ? "" : "  CM " + message)
                + (shape == Malformed.OK ? "" : "  malformed " + words(shape))
                + (told == null || told.remarks().isEmpty() ? "" : "  ; " + told.remarks())
                + comment(packet));
    }

    private void showTcp(CapturedPacket packet, Unwrapped.Tcp tcp, PacketFilter wanted, PrintWriter out) {
        tcpPackets++;
        for (IwarpStreams.Said said : streams.add(tcp)) {
            if (conversation != null
                    || shown == countMax
                    || !wanted.wantsTime(packet.nanos() - firstNanos)
                    || !wanted.wants(tcp, said)) {
                continue;
            }
            shown++;
            showAbove(false, out);
            if (said.isMalformed()) {
                malformed++;
            }
            if (said.isCrcBad()) {
                badChecksum++;
            }
            out.println(head(packet) + "  " + end(tcp.sourceHigh(), tcp.sourceLow(), tcp.sourcePort()) + " -> "
                    + end(tcp.destinationHigh(), tcp.destinationLow(), tcp.destinationPort()) + "  " + said.text()
                    + (said.isCrcBad() ? " badcrc" : "") + comment(packet));
        }
    }

    private void showAbove(boolean isConversation, PrintWriter out) {
        if (above != null && !isConversation) {
            out.println(above);
        }
        above = null;
    }

    private static String end(long high, long low, int port) {
        String address = new Gid(high, low).toString();
        return (address.indexOf(':') < 0 ? address : "[" + address + "]") + ":" + port;
    }

    private static boolean isDirect(CapturedPacket packet) {
        return packet.comment().contains("direct access:");
    }

    private static String comment(CapturedPacket packet) {
        return packet.comment().isEmpty() ? "" : "  # " + packet.comment().replaceAll("\\s+", " ");
    }

    private void showOther(
            CapturedPacket packet, Unwrapped.Reason reason, String what, PacketFilter wanted, PrintWriter out) {
        switch (reason) {
            case UNKNOWN_LINK_TYPE -> {
                other++;
                int _ = unknownLinks.merge(packet.linkType(), 1, Integer::sum);
            }
            case OTHER_PROTOCOL, OTHER_PORT -> {
                other++;
                int _ = undecoded.merge(what, 1, Integer::sum);
            }
            case TRUNCATED, BAD_LENGTH, FRAGMENT, IPV4_OPTIONS, TOO_SHORT, TOO_LONG -> {
                boolean byCapture = reason == Unwrapped.Reason.TRUNCATED && packet.isTruncated();
                if (byCapture) {
                    cutShort++;
                } else {
                    malformed++;
                }
                if (conversation == null && wanted.isAboutTimeOnly() && wanted.wantsTime(packet.nanos() - firstNanos)) {
                    shown++;
                    showAbove(false, out);
                    out.println(head(packet) + "  "
                            + (byCapture
                                    ? "cut short by the capture: "
                                            + packet.bytes().byteSize() + " of " + packet.originalBytes() + " bytes"
                                    : "malformed " + words(reason))
                            + comment(packet));
                }
            }
        }
    }

    private String head(CapturedPacket packet) {
        long micros = (packet.nanos() - firstNanos) / 1_000;
        return String.format(
                Locale.ROOT,
                "%6d  %s%d.%06d",
                seen,
                micros < 0 ? "-" : "",
                Math.abs(micros) / MICROS_PER_SECOND,
                Math.abs(micros) % MICROS_PER_SECOND);
    }

    private void summary(PrintWriter out) {
        long iwarp = streams.packets();
        long neither = other + tcpPackets - iwarp;
        out.println(seen + " packets read, " + shown + " shown: " + badChecksum
                + (iwarp == 0 ? " with a bad ICRC, " : " with a bad checksum, ") + malformed + " malformed"
                + (cutShort == 0 ? "" : ", " + cutShort + " cut short by the capture") + "; "
                + (iwarp == 0 ? neither + " not RoCE" : iwarp + " of iWARP, " + neither + " neither it nor RoCE"));
        unknownLinks.forEach((linkType, packets) ->
                out.println(packets + " of link type " + linkType + ", whose headers are not known here"));
        if (tcpPackets > iwarp) {
            out.println(tcpPackets - iwarp + " not decoded: TCP without iWARP");
        }
        undecoded.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                .limit(UNDECODED_MAX)
                .forEach(each -> out.println(each.getValue() + " not decoded: " + each.getKey()));
        if (undecoded.size() > UNDECODED_MAX) {
            out.println("and " + (undecoded.size() - UNDECODED_MAX) + " more kinds that are not decoded");
        }
        String ofPsp = psp.line();
        if (ofPsp != null) {
            out.println(ofPsp);
        }
        out.flush();
    }

    /// Returns the first pass of a conversation.
    private Conversation conversation(int qpn) throws IOException {
        if (file.equals("-")) {
            throw wrong("--follow: reads the capture twice: name a file, not standard input");
        }
        var found = new Conversation(qpn);
        PspUnwrapper unwrapper = pspOptions.unwrapper();
        try (CaptureReader reader = open();
                Arena arena = Arena.ofConfined()) {
            Frame frame = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 8))[0];
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                PspUnwrapper.Found psp = unwrapper.unwrap(packet);
                MemorySegment bytes = psp == null || psp.clear() == null ? packet.bytes() : psp.clear();
                Unwrapped unwrapped = encapsulation.unwrap(packet.linkType(), bytes, frame);
                if ((unwrapped instanceof Unwrapped.Roce || unwrapped instanceof Unwrapped.Part)
                        && Packet.check(frame) == Malformed.OK) {
                    found.look(frame, Packet.opcode(frame));
                }
            }
        } catch (CaptureException _) {
            // the second pass tells it, behind what could be read
        }
        if (!found.settle()) {
            throw new CommandFailed("%s: no packet to queue pair 0x%06x".formatted(file, qpn));
        }
        return found;
    }

    private PacketFilter filter() {
        var numbers = new HashSet<Integer>();
        each(queuePairs).forEach(text -> numbers.add(queuePair("--qp", text)));
        var gids = new HashSet<Gid>();
        for (String text : each(addresses)) {
            try {
                gids.add(Gid.parse(text));
            } catch (IllegalArgumentException e) {
                throw wrong("--address: " + e.getMessage());
            }
        }
        List<String> names = each(opcodes).stream()
                .map(name -> name.toUpperCase(Locale.ROOT).replace('-', '_'))
                .toList();
        for (String name : names) {
            if (Stream.concat(
                            Stream.concat(Arrays.stream(Opcode.values()), Arrays.stream(RdmapOpcode.values()))
                                    .map(Enum::name),
                            IwarpStreams.MPA_NAMES.stream())
                    .noneMatch(opcode -> opcode.contains(name))) {
                throw wrong("--opcode: no opcode has '" + name + "' in its name");
            }
        }
        return new PacketFilter(
                numbers,
                names,
                gids,
                Set.copyOf(each(ports)),
                onlyDropped,
                from == null ? Long.MIN_VALUE : (long) (from * NANOS_PER_SECOND),
                to == null ? Long.MAX_VALUE : (long) (to * NANOS_PER_SECOND));
    }

    private static <T> List<T> each(@Nullable List<T> given) {
        return given == null ? List.of() : given;
    }

    private int queuePair(String option, String text) {
        try {
            int qpn = Integer.decode(text);
            if (qpn < 0 || qpn > Endpoint.QPN_MASK) {
                throw new NumberFormatException();
            }
            return qpn;
        } catch (NumberFormatException _) {
            throw wrong(option + ": a number of 24 bits, decimal or with 0x, got '" + text + "'");
        }
    }

    private static String words(Enum<?> name) {
        return name.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
