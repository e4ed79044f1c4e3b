package verbena.foreign.rdma;

/// The numbers of `rdma/rdma_cma.h`, under their names in C.
public final class CmConstants {
    private CmConstants() {}

    // ---- enum rdma_cm_event_type

    public static final int RDMA_CM_EVENT_ADDR_RESOLVED = 0;
    public static final int RDMA_CM_EVENT_ADDR_ERROR = 1;
    public static final int RDMA_CM_EVENT_ROUTE_RESOLVED = 2;
    public static final int RDMA_CM_EVENT_ROUTE_ERROR = 3;
    public static final int RDMA_CM_EVENT_CONNECT_REQUEST = 4;
    public static final int RDMA_CM_EVENT_CONNECT_RESPONSE = 5;
    public static final int RDMA_CM_EVENT_CONNECT_ERROR = 6;
    public static final int RDMA_CM_EVENT_UNREACHABLE = 7;
    public static final int RDMA_CM_EVENT_REJECTED = 8;
    public static final int RDMA_CM_EVENT_ESTABLISHED = 9;
    public static final int RDMA_CM_EVENT_DISCONNECTED = 10;
    public static final int RDMA_CM_EVENT_DEVICE_REMOVAL = 11;
    public static final int RDMA_CM_EVENT_MULTICAST_JOIN = 12;
    public static final int RDMA_CM_EVENT_MULTICAST_ERROR = 13;
    public static final int RDMA_CM_EVENT_ADDR_CHANGE = 14;
    public static final int RDMA_CM_EVENT_TIMEWAIT_EXIT = 15;

    // ---- enum rdma_port_space

    public static final int RDMA_PS_IPOIB = 0x0002;
    public static final int RDMA_PS_TCP = 0x0106;
    public static final int RDMA_PS_UDP = 0x0111;
    public static final int RDMA_PS_IB = 0x013F;

    // ---- enum rdma_cm_join_mc_attr_mask

    public static final int RDMA_CM_JOIN_MC_ATTR_ADDRESS = 1;
    public static final int RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS = 1 << 1;

    // ---- enum rdma_cm_mc_join_flags

    public static final int RDMA_MC_JOIN_FLAG_FULLMEMBER = 0;
    public static final int RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER = 1;

    // ---- options of rdma_set_option(3)

    public static final int RDMA_OPTION_ID = 0;
    public static final int RDMA_OPTION_IB = 1;
    public static final int RDMA_OPTION_ID_TOS = 0;
    public static final int RDMA_OPTION_ID_REUSEADDR = 1;
    public static final int RDMA_OPTION_ID_AFONLY = 2;
    public static final int RDMA_OPTION_ID_ACK_TIMEOUT = 3;
    public static final int RDMA_OPTION_IB_PATH = 1;

    // ---- limits and a key

    public static final int RDMA_MAX_RESP_RES = 255;
    public static final int RDMA_MAX_INIT_DEPTH = 255;
    public static final int RDMA_UDP_QKEY = 0x0123_4567;
}
