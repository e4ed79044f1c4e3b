package verbena.sim.model;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.sim.model.MemoryRules.Place;
import verbena.verbs.Access;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpType;
import verbena.verbs.WcStatus;
import verbena.wire.ib.Bth;

/// What a request of an unreliable connection or a datagram leads to (IBTA 9.8 and 9.9.3.2), a message at a time.
/// The sender is done when it has sent; what finds no receive is dropped silently.
final class UnreliableRules {
    /// What precedes a datagram in its receive (IBTA 11.4.1.2).
    private static final int GRH_BYTES = 40;

    private final Model model;

    UnreliableRules(Model model) {
        this.model = model;
    }

    /// Sends the oldest request, which is done then. What arrives is the peer's business.
    void carryOut(ModelQueuePair queuePair, ModelSend request) {
        byte[] data = MessageRules.payload(queuePair, request);
        queuePair.succeed();
        if (queuePair.type() == QpType.UD) {
            sendDatagram(queuePair, request, data);
            return;
        }
        ModelQueuePair peer = reach(queuePair);
        if (peer != null) {
            peer.onPacket();
            if (request.operation().isSend()) {
                onSend(peer, queuePair, request, data);
            } else {
                onWrite(peer, queuePair, request, data);
            }
        }
    }

    // ---- UC

    /// As for a reliable connection; PSNs count within a message only, and nothing is lost here.
    private @Nullable ModelQueuePair reach(ModelQueuePair from) {
        ModelQueuePair to = model.find(from.destination(), from.number(QpAttribute.DEST_QPN));
        return to != null
                        && to.type() == QpType.UC
                        && to.isReceiving()
                        && to.destination().equals(from.source())
                        && to.source().equals(from.destination())
                ? to
                : null;
    }

    private static void onSend(ModelQueuePair to, ModelQueuePair from, ModelSend request, byte[] data) {
        ModelReceive receive = to.openReceive();
        if (receive == null) {
            return;
        }
        if (!MessageRules.fit(to, from, data.length)) {
            to.breakOff(WcStatus.REM_INV_REQ_ERR);
            return;
        }
        int mtu = from.mtuBytes();
        for (int at = 0; at < data.length; at += mtu) {
            byte[] packet = Arrays.copyOfRange(data, at, Math.min(data.length, at + mtu));
            if (at + packet.length > receive.capacity()) {
                MemoryRules.leaveUndefined(to.receiveDomain(), receive.pieces());
                to.breakOff(WcStatus.LOC_LEN_ERR);
                return;
            }
            if (!place(to, receive, at, packet)) {
                return;
            }
        }
        to.closeReceive();
        to.succeed(ModelCompletion.ofReceive(to, receive, data.length, request, OptionalInt.empty()));
    }

    /// False when the receive's own memory cannot be used: that ends the queue pair (IBTA 9.9.3.2, class C).
    private static boolean place(ModelQueuePair to, ModelReceive receive, int at, byte[] data) {
        boolean placed = MemoryRules.scatter(to.receiveDomain(), receive.pieces(), at, data);
        if (!placed) {
            MemoryRules.leaveUndefined(to.receiveDomain(), receive.pieces());
            to.closeReceive();
            to.fail(receive, WcStatus.LOC_PROT_ERR);
            to.breakDown();
        }
        return placed;
    }

    private static void onWrite(ModelQueuePair to, ModelQueuePair from, ModelSend request, byte[] data) {
        if (!to.attributes().access().contains(Access.REMOTE_WRITE) || !MessageRules.fit(to, from, data.length)) {
            return;
        }
        Place place = data.length == 0
                ? null
                : MemoryRules.remote(
                        to, request.rkey(), request.remoteAddress(), data.length, Set.of(Access.REMOTE_WRITE));
        if (data.length > 0 && place == null) {
            return;
        }
        // All packets but the last, which alone takes a receive.
        int lastAt = (int) (MessageRules.packets(data.length, from.mtuBytes()) - 1) * from.mtuBytes();
        if (place != null) {
            place.memory().write(place.offset(), Arrays.copyOf(data, lastAt));
        }
        ModelReceive receive = null;
        if (request.operation().hasImmediate()) {
            receive = to.openReceive();
            if (receive == null) {
                return;
            }
        }
        if (place != null) {
            place.memory().write(place.offset() + lastAt, Arrays.copyOfRange(data, lastAt, data.length));
        }
        if (receive != null) {
            to.closeReceive();
            to.succeed(ModelCompletion.ofReceive(to, receive, data.length, request, OptionalInt.empty()));
        }
    }

    // ---- UD

    private void sendDatagram(ModelQueuePair from, ModelSend request, byte[] data) {
        ModelAddressHandle handle = request.handle();
        if (handle == null) {
            throw new IllegalStateException("a datagram that goes nowhere");
        }
        AddressVector way = handle.way();
        Gid source = from.device().gids().get(way.sourceGidIndex());
        // IBTA 10.2.5: a Q_Key with its high bit set stands for the queue pair's own.
        int qkey = request.qkey() < 0 ? from.number(QpAttribute.QKEY) : request.qkey();
        for (ModelQueuePair to : model.datagramReceivers(way.destination(), request.qpn())) {
            if (to.type() == QpType.UD && to.isReceiving() && to.number(QpAttribute.QKEY) == qkey) {
                onDatagram(to, from, request, data, grh(source, way, request, data.length));
            }
        }
    }

    private static void onDatagram(ModelQueuePair to, ModelQueuePair from, ModelSend request, byte[] data, byte[] grh) {
        ModelReceive receive = to.openReceive();
        if (receive == null) {
            return;
        }
        if (GRH_BYTES + data.length > receive.capacity()) {
            to.breakOff(WcStatus.LOC_LEN_ERR);
            return;
        }
        if (!place(to, receive, 0, grh) || !place(to, receive, GRH_BYTES, data)) {
            return;
        }
        to.closeReceive();
        to.succeed(ModelCompletion.ofDatagram(to, receive, GRH_BYTES + data.length, request, from.qpn()));
    }

    /// The header that the datagram came with (IBTA A17.4.5.1): of IPv6, or 20 bytes of nothing and one of IPv4.
    private static byte[] grh(Gid source, AddressVector way, ModelSend request, int dataBytes) {
        int immediate = request.operation().hasImmediate() ? 4 : 0;
        int pad = -dataBytes & 3;
        int udp = 8 + 12 + 8 + immediate + dataBytes + pad + 4; // UDP, BTH, DETH, ..., ICRC
        ByteBuffer grh = ByteBuffer.allocate(GRH_BYTES);
        if (!source.isIpv4()) {
            return grh.putInt(6 << 28 | way.trafficClass() << 20)
                    .putShort((short) udp)
                    .put((byte) 17)
                    .put((byte) way.hopLimit())
                    .put(source.bytes())
                    .put(way.destination().bytes())
                    .array();
        }
        grh.position(20)
                .putShort((short) (0x4500 | way.trafficClass()))
                .putShort((short) (20 + udp))
                .putInt(0x4000) // number 0, not to be cut
                .put((byte) way.hopLimit())
                .put((byte) 17)
                .putShort((short) 0)
                .putInt((int) source.low())
                .putInt((int) way.destination().low());
        return grh.putShort(30, checksum(grh)).array();
    }

    /// RFC 791, 3.1: the complement of the one's complement sum.
    private static short checksum(ByteBuffer area) {
        int sum = 0;
        for (int at = 20; at < GRH_BYTES; at += 2) {
            sum += area.getShort(at) & 0xFFFF;
        }
        return (short) ~((sum & 0xFFFF) + (sum >>> 16));
    }

    static boolean isMulticast(int qpn) {
        return qpn == Bth.MULTICAST_QP;
    }
}
