/* What libibverbs.so.1 offers to the drivers of cards: libmlx5, libefa and others are linked to programs, and ask for it
 * when they are loaded. They have no card here: whatever they call is not supported. */
#include <errno.h>

#define NAMES \
    NONE(__ioctl_final_num_attrs) NONE(__verbs_log) NONE(_verbs_init_and_alloc_context) NONE(execute_ioctl) \
    NONE(ibv_cmd_advise_mr) NONE(ibv_cmd_alloc_dm) NONE(ibv_cmd_alloc_mw) NONE(ibv_cmd_alloc_pd) \
    NONE(ibv_cmd_attach_mcast) NONE(ibv_cmd_close_xrcd) NONE(ibv_cmd_create_ah) NONE(ibv_cmd_create_counters) \
    NONE(ibv_cmd_create_cq) NONE(ibv_cmd_create_cq_ex) NONE(ibv_cmd_create_flow) \
    NONE(ibv_cmd_create_flow_action_esp) NONE(ibv_cmd_create_qp) NONE(ibv_cmd_create_qp_ex) \
    NONE(ibv_cmd_create_qp_ex2) NONE(ibv_cmd_create_rwq_ind_table) NONE(ibv_cmd_create_srq) \
    NONE(ibv_cmd_create_srq_ex) NONE(ibv_cmd_create_wq) NONE(ibv_cmd_dealloc_mw) NONE(ibv_cmd_dealloc_pd) \
    NONE(ibv_cmd_dereg_mr) NONE(ibv_cmd_destroy_ah) NONE(ibv_cmd_destroy_counters) NONE(ibv_cmd_destroy_cq) \
    NONE(ibv_cmd_destroy_flow) NONE(ibv_cmd_destroy_flow_action) NONE(ibv_cmd_destroy_qp) \
    NONE(ibv_cmd_destroy_rwq_ind_table) NONE(ibv_cmd_destroy_srq) NONE(ibv_cmd_destroy_wq) \
    NONE(ibv_cmd_detach_mcast) NONE(ibv_cmd_free_dm) NONE(ibv_cmd_get_context) NONE(ibv_cmd_modify_cq) \
    NONE(ibv_cmd_modify_flow_action_esp) NONE(ibv_cmd_modify_qp) NONE(ibv_cmd_modify_qp_ex) NONE(ibv_cmd_modify_srq) \
    NONE(ibv_cmd_modify_wq) NONE(ibv_cmd_open_qp) NONE(ibv_cmd_open_xrcd) NONE(ibv_cmd_poll_cq) \
    NONE(ibv_cmd_post_recv) NONE(ibv_cmd_post_send) NONE(ibv_cmd_post_srq_recv) NONE(ibv_cmd_query_context) \
    NONE(ibv_cmd_query_device_any) NONE(ibv_cmd_query_mr) NONE(ibv_cmd_query_port) NONE(ibv_cmd_query_qp) \
    NONE(ibv_cmd_query_srq) NONE(ibv_cmd_read_counters) NONE(ibv_cmd_reg_dm_mr) NONE(ibv_cmd_reg_dmabuf_mr) \
    NONE(ibv_cmd_reg_mr) NONE(ibv_cmd_req_notify_cq) NONE(ibv_cmd_rereg_mr) NONE(ibv_cmd_resize_cq) \
    NONE(ibv_read_ibdev_sysfs_file) NONE(verbs_init_cq) \
    NONE(verbs_open_device) NONE(verbs_register_driver_34) NONE(verbs_set_ops) NONE(verbs_uninit_context)

#define NONE(name) \
    __attribute__((visibility("default"))) long name(void) { \
        errno = EOPNOTSUPP; \
        return EOPNOTSUPP; \
    }
NAMES

__attribute__((visibility("default"))) _Bool verbs_allow_disassociate_destroy;
