package verbena.foreign.linux;

/// Numbers of the Linux ABI, 64 bits, little-endian, alike on x86-64 and aarch64 and for glibc and musl. Names
/// are those of the C headers. A test compiles a C program and compares every one of them.
public final class LinuxAbi {
    public static final int AF_UNIX = 1;
    public static final int AF_INET = 2;
    public static final int AF_INET6 = 10;
    public static final int AF_NETLINK = 16;
    public static final int AF_PACKET = 17;
    public static final int AF_XDP = 44;
    public static final int SOCK_STREAM = 1;
    public static final int SOCK_DGRAM = 2;
    public static final int SOCK_RAW = 3;
    public static final int SOCK_SEQPACKET = 5;
    public static final int SOCK_NONBLOCK = 0x800;
    public static final int SOCK_CLOEXEC = 0x8_0000;

    public static final int O_RDWR = 2;
    public static final int TUNSETIFF = 0x4004_54CA;
    public static final int IFF_TAP = 2;
    public static final int IFF_NO_PI = 0x1000;
    /// The longest name of an interface, and the zero behind it.
    public static final int IFNAMSIZ = 16;

    public static final int SOL_SOCKET = 1;
    public static final int SO_REUSEADDR = 2;
    public static final int SO_ERROR = 4;
    public static final int SO_SNDBUF = 7;
    public static final int SO_RCVBUF = 8;
    public static final int SO_KEEPALIVE = 9;
    public static final int SO_LINGER = 13;
    public static final int SO_REUSEPORT = 15;
    public static final int SO_PEERCRED = 17;
    public static final int SO_ATTACH_FILTER = 26;
    public static final int SO_SNDBUFFORCE = 32;
    public static final int SO_RCVBUFFORCE = 33;
    /// Also the type of the control message that it brings: a `struct timespec`.
    public static final int SO_TIMESTAMPNS = 35;
    public static final int SO_TIMESTAMPING = 37;
    public static final int SOF_TIMESTAMPING_TX_SCHED = 1 << 8;
    public static final int SO_BUSY_POLL = 46;
    public static final int SO_ATTACH_REUSEPORT_CBPF = 51;
    public static final int SO_BINDTOIFINDEX = 62;
    public static final int SO_PREFER_BUSY_POLL = 69;
    public static final int SO_BUSY_POLL_BUDGET = 70;

    public static final int IPPROTO_IP = 0;
    public static final int IP_TOS = 1;
    public static final int IP_TTL = 2;
    public static final int IP_MTU_DISCOVER = 10;
    public static final int IP_PMTUDISC_DO = 2;
    public static final int IP_RECVTTL = 12;
    public static final int IP_RECVTOS = 13;
    public static final int IP_BIND_ADDRESS_NO_PORT = 24;
    public static final int IP_MULTICAST_IF = 32;
    public static final int IP_MULTICAST_LOOP = 34;
    /// Also a name of IPPROTO_IPV6's (RFC 3678).
    public static final int MCAST_JOIN_GROUP = 42;

    public static final int MCAST_LEAVE_GROUP = 45;

    public static final int IPPROTO_IPV6 = 41;
    public static final int IPV6_UNICAST_HOPS = 16;
    public static final int IPV6_MULTICAST_IF = 17;
    public static final int IPV6_MULTICAST_LOOP = 19;
    public static final int IPV6_MTU_DISCOVER = 23;
    public static final int IPV6_PMTUDISC_DO = 2;
    public static final int IPV6_V6ONLY = 26;
    public static final int IPV6_RECVHOPLIMIT = 51;
    public static final int IPV6_HOPLIMIT = 52;
    public static final int IPV6_DONTFRAG = 62;
    public static final int IPV6_RECVTCLASS = 66;
    public static final int IPV6_TCLASS = 67;
    public static final int IPV6_FREEBIND = 78;

    public static final int IPPROTO_TCP = 6;
    public static final int TCP_NODELAY = 1;
    public static final int TCP_MAXSEG = 2;
    public static final int TCP_KEEPIDLE = 4;
    public static final int TCP_KEEPINTVL = 5;
    public static final int TCP_KEEPCNT = 6;
    public static final int TCP_USER_TIMEOUT = 18;
    /// States of a socket, also of a local one.
    public static final int TCP_CLOSE = 7;

    public static final int TCP_LISTEN = 10;
    public static final int SHUT_WR = 1;

    public static final int IPPROTO_UDP = 17;
    public static final int UDP_NO_CHECK6_RX = 102;
    /// Also the type of the control message that asks for it: 16 bits.
    public static final int UDP_SEGMENT = 103;
    /// Also the type of the control message that tells of it: an int.
    public static final int UDP_GRO = 104;

    public static final int SOL_PACKET = 263;
    public static final int PACKET_ADD_MEMBERSHIP = 1;
    public static final int PACKET_DROP_MEMBERSHIP = 2;
    public static final int PACKET_RX_RING = 5;
    public static final int PACKET_STATISTICS = 6;
    public static final int PACKET_VERSION = 10;
    public static final int PACKET_IGNORE_OUTGOING = 23;
    public static final int PACKET_MR_MULTICAST = 0;
    public static final int PACKET_OUTGOING = 4;
    public static final int TPACKET_V2 = 1;
    public static final int TPACKET_ALIGNMENT = 16;
    public static final int TP_STATUS_KERNEL = 0;
    public static final int TP_STATUS_USER = 1;
    public static final int TP_STATUS_VLAN_VALID = 0x10;
    public static final int ETH_P_ALL = 3;

    public static final int SOL_XDP = 283;
    public static final int XDP_MMAP_OFFSETS = 1;
    public static final int XDP_RX_RING = 2;
    public static final int XDP_TX_RING = 3;
    public static final int XDP_UMEM_REG = 4;
    public static final int XDP_UMEM_FILL_RING = 5;
    public static final int XDP_UMEM_COMPLETION_RING = 6;
    public static final int XDP_STATISTICS = 7;
    public static final int XDP_OPTIONS = 8;
    public static final int XDP_OPTIONS_ZEROCOPY = 1;
    public static final int XDP_USE_NEED_WAKEUP = 8;
    public static final int XDP_RING_NEED_WAKEUP = 1;
    /// The room before a frame in its chunk that is an XDP program's.
    public static final int XDP_PACKET_HEADROOM = 256;

    public static final int XDP_PASS = 2;
    public static final int XDP_FLAGS_SKB_MODE = 2;
    public static final int XDP_FLAGS_DRV_MODE = 4;
    public static final int BPF_MAP_CREATE = 0;
    public static final int BPF_MAP_LOOKUP_ELEM = 1;
    public static final int BPF_MAP_UPDATE_ELEM = 2;
    public static final int BPF_MAP_DELETE_ELEM = 3;
    public static final int BPF_PROG_LOAD = 5;
    public static final int BPF_LINK_CREATE = 28;
    public static final int BPF_MAP_TYPE_HASH = 1;
    public static final int BPF_MAP_TYPE_ARRAY = 2;
    public static final int BPF_MAP_TYPE_XSKMAP = 17;
    public static final int BPF_PROG_TYPE_XDP = 6;
    /// The type of attachment.
    public static final int BPF_XDP = 37;

    public static final int BPF_F_XDP_HAS_FRAGS = 0x20;

    public static final int NETLINK_ROUTE = 0;
    public static final int RTMGRP_LINK = 1;
    public static final int RTMGRP_NEIGH = 4;
    public static final int RTMGRP_IPV4_IFADDR = 0x10;
    public static final int RTMGRP_IPV4_ROUTE = 0x40;
    public static final int RTMGRP_IPV6_IFADDR = 0x100;
    public static final int RTMGRP_IPV6_ROUTE = 0x400;
    public static final int NETLINK_SOCK_DIAG = 4;
    public static final int SOCK_DIAG_BY_FAMILY = 20;
    public static final int UDIAG_SHOW_NAME = 1;
    public static final int UDIAG_SHOW_UID = 0x40;
    public static final int UNIX_DIAG_NAME = 0;
    public static final int UNIX_DIAG_UID = 7;
    public static final int NLM_F_REQUEST = 1;
    public static final int NLM_F_DUMP = 0x300;
    public static final int RTM_NEWROUTE = 24;
    public static final int RTM_GETROUTE = 26;
    public static final int RTM_NEWNEIGH = 28;
    public static final int RTM_DELNEIGH = 29;
    public static final int RTM_GETNEIGH = 30;
    public static final int RTN_UNICAST = 1;
    public static final int RTA_DST = 1;
    public static final int RTA_OIF = 4;
    public static final int RTA_GATEWAY = 5;
    public static final int RTA_VIA = 18;
    public static final int NDA_DST = 1;
    public static final int NDA_LLADDR = 2;
    public static final int NUD_INCOMPLETE = 1;
    public static final int NUD_REACHABLE = 2;
    public static final int NUD_STALE = 4;
    public static final int NUD_DELAY = 8;
    public static final int NUD_PROBE = 0x10;
    public static final int NUD_NOARP = 0x40;
    public static final int NUD_PERMANENT = 0x80;

    public static final int MSG_CTRUNC = 8;
    public static final int MSG_TRUNC = 0x20;
    public static final int MSG_DONTWAIT = 0x40;
    public static final int MSG_ERRQUEUE = 0x2000;
    public static final int MSG_NOSIGNAL = 0x4000;
    public static final int MSG_CMSG_CLOEXEC = 0x4000_0000;
    /// The type of the control message that brings descriptors: an int each.
    public static final int SCM_RIGHTS = 1;

    public static final int O_RDONLY = 0;
    public static final int O_CLOEXEC = 0x8_0000;
    public static final int SEEK_END = 2;
    public static final int F_SETFL = 4;
    public static final int F_DUPFD_CLOEXEC = 1030;

    /// The same on all processors.
    public static final int SYS_CLOSE_RANGE = 436;
    /// The number of bpf(2), which differs on aarch64.
    public static final int SYS_BPF = System.getProperty("os.arch").equals("aarch64") ? 280 : 321;

    public static final int CLOSE_RANGE_UNSHARE = 2;
    public static final int F_ADD_SEALS = 1033;
    public static final int F_GET_SEALS = 1034;
    public static final int F_SEAL_SEAL = 1;
    public static final int F_SEAL_SHRINK = 2;
    public static final int F_SEAL_GROW = 4;
    public static final int F_SEAL_FUTURE_WRITE = 0x10;

    public static final int MFD_CLOEXEC = 1;
    public static final int MFD_ALLOW_SEALING = 2;
    public static final int PROT_READ = 1;
    public static final int PROT_WRITE = 2;
    public static final int PROT_EXEC = 4;
    public static final int MAP_SHARED = 1;
    public static final int MAP_PRIVATE = 2;
    public static final int MAP_ANONYMOUS = 0x20;
    public static final int MAP_POPULATE = 0x8000;
    public static final int MAP_FIXED_NOREPLACE = 0x10_0000;
    public static final int MADV_WILLNEED = 3;
    public static final int MADV_DONTFORK = 10;
    /// The advice of Linux 5.14 and newer.
    public static final int MADV_POPULATE_READ = 22;
    public static final int MADV_POPULATE_WRITE = 23;
    public static final int TMPFS_MAGIC = 0x0102_1994;

    public static final int EFD_NONBLOCK = 0x800;
    public static final int EFD_CLOEXEC = 0x8_0000;

    public static final int CLOCK_MONOTONIC = 1;
    public static final int TFD_NONBLOCK = 0x800;
    public static final int TFD_CLOEXEC = 0x8_0000;

    public static final int EPOLL_CLOEXEC = 0x8_0000;
    public static final int EPOLL_CTL_ADD = 1;
    public static final int EPOLL_CTL_MOD = 3;
    public static final int EPOLLIN = 1;
    public static final int EPOLLOUT = 4;
    public static final int EPOLLERR = 8;
    public static final int EPOLLHUP = 0x10;

    public static final int BPF_LD = 0x00;
    public static final int BPF_LDX = 0x01;
    public static final int BPF_ST = 0x02;
    public static final int BPF_STX = 0x03;
    public static final int BPF_ALU = 0x04;
    public static final int BPF_JMP = 0x05;
    public static final int BPF_ALU64 = 0x07;
    public static final int BPF_RET = 0x06;
    public static final int BPF_W = 0x00;
    public static final int BPF_H = 0x08;
    public static final int BPF_B = 0x10;
    public static final int BPF_DW = 0x18;
    public static final int BPF_ABS = 0x20;
    public static final int BPF_MEM = 0x60;
    public static final int BPF_ATOMIC = 0xC0;
    public static final int BPF_K = 0x00;
    public static final int BPF_X = 0x08;
    public static final int BPF_A = 0x10;
    public static final int BPF_ADD = 0x00;
    public static final int BPF_MOV = 0xB0;
    public static final int BPF_IMM = 0x00;
    public static final int BPF_AND = 0x50;
    public static final int BPF_JA = 0x00;
    public static final int BPF_JEQ = 0x10;
    public static final int BPF_JGT = 0x20;
    public static final int BPF_JSET = 0x40;
    public static final int BPF_JNE = 0x50;
    public static final int BPF_CALL = 0x80;
    public static final int BPF_EXIT = 0x90;
    public static final int BPF_PSEUDO_MAP_FD = 1;
    public static final int BPF_FUNC_MAP_LOOKUP_ELEM = 1;
    public static final int BPF_FUNC_REDIRECT_MAP = 51;
    /// The offset at which a program finds the kernel's facts about a frame, with the offset of its type.
    public static final int SKF_AD_OFF = -0x1000;

    public static final int SKF_AD_PKTTYPE = 4;

    public static final int POLLIN = 1;
    public static final int POLLOUT = 4;

    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int ESRCH = 3;
    public static final int EINTR = 4;
    public static final int EIO = 5;
    public static final int ENXIO = 6;
    public static final int EBADF = 9;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int EFAULT = 14;
    public static final int EBUSY = 16;
    public static final int EEXIST = 17;
    public static final int ENODEV = 19;
    public static final int EINVAL = 22;
    public static final int EMFILE = 24;
    public static final int ENOSPC = 28;
    public static final int EPIPE = 32;
    public static final int ENAMETOOLONG = 36;
    public static final int ENOSYS = 38;
    public static final int ENODATA = 61;
    public static final int EPROTO = 71;
    public static final int EDESTADDRREQ = 89;
    public static final int EMSGSIZE = 90;
    public static final int ENOPROTOOPT = 92;
    public static final int EPROTONOSUPPORT = 93;
    public static final int EOPNOTSUPP = 95;
    public static final int EAFNOSUPPORT = 97;
    public static final int EADDRINUSE = 98;
    public static final int EADDRNOTAVAIL = 99;
    public static final int ENETUNREACH = 101;
    public static final int ECONNABORTED = 103;
    public static final int ECONNRESET = 104;
    public static final int ENOBUFS = 105;
    public static final int EISCONN = 106;
    public static final int ENOTCONN = 107;
    public static final int ETIMEDOUT = 110;
    public static final int ECONNREFUSED = 111;
    public static final int EHOSTUNREACH = 113;
    public static final int EALREADY = 114;
    public static final int EINPROGRESS = 115;

    private LinuxAbi() {}

    /// `struct sockaddr_in`.
    public static final class SockaddrIn {
        public static final int BYTES = 16;
        public static final int SIN_FAMILY = 0; // 16 bits, native order
        public static final int SIN_PORT = 2; // 16 bits, network order
        public static final int SIN_ADDR = 4; // 32 bits, network order

        private SockaddrIn() {}
    }

    /// `struct sockaddr_in6`.
    public static final class SockaddrIn6 {
        public static final int BYTES = 28;
        public static final int SIN6_FAMILY = 0; // 16 bits, native order
        public static final int SIN6_PORT = 2; // 16 bits, network order
        public static final int SIN6_FLOWINFO = 4; // 32 bits, network order
        public static final int SIN6_ADDR = 8; // 128 bits, network order
        public static final int SIN6_SCOPE_ID = 24; // 32 bits, native order

        private SockaddrIn6() {}
    }

    /// `struct sockaddr_un`.
    public static final class SockaddrUn {
        public static final int BYTES = 110;
        public static final int SUN_FAMILY = 0; // 16 bits
        public static final int SUN_PATH = 2;

        private SockaddrUn() {}
    }

    /// `struct sockaddr_nl`.
    public static final class SockaddrNl {
        public static final int BYTES = 12;
        public static final int NL_FAMILY = 0; // 16 bits
        public static final int NL_GROUPS = 8; // 32 bits

        private SockaddrNl() {}
    }

    /// `struct sockaddr_ll`.
    public static final class SockaddrLl {
        public static final int BYTES = 20;
        public static final int SLL_FAMILY = 0; // 16 bits, native order
        public static final int SLL_PROTOCOL = 2; // 16 bits, network order
        public static final int SLL_IFINDEX = 4; // 32 bits

        private SockaddrLl() {}
    }

    /// `struct sockaddr_xdp`.
    public static final class SockaddrXdp {
        public static final int BYTES = 16;
        public static final int SXDP_FAMILY = 0; // 16 bits, native order
        public static final int SXDP_FLAGS = 2; // 16 bits
        public static final int SXDP_IFINDEX = 4; // 32 bits
        public static final int SXDP_QUEUE_ID = 8; // 32 bits

        private SockaddrXdp() {}
    }

    /// `struct xdp_umem_reg`: the memory that frames lie in.
    public static final class XdpUmemReg {
        public static final int BYTES = 32;
        public static final int ADDR = 0; // 64 bits
        public static final int LEN = 8; // 64 bits
        public static final int CHUNK_SIZE = 16; // 32 bits
        public static final int HEADROOM = 20; // 32 bits

        private XdpUmemReg() {}
    }

    /// `struct xdp_ring_offset`: what of a ring is where in its mapping.
    public static final class XdpRingOffset {
        public static final int BYTES = 32;
        public static final int PRODUCER = 0; // 64 bits
        public static final int CONSUMER = 8; // 64 bits
        public static final int DESC = 16; // 64 bits
        public static final int FLAGS = 24; // 64 bits

        private XdpRingOffset() {}
    }

    /// `struct xdp_mmap_offsets`: a `struct xdp_ring_offset` for each ring.
    public static final class XdpMmapOffsets {
        public static final int BYTES = 128;
        public static final int RX = 0;
        public static final int TX = 32;
        public static final int FR = 64; // fill
        public static final int CR = 96; // completion

        private XdpMmapOffsets() {}
    }

    /// `struct xdp_desc`: a frame, or a piece of one, in the rings of arrivals and departures.
    public static final class XdpDesc {
        public static final int BYTES = 16;
        public static final int ADDR = 0; // 64 bits, from the start of the memory
        public static final int LEN = 8; // 32 bits
        public static final int OPTIONS = 12; // 32 bits

        private XdpDesc() {}
    }

    /// `struct xdp_statistics`.
    public static final class XdpStatistics {
        public static final int BYTES = 48;
        public static final int RX_DROPPED = 0; // 64 bits
        public static final int RX_RING_FULL = 24; // 64 bits

        private XdpStatistics() {}
    }

    /// `struct xdp_md`, the argument of an XDP program.
    public static final class XdpMd {
        public static final int DATA = 0; // 32 bits
        public static final int DATA_END = 4; // 32 bits
        public static final int RX_QUEUE_INDEX = 16; // 32 bits

        private XdpMd() {}
    }

    /// `struct bpf_insn`: an instruction.
    public static final class BpfInsn {
        public static final int BYTES = 8;
        public static final int CODE = 0; // 8 bits; two registers, 4 bits each, are behind it
        public static final int OFF = 2; // 16 bits
        public static final int IMM = 4; // 32 bits

        private BpfInsn() {}
    }

    /// `union bpf_attr`: the arguments of bpf(2).
    public static final class BpfAttr {
        public static final int MAP_TYPE = 0; // 32 bits
        public static final int KEY_SIZE = 4; // 32 bits
        public static final int VALUE_SIZE = 8; // 32 bits
        public static final int MAX_ENTRIES = 12; // 32 bits
        public static final int MAP_FD = 0; // 32 bits
        public static final int KEY = 8; // 64 bits
        public static final int VALUE = 16; // 64 bits
        public static final int PROG_TYPE = 0; // 32 bits
        public static final int INSN_CNT = 4; // 32 bits
        public static final int INSNS = 8; // 64 bits
        public static final int LICENSE = 16; // 64 bits
        public static final int LOG_LEVEL = 24; // 32 bits
        public static final int LOG_SIZE = 28; // 32 bits
        public static final int LOG_BUF = 32; // 64 bits
        public static final int PROG_FLAGS = 44; // 32 bits
        public static final int PROG_NAME = 48; // 16 bytes
        public static final int EXPECTED_ATTACH_TYPE = 68; // 32 bits
        public static final int LINK_CREATE_PROG_FD = 0; // 32 bits
        public static final int LINK_CREATE_TARGET_IFINDEX = 4; // 32 bits
        public static final int LINK_CREATE_ATTACH_TYPE = 8; // 32 bits
        public static final int LINK_CREATE_FLAGS = 12; // 32 bits

        private BpfAttr() {}
    }

    /// `struct tpacket_req`: the ring of a packet socket.
    public static final class TpacketReq {
        public static final int BYTES = 16;
        public static final int TP_BLOCK_SIZE = 0; // 32 bits
        public static final int TP_BLOCK_NR = 4; // 32 bits
        public static final int TP_FRAME_SIZE = 8; // 32 bits
        public static final int TP_FRAME_NR = 12; // 32 bits

        private TpacketReq() {}
    }

    /// `struct tpacket2_hdr`, which stands before each frame in the ring.
    public static final class Tpacket2Hdr {
        public static final int BYTES = 32;
        public static final int TP_STATUS = 0; // 32 bits
        public static final int TP_LEN = 4; // 32 bits
        public static final int TP_SNAPLEN = 8; // 32 bits
        public static final int TP_MAC = 12; // 16 bits
        public static final int TP_VLAN_TCI = 24; // 16 bits

        private Tpacket2Hdr() {}
    }

    /// `struct tpacket_stats`.
    public static final class TpacketStats {
        public static final int BYTES = 8;
        public static final int TP_DROPS = 4; // 32 bits

        private TpacketStats() {}
    }

    /// `struct packet_mreq`.
    public static final class PacketMreq {
        public static final int BYTES = 16;
        public static final int MR_IFINDEX = 0; // 32 bits
        public static final int MR_TYPE = 4; // 16 bits
        public static final int MR_ALEN = 6; // 16 bits
        public static final int MR_ADDRESS = 8;

        private PacketMreq() {}
    }

    /// `struct nlmsghdr`.
    public static final class Nlmsghdr {
        public static final int BYTES = 16;
        public static final int NLMSG_LEN = 0; // 32 bits
        public static final int NLMSG_TYPE = 4; // 16 bits
        public static final int NLMSG_FLAGS = 6; // 16 bits
        public static final int NLMSG_SEQ = 8; // 32 bits

        private Nlmsghdr() {}
    }

    /// `struct unix_diag_req`: a question about local sockets.
    public static final class UnixDiagReq {
        public static final int BYTES = 24;
        public static final int SDIAG_FAMILY = 0; // 8 bits
        public static final int UDIAG_STATES = 4; // 32 bits
        public static final int UDIAG_SHOW = 12; // 32 bits

        private UnixDiagReq() {}
    }

    /// `struct unix_diag_msg`: a local socket; attributes follow.
    public static final class UnixDiagMsg {
        public static final int BYTES = 16;

        private UnixDiagMsg() {}
    }

    /// `struct inet_diag_req_v2`: a question about sockets of IPv4 or IPv6.
    public static final class InetDiagReqV2 {
        public static final int BYTES = 56;
        public static final int SDIAG_FAMILY = 0; // 8 bits
        public static final int SDIAG_PROTOCOL = 1; // 8 bits
        public static final int IDIAG_STATES = 4; // 32 bits
        public static final int ID = 8; // a struct inet_diag_sockid

        private InetDiagReqV2() {}
    }

    /// `struct inet_diag_sockid`: the ports, of 16 bits, and addresses of such a socket, big-endian.
    public static final class InetDiagSockid {
        public static final int IDIAG_SPORT = 0;
        public static final int IDIAG_SRC = 4;

        private InetDiagSockid() {}
    }

    /// `struct inet_diag_msg`: a socket of IPv4 or IPv6; attributes follow.
    public static final class InetDiagMsg {
        public static final int BYTES = 72;
        public static final int ID = 4; // a struct inet_diag_sockid
        public static final int IDIAG_RQUEUE = 56; // 32 bits
        public static final int IDIAG_UID = 64; // 32 bits
        public static final int IDIAG_INODE = 68; // 32 bits

        private InetDiagMsg() {}
    }

    /// `struct ndmsg`: a neighbour; attributes follow.
    public static final class Ndmsg {
        public static final int BYTES = 12;
        public static final int NDM_FAMILY = 0; // 8 bits
        public static final int NDM_IFINDEX = 4; // 32 bits
        public static final int NDM_STATE = 8; // 16 bits

        private Ndmsg() {}
    }

    /// `struct rtmsg`: a route; attributes follow.
    public static final class Rtmsg {
        public static final int BYTES = 12;
        public static final int RTM_FAMILY = 0; // 8 bits
        public static final int RTM_DST_LEN = 1; // 8 bits
        public static final int RTM_TYPE = 7; // 8 bits

        private Rtmsg() {}
    }

    /// `struct rtattr`; what it holds follows it, and the next one is at a multiple of 4.
    public static final class Rtattr {
        public static final int BYTES = 4;
        public static final int RTA_LEN = 0; // 16 bits; with this header
        public static final int RTA_TYPE = 2; // 16 bits

        private Rtattr() {}
    }

    /// `struct group_req`: an interface and a multicast group, as a socket address, on it.
    public static final class GroupReq {
        public static final int BYTES = 136;
        public static final int GR_INTERFACE = 0; // 32 bits
        public static final int GR_GROUP = 8;

        private GroupReq() {}
    }

    /// `struct iovec`.
    public static final class Iovec {
        public static final int BYTES = 16;
        public static final int IOV_BASE = 0; // 64 bits
        public static final int IOV_LEN = 8; // 64 bits

        private Iovec() {}
    }

    /// `struct msghdr`.
    public static final class Msghdr {
        public static final int BYTES = 56;
        public static final int MSG_IOV = 16; // 64 bits
        public static final int MSG_IOVLEN = 24; // 64 bits; musl: 32 and padding, which little-endian cannot tell
        public static final int MSG_CONTROL = 32; // 64 bits
        public static final int MSG_CONTROLLEN = 40; // 64 bits; musl likewise
        public static final int MSG_FLAGS = 48; // 32 bits

        private Msghdr() {}
    }

    /// `struct linger`.
    public static final class Linger {
        public static final int BYTES = 8;
        public static final int L_ONOFF = 0; // 32 bits
        public static final int L_LINGER = 4; // 32 bits, seconds

        private Linger() {}
    }

    /// `struct mmsghdr`: a `struct msghdr` and the bytes moved.
    public static final class Mmsghdr {
        public static final int BYTES = 64;
        public static final int MSG_NAME = 0; // 64 bits
        public static final int MSG_NAMELEN = 8; // 32 bits
        public static final int MSG_IOV = 16; // 64 bits
        public static final int MSG_IOVLEN = 24; // 64 bits; musl: 32 and padding, which little-endian cannot tell
        public static final int MSG_CONTROL = 32; // 64 bits
        public static final int MSG_CONTROLLEN = 40; // 64 bits; musl likewise
        public static final int MSG_FLAGS = 48; // 32 bits
        public static final int MSG_LEN = 56; // 32 bits

        private Mmsghdr() {}
    }

    /// `struct cmsghdr`; data follow it at [#BYTES], and the next one at a multiple of 8.
    public static final class Cmsghdr {
        public static final int BYTES = 16;
        public static final int CMSG_LEN = 0; // 64 bits; header and data, without padding
        public static final int CMSG_LEVEL = 8; // 32 bits
        public static final int CMSG_TYPE = 12; // 32 bits
        /// `CMSG_LEN(sizeof(int))`.
        public static final int LEN_OF_INT = 20;
        /// `CMSG_LEN(sizeof(uint16_t))`.
        public static final int LEN_OF_SHORT = 18;
        /// `CMSG_SPACE(sizeof(int))`, and of anything smaller.
        public static final int SPACE_OF_INT = 24;

        private Cmsghdr() {}
    }

    /// `struct ucred`.
    public static final class Ucred {
        public static final int BYTES = 12;
        public static final int PID = 0; // 32 bits
        public static final int UID = 4; // 32 bits

        private Ucred() {}
    }

    /// `struct statfs`.
    public static final class Statfs {
        public static final int BYTES = 120;
        public static final int F_TYPE = 0; // 64 bits

        private Statfs() {}
    }

    /// `struct epoll_event`: packed on x86-64, and there only.
    public static final class EpollEvent {
        private static final boolean PACKED = System.getProperty("os.arch").equals("amd64");

        public static final int BYTES = PACKED ? 12 : 16;
        public static final int EVENTS = 0; // 32 bits
        public static final int DATA = PACKED ? 4 : 8; // 64 bits

        private EpollEvent() {}
    }

    /// `struct sock_fprog`.
    public static final class SockFprog {
        public static final int BYTES = 16;
        public static final int LEN = 0; // 16 bits
        public static final int FILTER = 8; // 64 bits

        private SockFprog() {}
    }

    /// `struct sock_filter`.
    public static final class SockFilter {
        public static final int BYTES = 8;
        public static final int CODE = 0; // 16 bits
        public static final int JT = 2; // 8 bits
        public static final int JF = 3; // 8 bits
        public static final int K = 4; // 32 bits

        private SockFilter() {}
    }

    /// `struct pollfd`.
    public static final class Pollfd {
        public static final int BYTES = 8;
        public static final int FD = 0; // 32 bits
        public static final int EVENTS = 4; // 16 bits
        public static final int REVENTS = 6; // 16 bits

        private Pollfd() {}
    }

    /// `struct timespec`.
    public static final class Timespec {
        public static final int BYTES = 16;
        public static final int TV_SEC = 0; // 64 bits
        public static final int TV_NSEC = 8; // 64 bits

        private Timespec() {}
    }

    /// The struct that names an interface in ioctl(2): see netdevice(7).
    public static final class Ifreq {
        public static final int BYTES = 40;
        public static final int IFR_NAME = 0; // 16 bytes
        public static final int IFR_FLAGS = 16;

        private Ifreq() {}
    }

    /// `struct itimerspec`.
    public static final class Itimerspec {
        public static final int BYTES = 32;
        public static final int IT_VALUE = 16; // a struct timespec

        private Itimerspec() {}
    }
}
