package verbena.tools.explain;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import verbena.tools.explain.Event.Kind;
import verbena.transport.PacketFate;
import verbena.verbs.Access;
import verbena.verbs.RnrTimer;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Syndrome;
import verbena.wire.notation.CmText;

/// The purpose and the outcome of packets in words, for a reader who sees them for the first time.
final class Wording {
    private Wording() {}

    /// Returns the purpose of a packet.
    static String of(Frame frame) {
        if (Packet.check(frame) != Malformed.OK) {
            return "No packet that any opcode allows.";
        }
        String message = CmText.format(frame);
        return message == null ? of(Packet.opcode(frame), frame) : ofConnection(message.split(" ", 2)[0]);
    }

    private static String ofConnection(String message) {
        return switch (message) {
            case "REQ" ->
                "Request for a connection, to queue pair 1, where connection managers listen: it names the"
                        + " service (a port), the own queue pair, its first PSN and what it can do.";
            case "REP" ->
                "The reply: yes, and the queue pair at this end. What the application wants to say goes along as"
                        + " private data.";
            case "RTU" -> "Ready to use: the third and last message, so that the passive side knows, too.";
            case "REJ" -> "Rejected: there will be no connection; the reason is in it.";
            case "MRA" -> "Message received: an answer will take longer than usual.";
            case "DREQ" -> "Disconnect request: this side is done.";
            case "DREP" -> "Disconnect reply: understood. Both queue pairs are in ERR now.";
            case "SIDR_REQ" -> "A question for datagrams: which queue pair serves this port?";
            case "SIDR_REP" -> "The answer: this queue pair, with this Q_Key.";
            default -> "A message of the connection managers.";
        };
    }

    private static String of(Opcode opcode, Frame frame) {
        return switch (opcode.operation()) {
            case SEND_FIRST -> "The message begins. It names no memory: the receiver's next posted receive takes it.";
            case SEND_MIDDLE -> "More of the message; PSNs keep it in order.";
            case SEND_LAST, SEND_LAST_IMMEDIATE -> "The end of the message: the receive is complete now.";
            case SEND_ONLY, SEND_ONLY_IMMEDIATE ->
                "A whole message in one packet. It names no memory: the receiver's next posted receive takes it.";
            case SEND_LAST_INVALIDATE, SEND_ONLY_INVALIDATE ->
                "The end of a message that also withdraws a key of the receiver: no peer can use that key any more.";
            case WRITE_FIRST ->
                "The WRITE begins. Its RETH contains the address, the key, and the length of the whole WRITE.";
            case WRITE_MIDDLE -> "More of the WRITE, without an address: its bytes follow those of the packet before.";
            case WRITE_LAST -> "The last of the WRITE; it asks for an acknowledgement of all of it.";
            case WRITE_ONLY -> "The whole WRITE in one packet: its RETH contains the address, the key, and the length.";
            case WRITE_LAST_IMMEDIATE, WRITE_ONLY_IMMEDIATE ->
                "The end of a WRITE with immediate data: 32 bits that are handed to the receiver's application, for which"
                        + " a posted receive is used up.";
            case READ_REQUEST -> "Asks for bytes: the RETH contains the address, the key, and the length.";
            case READ_RESPONSE_FIRST, READ_RESPONSE_MIDDLE, READ_RESPONSE_LAST, READ_RESPONSE_ONLY ->
                "Bytes that were asked for. The device read them from memory by itself, and the PSN says which of the"
                        + " answers this is.";
            case ACKNOWLEDGE -> ofSyndrome(Aeth.syndrome(frame.slot, (long) frame.start + opcode.aethOffset()));
            case ATOMIC_ACKNOWLEDGE -> "The answer to an atomic: what the memory held before.";
            case COMPARE_SWAP ->
                "Compare and swap: the receiver's device replaces 8 bytes if they are what is expected, in one step.";
            case FETCH_ADD -> "Fetch and add: the receiver's device adds to 8 bytes, in one step.";
            case FLUSH -> "Asks that earlier writes be visible to all, or persistent, before it is answered.";
            case ATOMIC_WRITE -> "Writes 8 bytes at once.";
            case RESYNC -> "Reliable datagrams only.";
            case CONGESTION_NOTIFICATION -> "Tells the sender that the network is congested.";
            case SELECTIVE_ACKNOWLEDGE ->
                "Negative acknowledgement between two Verbena ends: this PSN is missing, and later packets are kept, so only"
                        + " the missing packet is to be sent again. Another peer gets a NAK, and sends every packet from there again.";
        };
    }

    private static String ofSyndrome(int syndrome) {
        return switch (Syndrome.kind(syndrome)) {
            case ACK -> "Acknowledges everything up to this PSN: it has arrived, was allowed, and has been executed.";
            case RNR_NAK ->
                "Receiver not ready: no receive was posted. The sender has to try again after "
                        + Recording.micros(new RnrTimer(Syndrome.value(syndrome)).nanos()) + " µs.";
            case NAK ->
                switch (syndrome) {
                    case Syndrome.NAK_SEQUENCE ->
                        "Negative acknowledgement: packets are missing from this PSN on. The sender has to send them again.";
                    case Syndrome.NAK_REMOTE_ACCESS ->
                        "Negative acknowledgement: the memory that was asked for is not open to this request. That ends the"
                                + " connection, on purpose: a wrong key is a mistake, or an attack.";
                    case Syndrome.NAK_INVALID_REQUEST ->
                        "Negative acknowledgement: the request is invalid, and no repetition can help. That ends the"
                                + " connection.";
                    default ->
                        "Negative acknowledgement: the other side could not carry it out. That ends the connection.";
                };
            case RESERVED -> "An acknowledgement of no known kind.";
        };
    }

    /// Returns a few words for the diagram.
    static String label(PacketFate fate) {
        return switch (fate) {
            case ACCEPTED -> "accepted";
            case DUPLICATE -> "seen before: not carried out again";
            case REFUSED -> "refused";
            case OUT_OF_SEQUENCE -> "a packet is missing before this one";
            case RECEIVER_NOT_READY -> "no receive is posted";
            default -> fate.label().replace("dropped.", "dropped: ").replace('-', ' ');
        };
    }

    /// Returns the outcome of a packet, in words that follow "it was".
    static String judged(PacketFate fate) {
        return switch (fate) {
            case ACCEPTED -> "accepted.";
            case DUPLICATE -> "a duplicate.";
            case REFUSED -> "refused.";
            case OUT_OF_SEQUENCE -> "out of sequence.";
            case RECEIVER_NOT_READY -> "turned away: no receive was posted.";
            default -> "dropped (" + fate.label() + ").";
        };
    }

    /// Returns the outcome of a packet in a sentence.
    static String of(PacketFate fate) {
        return switch (fate) {
            case ACCEPTED -> "It was accepted.";
            case DUPLICATE ->
                "Its PSN was executed before. The device acknowledges it again, because the first acknowledgement may"
                        + " be lost, and executes nothing twice.";
            case REFUSED -> "The device answers the request with a NAK, and executes nothing of it.";
            case OUT_OF_SEQUENCE ->
                "Its PSN is ahead of the expected one. If both ends are Verbena's, the device keeps the packet. Otherwise it"
                        + " drops the packet, and answers the first of them with a NAK, which names the PSN from which the peer"
                        + " has to send again.";
            case RECEIVER_NOT_READY ->
                "A message needs a receive, and the application has posted none. The sender is asked to wait a while.";
            case DROPPED_ICRC -> "Its checksum is wrong: it was damaged, and counts as lost.";
            case DROPPED_MALFORMED -> "Its headers do not fit its opcode or length.";
            case DROPPED_UNKNOWN_QP, DROPPED_CLOSED_QP -> "This queue pair does not exist, or does not exist any more.";
            case DROPPED_STATE -> "The queue pair is in a state in which it receives nothing, such as ERR.";
            default -> "It is dropped without an answer: " + fate.label() + ".";
        };
    }

    /// Returns the event for the receiver's check of key and bounds.
    ///
    /// @param allowed what the device decided
    /// @param key what the recording knows of the memory; null when no key fits
    static Event check(
            Place at,
            long nanos,
            boolean allowed,
            @Nullable Key key,
            int rkey,
            long address,
            long bytes,
            Access right) {
        String objection = key == null
                ? "no memory here has the key 0x%08x".formatted(rkey)
                : key.objection(address, bytes, right);
        String label = allowed
                ? String.format(Locale.ROOT, "key 0x%08x, %,d bytes, %s: allowed", rkey, bytes, right)
                : "key and bounds: refused";
        String text = allowed
                ? "The device looks the key up in its own table: it is the key of "
                        + (key == null
                                ? "memory"
                                : key.name() + " of " + String.format(Locale.ROOT, "%,d", key.length()) + " bytes")
                        + ", the range is inside, and the right is granted. Neither the application nor the kernel takes part."
                : "The device looks the key up in its own table: "
                        + (objection == null ? "the key is right, but the request is not allowed now" : objection)
                        + ". No byte changes.";
        return Event.of(nanos, Kind.STEP, at, at, label, text);
    }
}
