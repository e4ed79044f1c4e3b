package verbena.foreign.rdma;

import java.util.List;
import verbena.foreign.Struct;

/// The structs of `rdma/rdma_cma.h`, and of the system's socket addresses, which it is full of.
public final class CmStructs {
    private CmStructs() {}

    public static final Struct SOCKADDR_IN = Struct.of("struct sockaddr_in", """
            sin_family u16
            sin_port   u16
            sin_addr   u32
            sin_zero   u8[8]
            """);

    public static final Struct SOCKADDR_IN6 = Struct.of("struct sockaddr_in6", """
            sin6_family   u16
            sin6_port     u16
            sin6_flowinfo u32
            sin6_addr     u32[4]
            sin6_scope_id u32
            """);

    public static final Struct SOCKADDR_STORAGE = Struct.of("struct sockaddr_storage", """
            ss_family   u16
            __ss_padding u8[118]
            __ss_align  u64
            """);

    public static final Struct IB_ADDR = Struct.of("struct rdma_ib_addr", """
            sgid ibv_gid
            dgid ibv_gid
            pkey u16
            """, VerbsStructs.GID);

    /// The addresses are unions of all kinds of them.
    public static final Struct ADDR =
            Struct.of("struct rdma_addr", """
            src_storage sockaddr_storage
            dst_storage sockaddr_storage
            addr        rdma_addr_ib
            """, SOCKADDR_STORAGE, Struct.union("rdma_addr_ib", """
                    ibaddr rdma_ib_addr
                    """, IB_ADDR));

    public static final Struct ROUTE = Struct.of("struct rdma_route", """
            addr      rdma_addr
            path_rec  ptr
            num_paths u32
            """, ADDR);

    public static final Struct EVENT_CHANNEL = Struct.of("struct rdma_event_channel", """
            fd u32
            """);

    public static final Struct CM_ID = Struct.of("struct rdma_cm_id", """
            verbs           ptr
            channel         ptr
            context         ptr
            qp              ptr
            route           rdma_route
            ps              u32
            port_num        u8
            event           ptr
            send_cq_channel ptr
            send_cq         ptr
            recv_cq_channel ptr
            recv_cq         ptr
            srq             ptr
            pd              ptr
            qp_type         u32
            """, ROUTE);

    public static final Struct CONN_PARAM = Struct.of("struct rdma_conn_param", """
            private_data        ptr
            private_data_len    u8
            responder_resources u8
            initiator_depth     u8
            flow_control        u8
            retry_count         u8
            rnr_retry_count     u8
            srq                 u8
            qp_num              u32
            """);

    public static final Struct UD_PARAM = Struct.of("struct rdma_ud_param", """
            private_data     ptr
            private_data_len u8
            ah_attr          ibv_ah_attr
            qp_num           u32
            qkey             u32
            """, VerbsStructs.AH_ATTR);

    public static final Struct CM_EVENT =
            Struct.of("struct rdma_cm_event", """
            id        ptr
            listen_id ptr
            event     u32
            status    u32
            param     rdma_event_param
            """, Struct.union("rdma_event_param", """
                    conn rdma_conn_param
                    ud   rdma_ud_param
                    """, CONN_PARAM, UD_PARAM));

    public static final Struct ADDRINFO = Struct.of("struct rdma_addrinfo", """
            ai_flags         u32
            ai_family        u32
            ai_qp_type       u32
            ai_port_space    u32
            ai_src_len       u32
            ai_dst_len       u32
            ai_src_addr      ptr
            ai_dst_addr      ptr
            ai_src_canonname ptr
            ai_dst_canonname ptr
            ai_route_len     ptr
            ai_route         ptr
            ai_connect_len   ptr
            ai_connect       ptr
            ai_next          ptr
            """);

    public static final Struct JOIN_MC_ATTR_EX = Struct.of("struct rdma_cm_join_mc_attr_ex", """
            comp_mask  u32
            join_flags u32
            addr       ptr
            """);

    /// All of them.
    public static final List<Struct> ALL = List.of(
            SOCKADDR_IN,
            SOCKADDR_IN6,
            SOCKADDR_STORAGE,
            IB_ADDR,
            ADDR,
            ROUTE,
            EVENT_CHANNEL,
            CM_ID,
            CONN_PARAM,
            UD_PARAM,
            CM_EVENT,
            ADDRINFO,
            JOIN_MC_ATTR_EX);
}
