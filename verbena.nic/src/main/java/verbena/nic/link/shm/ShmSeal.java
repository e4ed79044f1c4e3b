package verbena.nic.link.shm;

import verbena.nic.link.Seal;
import verbena.nic.link.UdpSeal;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// The seal that packets through memory would have on a wire. The last four bytes of each are room for an ICRC, and
/// hold anything, because memory damages nothing.
final class ShmSeal implements Seal {
    private final UdpSeal seal = new UdpSeal(RoceV2.UDP_PORT);

    @Override
    public void seal(Frame frame, int identification) {
        seal.seal(frame, identification);
    }

    @Override
    public void judge(Frame frame, int position) {
        seal.judge(frame, position);
    }

    /// Seals a packet as a wire would: the ICRC is wrong when the packet was damaged on its way.
    @Override
    public void sealAsIfFromAWire(Frame frame) {
        seal(frame, 0);
        if (!frame.icrcValid) {
            frame.flip(frame.length * Byte.SIZE - 1);
        }
    }
}
