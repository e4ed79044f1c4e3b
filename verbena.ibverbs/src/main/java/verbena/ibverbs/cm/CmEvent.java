package verbena.ibverbs.cm;

import static verbena.foreign.rdma.CmStructs.CM_EVENT;
import static verbena.foreign.rdma.CmStructs.CM_ID;

import java.util.Optional;
import verbena.foreign.Memory;
import verbena.foreign.rdma.CmConstants;
import verbena.ibverbs.lib.AddressVectors;
import verbena.verbs.AddressVector;
import verbena.verbs.cm.PeerParameters;
import verbena.verbs.cm.PrivateData;

/// The contents of a `struct rdma_cm_event`, which is given back to C at once.
///
/// @param id the identifier that it is about
/// @param listenId of a request: the listener
/// @param path of datagrams: the way to the peer
record CmEvent(long id, long listenId, int type, int status, PeerParameters peer, Optional<AddressVector> path) {
    /// @param event address of the struct
    static CmEvent read(long event) {
        long id = Memory.getLong(event + CM_EVENT.at("id"));
        int space = Memory.getInt(id + CM_ID.at("ps"));
        int type = Memory.getInt(event + CM_EVENT.at("event"));
        boolean isDatagram = space == CmConstants.RDMA_PS_UDP || space == CmConstants.RDMA_PS_IPOIB;
        return new CmEvent(
                id,
                Memory.getLong(event + CM_EVENT.at("listen_id")),
                type,
                Memory.getInt(event + CM_EVENT.at("status")),
                isDatagram ? datagram(event) : connection(event),
                isDatagram && type == CmConstants.RDMA_CM_EVENT_ESTABLISHED
                        ? AddressVectors.read(event + CM_EVENT.at("param.ud.ah_attr"))
                        : Optional.empty());
    }

    /// Reads the peer's parameters. The kernel reports the limits of this side: it serves the requests that the
    /// peer has outstanding, and the reverse.
    private static PeerParameters connection(long event) {
        return new PeerParameters(
                data(event, "param.conn"),
                Memory.getUnsignedByte(event + CM_EVENT.at("param.conn.initiator_depth")),
                Memory.getUnsignedByte(event + CM_EVENT.at("param.conn.responder_resources")),
                Memory.getUnsignedByte(event + CM_EVENT.at("param.conn.retry_count")),
                Memory.getUnsignedByte(event + CM_EVENT.at("param.conn.rnr_retry_count")),
                Memory.getUnsignedByte(event + CM_EVENT.at("param.conn.srq")) != 0,
                Memory.getInt(event + CM_EVENT.at("param.conn.qp_num")),
                0);
    }

    private static PeerParameters datagram(long event) {
        return PeerParameters.ofDatagrams(
                data(event, "param.ud"),
                Memory.getInt(event + CM_EVENT.at("param.ud.qp_num")),
                Memory.getInt(event + CM_EVENT.at("param.ud.qkey")));
    }

    private static PrivateData data(long event, String param) {
        long bytes = Memory.getLong(event + CM_EVENT.at(param + ".private_data"));
        int length = Memory.getUnsignedByte(event + CM_EVENT.at(param + ".private_data_len"));
        return bytes == 0 || length == 0 ? PrivateData.NONE : PrivateData.of(Memory.bytes(bytes, length));
    }
}
