package verbena.nic.roce;

import java.util.Locale;
import verbena.cm.CmRefusal;
import verbena.verbs.Mtu;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;

/// The reasons for which a peer refuses a connection (IBTA 12.6.7), in words.
final class Refusals {
    private Refusals() {}

    /// @param to the peer, as messages call it
    /// @param mtu of this side
    static String why(String to, Rej rej, Mtu mtu) {
        CmRefusal refusal = CmRefusal.of(rej);
        if (refusal != null) {
            return to + " " + refusal.text();
        }
        int code = rej.reason();
        RejectReason reason = RejectReason.of(code);
        return switch (reason) {
            case null -> to + " refuses for a reason that is not in the standard (" + code + ")";
            case INVALID_SERVICE_ID -> "no program listens at " + to;
            case CONSUMER_REJECT -> "the application at " + to + " refuses";
            case NO_RESOURCES -> to + " has no room for more requests now";
            case STALE_CONNECTION -> to + " still has a connection with this queue pair's number";
            case INVALID_PATH_MTU -> to + " has a smaller MTU than " + mtu;
            case TIMEOUT -> to + " has given up waiting";
            default ->
                to + " refuses: " + reason.name().toLowerCase(Locale.ROOT).replace('_', ' ') + " (" + code + ")";
        };
    }
}
