package verbena.wire.notation;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.wire.Frame;
import verbena.wire.cm.Apr;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.CmPath;
import verbena.wire.cm.Drep;
import verbena.wire.cm.Dreq;
import verbena.wire.cm.IpCmHeader;
import verbena.wire.cm.Lap;
import verbena.wire.cm.Mra;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;
import verbena.wire.cm.Rtu;
import verbena.wire.cm.SidrRep;
import verbena.wire.cm.SidrReq;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.mad.Mad;

/// The text of messages of the communication manager, printed and compared: the message's name, then word and value
/// for each field. See docs/notation.md.
public final class CmText {
    private static final String[] SIDR_STATUS = {"valid", "unsupported", "reject", "no-qp", "redirect", "version"};
    private static final String[] PATH_STATUS = {
        "loaded", "comm-id", "unsupported", "reject", "redirect", "current", "qp", "lid", "gid"
    };
    private static final String[] TRANSPORT = {"RC", "UC", "RD", "XRC"};
    private static final String[] ANSWERED = {"REQ", "REP", "other"};
    private static final String[] PUT_OFF = {"REQ", "REP", "LAP"};
    private static final int SERVICE_PORT_SPACE_SHIFT = 16;

    private CmText() {}

    /// Prints a message in a line, with private data without the zeroes at its end.
    public static String format(CmMessage message) {
        var line = new StringBuilder(name(message));
        fields(message)
                .forEach((word, value) ->
                        line.append("  ").append(word).append(' ').append(value));
        return line.toString();
    }

    /// Prints the message in a management datagram of the communication manager. Returns null when the packet is no
    /// such datagram, or when its message is not known.
    public static @Nullable String format(Frame frame) {
        if (frame.length < Packet.BYTES_MIN
                || Opcode.of(Bth.opcode(frame.slot, frame.start)) != Opcode.UD_SEND_ONLY
                || Bth.destinationQp(frame.slot, frame.start) != Mad.QPN
                || Packet.payloadBytes(frame, Opcode.UD_SEND_ONLY) != Mad.BYTES) {
            return null;
        }
        CmMessage message =
                CmMessage.read(frame.slot.asSlice(Packet.payloadOffset(frame, Opcode.UD_SEND_ONLY), Mad.BYTES));
        return message == null ? null : format(message);
    }

    /// Returns the differences between the message and a line like those that are printed; only the fields that the
    /// line names are compared. Empty when there is none.
    ///
    /// @throws NotationException when the line names no message, or a field that the message does not have
    public static List<String> differences(String line, CmMessage message) {
        String[] words = line.strip().split("\\s+", -1);
        var differences = new ArrayList<String>();
        if (!words[0].equals(name(message))) {
            differences.add("expected " + words[0] + ", was " + name(message));
            return differences;
        }
        Map<String, String> fields = fields(message);
        for (int i = 1; i < words.length; i += 2) {
            String was = fields.get(words[i]);
            if (was == null && !isWord(words[i])) {
                throw new NotationException(line, words[0] + " has no field " + words[i]);
            }
            if (i + 1 == words.length) {
                throw new NotationException(line, words[i] + " needs a value");
            }
            if (!isSame(words[i + 1], was)) {
                differences.add(words[i] + ": expected " + words[i + 1] + ", was " + (was == null ? "none" : was));
            }
        }
        return differences;
    }

    private static boolean isWord(String word) {
        return switch (word) {
            case "transport", "srq", "alternate", "from", "data", "info" -> true; // there only when worth saying
            default -> false;
        };
    }

    private static boolean isSame(String expected, @Nullable String was) {
        if (was == null) {
            return expected.equals("none");
        }
        try {
            return expected.equals(was) || Long.decode(expected).equals(Long.decode(was));
        } catch (NumberFormatException _) {
            return false;
        }
    }

    private static String name(CmMessage message) {
        return switch (message) {
            case Req _ -> "REQ";
            case Rep _ -> "REP";
            case Rtu _ -> "RTU";
            case Rej _ -> "REJ";
            case Mra _ -> "MRA";
            case Dreq _ -> "DREQ";
            case Drep _ -> "DREP";
            case Lap _ -> "LAP";
            case Apr _ -> "APR";
            case SidrReq _ -> "SIDR_REQ";
            case SidrRep _ -> "SIDR_REP";
        };
    }

    private static Map<String, String> fields(CmMessage message) {
        var all = new LinkedHashMap<String, String>();
        switch (message) {
            case Req req -> request(all, req);
            case Rep rep -> {
                ids(all, rep.localCommId(), rep.remoteCommId());
                all.put("qp", hex(rep.localQpn()));
                all.put("psn", text(rep.startingPsn()));
                all.put("resources", text(rep.responderResources()));
                all.put("depth", text(rep.initiatorDepth()));
                all.put("rnr", text(rep.rnrRetryCount()));
                all.put("delay", text(rep.targetAckDelay()));
                all.put("failover", text(rep.failover()));
                flag(all, "srq", rep.sharedReceiveQueue());
                data(all, "data", rep.privateData());
            }
            case Rtu rtu -> {
                ids(all, rtu.localCommId(), rtu.remoteCommId());
                data(all, "data", rtu.privateData());
            }
            case Rej rej -> {
                ids(all, rej.localCommId(), rej.remoteCommId());
                all.put("of", answered(rej.messageRejected()));
                RejectReason reason = RejectReason.of(rej.reason());
                all.put("reason", reason == null ? text(rej.reason()) : words(reason));
                if (rej.infoLength() > 0) {
                    byte[] info = rej.info().bytes();
                    all.put("info", HexFormat.of().formatHex(info, 0, Math.min(rej.infoLength(), info.length)));
                }
                data(all, "data", rej.privateData());
            }
            case Mra mra -> {
                ids(all, mra.localCommId(), mra.remoteCommId());
                all.put("of", at(PUT_OFF, mra.messageReceived()));
                all.put("timeout", text(mra.serviceTimeout()));
                data(all, "data", mra.privateData());
            }
            case Dreq dreq -> {
                ids(all, dreq.localCommId(), dreq.remoteCommId());
                all.put("qp", hex(dreq.remoteQpn()));
                data(all, "data", dreq.privateData());
            }
            case Drep drep -> {
                ids(all, drep.localCommId(), drep.remoteCommId());
                data(all, "data", drep.privateData());
            }
            case Lap lap -> {
                ids(all, lap.localCommId(), lap.remoteCommId());
                all.put("qp", hex(lap.remoteQpn()));
                all.put(
                        "lids",
                        lap.alternate().localLid() + "-" + lap.alternate().remoteLid());
                all.put("rate", text(lap.alternate().packetRate()));
                all.put("ack", text(lap.alternate().ackTimeout()));
                data(all, "data", lap.privateData());
            }
            case Apr apr -> {
                ids(all, apr.localCommId(), apr.remoteCommId());
                all.put("status", at(PATH_STATUS, apr.status()));
                data(all, "data", apr.privateData());
            }
            case SidrReq question -> {
                all.put("request", hex(question.requestId()));
                all.put("service", service(question.serviceId()));
                addressed(all, question.serviceId(), question.privateData());
            }
            case SidrRep answer -> {
                all.put("request", hex(answer.requestId()));
                all.put("status", at(SIDR_STATUS, answer.status()));
                all.put("service", service(answer.serviceId()));
                all.put("qp", hex(answer.qpn()));
                all.put("qkey", hex(answer.qkey()));
                data(all, "data", answer.privateData());
            }
        }
        return all;
    }

    private static void request(Map<String, String> all, Req req) {
        all.put("comm", hex(req.localCommId()));
        all.put("service", service(req.serviceId()));
        all.put("qp", hex(req.localQpn()));
        all.put("psn", text(req.startingPsn()));
        all.put("mtu", req.pathMtu() >= 1 && req.pathMtu() <= 5 ? text(128 << req.pathMtu()) : "code-" + req.pathMtu());
        all.put("resources", text(req.responderResources()));
        all.put("depth", text(req.initiatorDepth()));
        all.put("retry", text(req.retryCount()));
        all.put("rnr", text(req.rnrRetryCount()));
        all.put("ack", text(req.primary().ackTimeout()));
        all.put("response", text(req.remoteResponseTimeout()));
        all.put("retries", text(req.maxCmRetries()));
        if (req.transportType() != Req.RC) {
            all.put("transport", at(TRANSPORT, req.transportType()));
        }
        flag(all, "srq", req.sharedReceiveQueue());
        flag(all, "alternate", !req.alternate().equals(CmPath.NONE));
        addressed(all, req.serviceId(), req.privateData());
    }

    /// Adds the private data of a request. When the service is a port of the RDMA connection manager, they begin
    /// with its header.
    private static void addressed(Map<String, String> all, long serviceId, PrivateData data) {
        IpCmHeader header = portSpace(serviceId) == null ? null : IpCmHeader.read(data);
        if (header == null) {
            data(all, "data", data);
            return;
        }
        all.put("from", text(header.sourcePort()));
        data(all, "data", data.from(IpCmHeader.BYTES));
    }

    private static void ids(Map<String, String> all, int own, int other) {
        all.put("comm", hex(own));
        all.put("to", hex(other));
    }

    private static void flag(Map<String, String> all, String word, boolean value) {
        if (value) {
            all.put(word, "yes");
        }
    }

    private static void data(Map<String, String> all, String word, PrivateData data) {
        byte[] bytes = data.bytes();
        int length = bytes.length;
        while (length > 0 && bytes[length - 1] == 0) {
            length--;
        }
        if (length > 0) {
            all.put(word, HexFormat.of().formatHex(bytes, 0, length));
        }
    }

    private static String service(long serviceId) {
        String space = portSpace(serviceId);
        return space == null ? "0x" + Long.toHexString(serviceId) : space + ":" + IpCmHeader.port(serviceId);
    }

    private static @Nullable String portSpace(long serviceId) {
        return switch ((int) (serviceId >>> SERVICE_PORT_SPACE_SHIFT)) {
            case IpCmHeader.PORT_SPACE_TCP -> "TCP";
            case IpCmHeader.PORT_SPACE_UDP -> "UDP";
            case IpCmHeader.PORT_SPACE_IB -> "IB";
            case IpCmHeader.PORT_SPACE_IPOIB -> "IPOIB";
            default -> null;
        };
    }

    private static String answered(int message) {
        return at(ANSWERED, message);
    }

    private static String at(String[] names, int index) {
        return index < names.length ? names[index] : text(index);
    }

    private static String words(Enum<?> name) {
        return name.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static String text(int value) {
        return Integer.toString(value);
    }

    private static String hex(int value) {
        return "0x" + Integer.toHexString(value);
    }
}
