package verbena.nic;

import verbena.transport.Messages;

/// The limits of every software device.
final class DeviceLimits {
    static final int QP_MAX = 65_536;
    static final int QP_WR_MAX = 16_384;
    static final int SGE_MAX = 32;
    static final int INLINE_MAX = 512;
    static final int CQ_MAX = 65_536;
    static final int CQE_MAX = 1 << 20;
    static final int MR_MAX = 1 << 20;
    static final int PD_MAX = 65_536;
    static final int SRQ_MAX = 65_536;
    static final int READ_ATOMIC_MAX = 128;
    static final long MESSAGE_BYTES_MAX = Messages.BYTES_MAX;

    private DeviceLimits() {}
}
