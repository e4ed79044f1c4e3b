package verbena.nic.kind;

import verbena.transport.Messages;

/// The limits of every software device.
public final class DeviceLimits {
    public static final int QP_MAX = 65_536;
    public static final int QP_WR_MAX = 16_384;
    public static final int SGE_MAX = 32;
    public static final int INLINE_MAX = 512;
    public static final int CQ_MAX = 65_536;
    public static final int CQE_MAX = 1 << 20;
    public static final int MR_MAX = 1 << 20;
    public static final int PD_MAX = 65_536;
    public static final int SRQ_MAX = 65_536;
    public static final int READ_ATOMIC_MAX = 128;
    /// The memory of a device for programs: of one [verbena.verbs.DeviceMemory], and of all of an open device.
    public static final long DEVICE_MEMORY_BYTES_MAX = 256 << 10;
    public static final long MESSAGE_BYTES_MAX = Messages.BYTES_MAX;

    private DeviceLimits() {}
}
