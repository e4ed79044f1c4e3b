/* What stands in the tables of operations of contexts, queue pairs and completion queues, which the inline functions of
 * verbs.h call without asking the library. Java puts their addresses in. The last ones are for Java itself (memory.c). */
#ifndef VERBENA_OPERATIONS_H
#define VERBENA_OPERATIONS_H

#define VERBENA_OPERATIONS(OP) \
    OP(alloc_mw) OP(bind_mw) OP(dealloc_mw) OP(poll_cq) OP(req_notify_cq) OP(post_srq_recv) OP(post_send) OP(post_recv) \
    OP(query_port) OP(advise_mr) OP(alloc_null_mr) OP(alloc_parent_domain) OP(alloc_td) OP(dealloc_td) \
    OP(alloc_dm) OP(free_dm) OP(reg_dm_mr) OP(ibv_create_flow) OP(ibv_destroy_flow) OP(create_counters) \
    OP(destroy_counters) OP(attach_counters_point_flow) OP(read_counters) OP(memcpy_to_dm) OP(memcpy_from_dm) \
    OP(modify_cq) OP(query_rt_values) \
    OP(create_cq_ex) OP(query_device_ex) OP(create_qp_ex) OP(get_srq_num) OP(create_srq_ex) \
    OP(open_xrcd) OP(close_xrcd) OP(open_qp) OP(wr_set_xrc_srqn) \
    OP(wr_atomic_cmp_swp) OP(wr_atomic_fetch_add) OP(wr_bind_mw) OP(wr_local_inv) OP(wr_rdma_read) OP(wr_rdma_write) \
    OP(wr_rdma_write_imm) OP(wr_send) OP(wr_send_imm) OP(wr_send_inv) OP(wr_set_ud_addr) OP(wr_set_inline_data) \
    OP(wr_set_inline_data_list) OP(wr_set_sge) OP(wr_set_sge_list) OP(wr_start) OP(wr_complete) OP(wr_abort) \
    OP(wr_atomic_write) OP(wr_flush) \
    OP(start_poll) OP(next_poll) OP(end_poll) OP(read_opcode) OP(read_vendor_err) OP(read_byte_len) OP(read_imm_data) \
    OP(read_qp_num) OP(read_src_qp) OP(read_wc_flags) OP(read_slid) OP(read_sl) OP(read_dlid_path_bits) \
    OP(read_completion_ts) OP(read_completion_wallclock_ns) \
    OP(guarded_copy) OP(guarded_atomic) OP(check_memory) OP(keep_places) OP(call_place) OP(ask_unseen) \
    OP(is_jvms)

enum verbena_operation {
#define OP(name) VERBENA_OP_##name,
    VERBENA_OPERATIONS(OP)
#undef OP
    VERBENA_OPERATION_COUNT
};

extern void *const verbena_operations[VERBENA_OPERATION_COUNT];
extern const char *const verbena_operation_names[VERBENA_OPERATION_COUNT];

#endif
