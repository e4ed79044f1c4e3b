package verbena.foreign.rdma;

import java.util.List;
import verbena.foreign.Struct;

/// The structs of `infiniband/verbs.h`, as of rdma-core 44. Those that grow have grown at their end since version
/// 28, [#VERBS_CONTEXT] at its front.
public final class VerbsStructs {
    private VerbsStructs() {}

    public static final Struct GID = Struct.union("union ibv_gid", """
            raw    u8[16]
            global ibv_gid_global
            """, Struct.of("struct ibv_gid_global", """
                    subnet_prefix u64
                    interface_id  u64
                    """));

    public static final Struct GID_ENTRY = Struct.of("struct ibv_gid_entry", """
            gid          ibv_gid
            gid_index    u32
            port_num     u32
            gid_type     u32
            ndev_ifindex u32
            """, GID);

    // ---- devices

    public static final Struct DEVICE = Struct.of("struct ibv_device", """
            _ops._dummy1   ptr
            _ops._dummy2   ptr
            node_type      u32
            transport_type u32
            name           u8[64]
            dev_name       u8[64]
            dev_path       u8[256]
            ibdev_path     u8[256]
            """);

    public static final Struct CONTEXT_OPS = Struct.of("struct ibv_context_ops", """
            _compat_query_device  ptr
            _compat_query_port    ptr
            _compat_alloc_pd      ptr
            _compat_dealloc_pd    ptr
            _compat_reg_mr        ptr
            _compat_rereg_mr      ptr
            _compat_dereg_mr      ptr
            alloc_mw              ptr
            bind_mw               ptr
            dealloc_mw            ptr
            _compat_create_cq     ptr
            poll_cq               ptr
            req_notify_cq         ptr
            _compat_cq_event      ptr
            _compat_resize_cq     ptr
            _compat_destroy_cq    ptr
            _compat_create_srq    ptr
            _compat_modify_srq    ptr
            _compat_query_srq     ptr
            _compat_destroy_srq   ptr
            post_srq_recv         ptr
            _compat_create_qp     ptr
            _compat_query_qp      ptr
            _compat_modify_qp     ptr
            _compat_destroy_qp    ptr
            post_send             ptr
            post_recv             ptr
            _compat_create_ah     ptr
            _compat_destroy_ah    ptr
            _compat_attach_mcast  ptr
            _compat_detach_mcast  ptr
            _compat_async_event   ptr
            """);

    public static final Struct CONTEXT = Struct.of("struct ibv_context", """
            device           ptr
            ops              ibv_context_ops
            cmd_fd           u32
            async_fd         u32
            num_comp_vectors u32
            mutex            mutex
            abi_compat       ptr
            """, CONTEXT_OPS);

    /// The struct before an `ibv_context` whose `abi_compat` is all ones. New operations are put in front, so one
    /// is there when `sz` reaches back to it.
    public static final Struct VERBS_CONTEXT = Struct.of("struct verbs_context", """
            query_port                 ptr
            advise_mr                  ptr
            alloc_null_mr              ptr
            read_counters              ptr
            attach_counters_point_flow ptr
            create_counters            ptr
            destroy_counters           ptr
            reg_dm_mr                  ptr
            alloc_dm                   ptr
            free_dm                    ptr
            modify_flow_action_esp     ptr
            destroy_flow_action        ptr
            create_flow_action_esp     ptr
            modify_qp_rate_limit       ptr
            alloc_parent_domain        ptr
            dealloc_td                 ptr
            alloc_td                   ptr
            modify_cq                  ptr
            post_srq_ops               ptr
            destroy_rwq_ind_table      ptr
            create_rwq_ind_table       ptr
            destroy_wq                 ptr
            modify_wq                  ptr
            create_wq                  ptr
            query_rt_values            ptr
            create_cq_ex               ptr
            priv                       ptr
            query_device_ex            ptr
            ibv_destroy_flow           ptr
            ABI_placeholder2           ptr
            ibv_create_flow            ptr
            ABI_placeholder1           ptr
            open_qp                    ptr
            create_qp_ex               ptr
            get_srq_num                ptr
            create_srq_ex              ptr
            open_xrcd                  ptr
            close_xrcd                 ptr
            _ABI_placeholder3          u64
            sz                         ptr
            context                    ibv_context
            """, CONTEXT);

    public static final Struct DEVICE_ATTR = Struct.of("struct ibv_device_attr", """
            fw_ver                    u8[64]
            node_guid                 u64
            sys_image_guid            u64
            max_mr_size               u64
            page_size_cap             u64
            vendor_id                 u32
            vendor_part_id            u32
            hw_ver                    u32
            max_qp                    u32
            max_qp_wr                 u32
            device_cap_flags          u32
            max_sge                   u32
            max_sge_rd                u32
            max_cq                    u32
            max_cqe                   u32
            max_mr                    u32
            max_pd                    u32
            max_qp_rd_atom            u32
            max_ee_rd_atom            u32
            max_res_rd_atom           u32
            max_qp_init_rd_atom       u32
            max_ee_init_rd_atom       u32
            atomic_cap                u32
            max_ee                    u32
            max_rdd                   u32
            max_mw                    u32
            max_raw_ipv6_qp           u32
            max_raw_ethy_qp           u32
            max_mcast_grp             u32
            max_mcast_qp_attach       u32
            max_total_mcast_qp_attach u32
            max_ah                    u32
            max_fmr                   u32
            max_map_per_fmr           u32
            max_srq                   u32
            max_srq_wr                u32
            max_srq_sge               u32
            max_pkeys                 u16
            local_ca_ack_delay        u8
            phys_port_cnt             u8
            """);

    public static final Struct ODP_CAPS = Struct.of("struct ibv_odp_caps", """
            general_caps                    u64
            per_transport_caps.rc_odp_caps  u32
            per_transport_caps.uc_odp_caps  u32
            per_transport_caps.ud_odp_caps  u32
            """);

    public static final Struct DEVICE_ATTR_EX = Struct.of(
            "struct ibv_device_attr_ex",
            """
            orig_attr                 ibv_device_attr
            comp_mask                 u32
            odp_caps                  ibv_odp_caps
            completion_timestamp_mask u64
            hca_core_clock            u64
            device_cap_flags_ex       u64
            tso_caps                  ibv_tso_caps
            rss_caps                  ibv_rss_caps
            max_wq_type_rq            u32
            packet_pacing_caps        ibv_packet_pacing_caps
            raw_packet_caps           u32
            tm_caps                   ibv_tm_caps
            cq_mod_caps               ibv_cq_moderation_caps
            max_dm_size               u64
            pci_atomic_caps           ibv_pci_atomic_caps
            xrc_odp_caps              u32
            phys_port_cnt_ex          u32
            """,
            DEVICE_ATTR,
            ODP_CAPS,
            Struct.of("struct ibv_tso_caps", """
                    max_tso        u32
                    supported_qpts u32
                    """),
            Struct.of("struct ibv_rss_caps", """
                    supported_qpts                 u32
                    max_rwq_indirection_tables     u32
                    max_rwq_indirection_table_size u32
                    rx_hash_fields_mask            u64
                    rx_hash_function               u8
                    """),
            Struct.of("struct ibv_packet_pacing_caps", """
                    qp_rate_limit_min u32
                    qp_rate_limit_max u32
                    supported_qpts    u32
                    """),
            Struct.of("struct ibv_tm_caps", """
                    max_rndv_hdr_size u32
                    max_num_tags      u32
                    flags             u32
                    max_ops           u32
                    max_sge           u32
                    """),
            Struct.of("struct ibv_cq_moderation_caps", """
                    max_cq_count  u16
                    max_cq_period u16
                    """),
            Struct.of("struct ibv_pci_atomic_caps", """
                    fetch_add    u16
                    swap         u16
                    compare_swap u16
                    """));

    public static final Struct PORT_ATTR = Struct.of("struct ibv_port_attr", """
            state           u32
            max_mtu         u32
            active_mtu      u32
            gid_tbl_len     u32
            port_cap_flags  u32
            max_msg_sz      u32
            bad_pkey_cntr   u32
            qkey_viol_cntr  u32
            pkey_tbl_len    u16
            lid             u16
            sm_lid          u16
            lmc             u8
            max_vl_num      u8
            sm_sl           u8
            subnet_timeout  u8
            init_type_reply u8
            active_width    u8
            active_speed    u8
            phys_state      u8
            link_layer      u8
            flags           u8
            port_cap_flags2 u16
            """);

    /// `element` is one of the three pointers or the port's number.
    public static final Struct ASYNC_EVENT =
            Struct.of("struct ibv_async_event", """
            element    ibv_async_element
            event_type u32
            """, Struct.union("union ibv_async_element", """
                    cq       ptr
                    qp       ptr
                    srq      ptr
                    port_num u32
                    """));

    // ---- domains and memory

    public static final Struct PD = Struct.of("struct ibv_pd", """
            context ptr
            handle  u32
            """);

    public static final Struct MR = Struct.of("struct ibv_mr", """
            context ptr
            pd      ptr
            addr    ptr
            length  ptr
            handle  u32
            lkey    u32
            rkey    u32
            """);

    public static final Struct DM = Struct.of("struct ibv_dm", """
            context        ptr
            memcpy_to_dm   ptr
            memcpy_from_dm ptr
            comp_mask      u32
            handle         u32
            """);

    public static final Struct ALLOC_DM_ATTR = Struct.of("struct ibv_alloc_dm_attr", """
            length        ptr
            log_align_req u32
            comp_mask     u32
            """);

    public static final Struct FLOW_ATTR = Struct.of("struct ibv_flow_attr", """
            comp_mask    u32
            type         u32
            size         u16
            priority     u16
            num_of_specs u8
            port         u8
            flags        u32
            """);

    public static final Struct FLOW = Struct.of("struct ibv_flow", """
            comp_mask u32
            context   ptr
            handle    u32
            """);

    public static final Struct MW = Struct.of("struct ibv_mw", """
            context ptr
            pd      ptr
            rkey    u32
            handle  u32
            type    u32
            """);

    public static final Struct MW_BIND_INFO = Struct.of("struct ibv_mw_bind_info", """
            mr              ptr
            addr            u64
            length          u64
            mw_access_flags u32
            """);

    public static final Struct MW_BIND = Struct.of("struct ibv_mw_bind", """
            wr_id      u64
            send_flags u32
            bind_info  ibv_mw_bind_info
            """, MW_BIND_INFO);

    // ---- addresses

    public static final Struct GLOBAL_ROUTE = Struct.of("struct ibv_global_route", """
            dgid          ibv_gid
            flow_label    u32
            sgid_index    u8
            hop_limit     u8
            traffic_class u8
            """, GID);

    public static final Struct AH_ATTR = Struct.of("struct ibv_ah_attr", """
            grh           ibv_global_route
            dlid          u16
            sl            u8
            src_path_bits u8
            static_rate   u8
            is_global     u8
            port_num      u8
            """, GLOBAL_ROUTE);

    public static final Struct AH = Struct.of("struct ibv_ah", """
            context ptr
            pd      ptr
            handle  u32
            """);

    public static final Struct GRH = Struct.of("struct ibv_grh", """
            version_tclass_flow u32
            paylen              u16
            next_hdr            u8
            hop_limit           u8
            sgid                ibv_gid
            dgid                ibv_gid
            """, GID);

    // ---- completions

    public static final Struct WC = Struct.of("struct ibv_wc", """
            wr_id                    u64
            status                   u32
            opcode                   u32
            vendor_err               u32
            byte_len                 u32
            imm_data|invalidated_rkey u32
            qp_num                   u32
            src_qp                   u32
            wc_flags                 u32
            pkey_index               u16
            slid                     u16
            sl                       u8
            dlid_path_bits           u8
            """);

    public static final Struct COMP_CHANNEL = Struct.of("struct ibv_comp_channel", """
            context ptr
            fd      u32
            refcnt  u32
            """);

    private static final String CQ_TABLE = """
            context                ptr
            channel                ptr
            cq_context             ptr
            handle                 u32
            cqe                    u32
            mutex                  mutex
            cond                   cond
            comp_events_completed  u32
            async_events_completed u32
            """;

    public static final Struct CQ = Struct.of("struct ibv_cq", CQ_TABLE);

    public static final Struct CQ_EX = Struct.of("struct ibv_cq_ex", CQ_TABLE + """
            comp_mask                    u32
            status                       u32
            wr_id                        u64
            start_poll                   ptr
            next_poll                    ptr
            end_poll                     ptr
            read_opcode                  ptr
            read_vendor_err              ptr
            read_byte_len                ptr
            read_imm_data                ptr
            read_qp_num                  ptr
            read_src_qp                  ptr
            read_wc_flags                ptr
            read_slid                    ptr
            read_sl                      ptr
            read_dlid_path_bits          ptr
            read_completion_ts           ptr
            read_cvlan                   ptr
            read_flow_tag                ptr
            read_tm_info                 ptr
            read_completion_wallclock_ns ptr
            """);

    public static final Struct CQ_INIT_ATTR_EX = Struct.of("struct ibv_cq_init_attr_ex", """
            cqe           u32
            cq_context    ptr
            channel       ptr
            comp_vector   u32
            wc_flags      u64
            comp_mask     u32
            flags         u32
            parent_domain ptr
            """);

    // ---- requests

    public static final Struct SGE = Struct.of("struct ibv_sge", """
            addr   u64
            length u32
            lkey   u32
            """);

    public static final Struct DATA_BUF = Struct.of("struct ibv_data_buf", """
            addr   ptr
            length ptr
            """);

    public static final Struct SEND_WR = Struct.of(
            "struct ibv_send_wr",
            """
            wr_id                    u64
            next                     ptr
            sg_list                  ptr
            num_sge                  u32
            opcode                   u32
            send_flags               u32
            imm_data|invalidate_rkey u32
            wr                       send_wr_target
            qp_type                  send_wr_qp_type
            bind_mw                  send_wr_bind
            """,
            Struct.union(
                    "send_wr_target",
                    """
                    rdma   send_wr_rdma
                    atomic send_wr_atomic
                    ud     send_wr_ud
                    """,
                    Struct.of("send_wr_rdma", """
                            remote_addr u64
                            rkey        u32
                            """),
                    Struct.of("send_wr_atomic", """
                            remote_addr u64
                            compare_add u64
                            swap        u64
                            rkey        u32
                            """),
                    Struct.of("send_wr_ud", """
                            ah          ptr
                            remote_qpn  u32
                            remote_qkey u32
                            """)),
            Struct.of("send_wr_qp_type", """
                    xrc.remote_srqn u32
                    """),
            Struct.of("send_wr_bind", """
                    mw        ptr
                    rkey      u32
                    bind_info ibv_mw_bind_info
                    """, MW_BIND_INFO));

    public static final Struct RECV_WR = Struct.of("struct ibv_recv_wr", """
            wr_id   u64
            next    ptr
            sg_list ptr
            num_sge u32
            """);

    // ---- shared receive queues

    public static final Struct SRQ = Struct.of("struct ibv_srq", """
            context          ptr
            srq_context      ptr
            pd               ptr
            handle           u32
            mutex            mutex
            cond             cond
            events_completed u32
            """);

    public static final Struct SRQ_ATTR = Struct.of("struct ibv_srq_attr", """
            max_wr    u32
            max_sge   u32
            srq_limit u32
            """);

    public static final Struct SRQ_INIT_ATTR = Struct.of("struct ibv_srq_init_attr", """
            srq_context ptr
            attr        ibv_srq_attr
            """, SRQ_ATTR);

    public static final Struct SRQ_INIT_ATTR_EX = Struct.of("struct ibv_srq_init_attr_ex", """
            srq_context         ptr
            attr                ibv_srq_attr
            comp_mask           u32
            srq_type            u32
            pd                  ptr
            xrcd                ptr
            cq                  ptr
            tm_cap.max_num_tags u32
            tm_cap.max_ops      u32
            """, SRQ_ATTR);

    // ---- extended connections

    public static final Struct XRCD = Struct.of("struct ibv_xrcd", """
            context ptr
            """);

    public static final Struct XRCD_INIT_ATTR = Struct.of("struct ibv_xrcd_init_attr", """
            comp_mask u32
            fd        u32
            oflags    u32
            """);

    public static final Struct QP_OPEN_ATTR = Struct.of("struct ibv_qp_open_attr", """
            comp_mask  u32
            qp_num     u32
            xrcd       ptr
            qp_context ptr
            qp_type    u32
            """);

    // ---- queue pairs

    public static final Struct QP_CAP = Struct.of("struct ibv_qp_cap", """
            max_send_wr     u32
            max_recv_wr     u32
            max_send_sge    u32
            max_recv_sge    u32
            max_inline_data u32
            """);

    private static final String QP_INIT_TABLE = """
            qp_context ptr
            send_cq    ptr
            recv_cq    ptr
            srq        ptr
            cap        ibv_qp_cap
            qp_type    u32
            sq_sig_all u32
            """;

    public static final Struct QP_INIT_ATTR = Struct.of("struct ibv_qp_init_attr", QP_INIT_TABLE, QP_CAP);

    public static final Struct QP_INIT_ATTR_EX = Struct.of(
            "struct ibv_qp_init_attr_ex", QP_INIT_TABLE + """
            comp_mask      u32
            pd             ptr
            xrcd           ptr
            create_flags   u32
            max_tso_header u16
            rwq_ind_tbl    ptr
            rx_hash_conf   ibv_rx_hash_conf
            source_qpn     u32
            send_ops_flags u64
            """, QP_CAP, Struct.of("struct ibv_rx_hash_conf", """
                    rx_hash_function    u8
                    rx_hash_key_len     u8
                    rx_hash_key         ptr
                    rx_hash_fields_mask u64
                    """));

    public static final Struct QP_ATTR = Struct.of("struct ibv_qp_attr", """
            qp_state            u32
            cur_qp_state        u32
            path_mtu            u32
            path_mig_state      u32
            qkey                u32
            rq_psn              u32
            sq_psn              u32
            dest_qp_num         u32
            qp_access_flags     u32
            cap                 ibv_qp_cap
            ah_attr             ibv_ah_attr
            alt_ah_attr         ibv_ah_attr
            pkey_index          u16
            alt_pkey_index      u16
            en_sqd_async_notify u8
            sq_draining         u8
            max_rd_atomic       u8
            max_dest_rd_atomic  u8
            min_rnr_timer       u8
            port_num            u8
            timeout             u8
            retry_cnt           u8
            rnr_retry           u8
            alt_port_num        u8
            alt_timeout         u8
            rate_limit          u32
            """, QP_CAP, AH_ATTR);

    public static final Struct QP = Struct.of("struct ibv_qp", """
            context          ptr
            qp_context       ptr
            pd               ptr
            send_cq          ptr
            recv_cq          ptr
            srq              ptr
            handle           u32
            qp_num           u32
            state            u32
            qp_type          u32
            mutex            mutex
            cond             cond
            events_completed u32
            """);

    /// `wr_flush` is newer than rdma-core 44.
    public static final Struct QP_EX = Struct.of("struct ibv_qp_ex", """
            qp_base                 ibv_qp
            comp_mask               u64
            wr_id                   u64
            wr_flags                u32
            wr_atomic_cmp_swp       ptr
            wr_atomic_fetch_add     ptr
            wr_bind_mw              ptr
            wr_local_inv            ptr
            wr_rdma_read            ptr
            wr_rdma_write           ptr
            wr_rdma_write_imm       ptr
            wr_send                 ptr
            wr_send_imm             ptr
            wr_send_inv             ptr
            wr_send_tso             ptr
            wr_set_ud_addr          ptr
            wr_set_xrc_srqn         ptr
            wr_set_inline_data      ptr
            wr_set_inline_data_list ptr
            wr_set_sge              ptr
            wr_set_sge_list         ptr
            wr_start                ptr
            wr_complete             ptr
            wr_abort                ptr
            wr_atomic_write         ptr
            wr_flush                ptr
            """, QP);

    /// All of them.
    public static final List<Struct> ALL = List.of(
            GID,
            GID_ENTRY,
            DEVICE,
            CONTEXT_OPS,
            CONTEXT,
            VERBS_CONTEXT,
            DEVICE_ATTR,
            ODP_CAPS,
            DEVICE_ATTR_EX,
            PORT_ATTR,
            ASYNC_EVENT,
            PD,
            MR,
            DM,
            ALLOC_DM_ATTR,
            FLOW_ATTR,
            FLOW,
            MW,
            MW_BIND_INFO,
            MW_BIND,
            GLOBAL_ROUTE,
            AH_ATTR,
            AH,
            GRH,
            WC,
            COMP_CHANNEL,
            CQ,
            CQ_EX,
            CQ_INIT_ATTR_EX,
            SGE,
            DATA_BUF,
            SEND_WR,
            RECV_WR,
            SRQ,
            SRQ_ATTR,
            SRQ_INIT_ATTR,
            SRQ_INIT_ATTR_EX,
            XRCD,
            XRCD_INIT_ATTR,
            QP_OPEN_ATTR,
            QP_CAP,
            QP_INIT_ATTR,
            QP_INIT_ATTR_EX,
            QP_ATTR,
            QP,
            QP_EX);
}
