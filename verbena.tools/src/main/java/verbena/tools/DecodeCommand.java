package verbena.tools;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Packet;
import verbena.wire.notation.CmText;
import verbena.wire.notation.Names;
import verbena.wire.notation.PacketText;
import verbena.wire.pcap.CaptureException;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.CapturedPacket;
import verbena.wire.pcap.Encapsulation;
import verbena.wire.pcap.Unwrapped;

/// `verbena decode`: the RoCE packets of a capture, one line each in the packet notation.
@Command(
        name = "decode",
        header = "Show the RoCE packets of a capture, one line each.",
        description = {
            "",
            "Reads pcap and pcapng, RoCE v1 and v2. A line is: number in the capture, seconds since the first packet,"
                    + " sender -> receiver, and the packet in Verbena's notation; 'badicrc' marks a wrong checksum,"
                    + " 'malformed' a packet that no card would take. Behind a management datagram of the communication"
                    + " manager stands CM and what it says. The last line sums up."
        })
final class DecodeCommand implements Callable<Integer> {
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "FILE", description = "The capture; - reads standard input.")
    private String file;

    @Option(
            names = "--qp",
            paramLabel = "QPN",
            description = "Only packets to this queue pair number (0x for hexadecimal); may be given several times.")
    private @Nullable List<String> queuePairs;

    @Option(
            names = {"-n", "--count"},
            paramLabel = "N",
            defaultValue = "9223372036854775807",
            showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
            description = "Stop after N packets shown.")
    private long countMax;

    @Option(names = "--strict", description = "End with status 1 when a packet shown is malformed or has a bad ICRC.")
    private boolean strict;

    private final Encapsulation encapsulation = new Encapsulation();
    private long seen;
    private long shown;
    private long badIcrc;
    private long malformed;
    private long cutShort;
    private long other;
    private long firstNanos;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        Set<Integer> wanted = wantedQueuePairs();
        if (countMax < 1) {
            throw new ParameterException(spec.commandLine(), "--count: at least 1, got " + countMax);
        }
        try (CaptureReader reader = open();
                Arena arena = Arena.ofConfined()) {
            Frame frame = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 8))[0];
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                show(packet, frame, wanted, out);
                if (shown == countMax) {
                    break;
                }
            }
        } catch (CaptureException e) {
            summary(out);
            throw new CommandFailed(file + ": " + e.getMessage(), e);
        }
        summary(out);
        return strict && malformed + badIcrc > 0 ? 1 : 0;
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

    private void show(CapturedPacket packet, Frame frame, Set<Integer> wanted, PrintWriter out) {
        if (seen++ == 0) {
            firstNanos = packet.nanos();
        }
        switch (encapsulation.unwrap(packet.linkType(), packet.bytes(), frame)) {
            case Unwrapped.Roce _ -> showRoce(packet, frame, wanted, out);
            case Unwrapped.Other(Unwrapped.Reason reason) -> showOther(packet, reason, wanted, out);
        }
    }

    private void showRoce(CapturedPacket packet, Frame frame, Set<Integer> wanted, PrintWriter out) {
        if (!wanted.isEmpty() && !wanted.contains(Bth.destinationQp(frame.slot, frame.start))) {
            return;
        }
        shown++;
        Malformed shape = Packet.check(frame);
        if (shape != Malformed.OK) {
            malformed++;
        }
        if (!frame.icrcValid) {
            badIcrc++;
        }
        var source = new Gid(frame.sourceHigh, frame.sourceLow);
        var destination = new Gid(frame.destinationHigh, frame.destinationLow);
        String message = CmText.format(frame);
        out.println(head(packet) + "  " + source + " -> " + destination + "  "
                + PacketText.format(frame, Names.NUMBERS)
                + (message == null ? "" : "  CM " + message)
                + (shape == Malformed.OK ? "" : "  malformed " + words(shape)));
    }

    private void showOther(CapturedPacket packet, Unwrapped.Reason reason, Set<Integer> wanted, PrintWriter out) {
        switch (reason) {
            case UNKNOWN_LINK_TYPE, OTHER_PROTOCOL, OTHER_PORT -> other++;
            case TRUNCATED, BAD_LENGTH, FRAGMENT, IPV4_OPTIONS, TOO_SHORT, TOO_LONG -> {
                boolean byCapture = reason == Unwrapped.Reason.TRUNCATED && packet.isTruncated();
                if (byCapture) {
                    cutShort++;
                } else {
                    malformed++;
                }
                if (wanted.isEmpty()) {
                    shown++;
                    out.println(head(packet) + "  "
                            + (byCapture
                                    ? "cut short by the capture: "
                                            + packet.bytes().byteSize() + " of " + packet.originalBytes() + " bytes"
                                    : "malformed " + words(reason)));
                }
            }
        }
    }

    private String head(CapturedPacket packet) {
        long nanos = packet.nanos() - firstNanos;
        return String.format(
                Locale.ROOT,
                "%6d  %s%d.%06d",
                seen,
                nanos < 0 ? "-" : "",
                Math.abs(nanos) / NANOS_PER_SECOND,
                Math.abs(nanos) % NANOS_PER_SECOND / 1_000);
    }

    private void summary(PrintWriter out) {
        out.println(seen + " packets read, " + shown + " shown: " + badIcrc + " with a bad ICRC, " + malformed
                + " malformed" + (cutShort == 0 ? "" : ", " + cutShort + " cut short by the capture") + "; " + other
                + " not RoCE");
        out.flush();
    }

    private Set<Integer> wantedQueuePairs() {
        var wanted = new HashSet<Integer>();
        for (String text : queuePairs == null ? new ArrayList<String>() : queuePairs) {
            try {
                int qpn = Integer.decode(text);
                if (qpn < 0 || qpn > 0xFF_FFFF) {
                    throw new NumberFormatException();
                }
                wanted.add(qpn);
            } catch (NumberFormatException _) {
                throw new ParameterException(
                        spec.commandLine(), "--qp: a number of 24 bits, decimal or with 0x, got '" + text + "'");
            }
        }
        return wanted;
    }

    private static String words(Enum<?> name) {
        return name.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
