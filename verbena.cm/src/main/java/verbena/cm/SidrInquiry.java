package verbena.cm;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.SidrRep;
import verbena.wire.cm.SidrReq;

/// A peer's request for the queue pair of a datagram service (IBTA 12.11), until it is answered. Confined like its
/// [CommunicationManager].
public final class SidrInquiry {
    /// The owner of the service, which gets the requests.
    @FunctionalInterface
    public interface Listener {
        /// Handles a request of a peer: call [SidrInquiry#answer], now or later.
        void onRequest(SidrInquiry inquiry);
    }

    private final CmOutbox outbox;
    private final Consumer<SidrInquiry> answered;
    private final CmRoute route;
    private final SidrReq request;
    private @Nullable SidrRep answer;

    /// @param answered takes it when it is answered
    SidrInquiry(CmOutbox outbox, Consumer<SidrInquiry> answered, CmRoute route, SidrReq request) {
        this.outbox = outbox;
        this.answered = answered;
        this.route = route;
        this.request = request;
    }

    public CmRoute route() {
        return route;
    }

    public SidrReq request() {
        return request;
    }

    @Nullable
    SidrRep answer() {
        return answer;
    }

    /// Sends the answer; only the first call counts.
    ///
    /// @param status as in [SidrRep]; [SidrRep#VALID] when there is a queue pair
    /// @param qpn the queue pair that takes the datagrams, 0 for none
    /// @param privateData data of the application, at most [SidrRep#PRIVATE_DATA_BYTES]
    public void answer(int status, int qpn, int qkey, PrivateData privateData) {
        if (answer == null) {
            var first = new SidrRep(
                    request.transactionId(),
                    request.requestId(),
                    status,
                    0,
                    qpn,
                    request.serviceId(),
                    qkey,
                    PrivateData.NONE,
                    privateData);
            answer = first;
            answered.accept(this);
            outbox.send(route, first);
        }
    }

    @Override
    public String toString() {
        return "SIDR request 0x" + Integer.toHexString(request.requestId()) + " of " + route.remote();
    }
}
