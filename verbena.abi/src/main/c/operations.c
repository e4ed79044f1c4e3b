#include <stdint.h>

#include "operations.h"
#include "verbena.h"

/* ---- contexts */

static void *alloc_mw(void *pd, int type) { return pointer(java(alloc_mw, pd, type)); }
static int bind_mw(void *qp, void *mw, void *bind) { return code(java(bind_mw, qp, mw, bind)); }
static int dealloc_mw(void *mw) { return code(java(dealloc_mw, mw)); }
static int poll_cq(void *cq, int entries, void *wc) { return (int) java(poll_cq, cq, entries, wc); }
static int req_notify_cq(void *cq, int solicited) { return code(java(req_notify_cq, cq, solicited)); }
static int post_srq_recv(void *srq, void *wr, void *bad) { return code(java(post_srq_recv, srq, wr, bad)); }
static int post_send(void *qp, void *wr, void *bad) { return code(java(post_send, qp, wr, bad)); }
static int post_recv(void *qp, void *wr, void *bad) { return code(java(post_recv, qp, wr, bad)); }

static int query_port(void *context, uint8_t port, void *attributes, size_t size) {
    return code(java(query_port, context, port, attributes, size));
}
static int advise_mr(void *pd, int advice, uint32_t flags, void *ranges, uint32_t count) {
    return code(java(advise_mr, pd, advice, flags, ranges, count));
}
static void *alloc_null_mr(void *pd) { return pointer(java(alloc_null_mr, pd)); }
static void *alloc_parent_domain(void *context, void *attributes) {
    return pointer(java(alloc_parent_domain, context, attributes));
}
static void *alloc_td(void *context, void *attributes) { return pointer(java(alloc_td, context, attributes)); }
static int dealloc_td(void *td) { return code(java(dealloc_td, td)); }
static void *alloc_dm(void *context, void *attributes) { return pointer(java(alloc_dm, context, attributes)); }
static int free_dm(void *dm) { return code(java(free_dm, dm)); }
static void *reg_dm_mr(void *pd, void *dm, uint64_t offset, size_t length, unsigned access) {
    return pointer(java(reg_dm_mr, pd, dm, offset, length, access));
}
static int memcpy_to_dm(void *dm, uint64_t offset, const void *from, size_t length) {
    return code(java(copy_dm, dm, offset, from, length, 1));
}
static int memcpy_from_dm(void *into, void *dm, uint64_t offset, size_t length) {
    return code(java(copy_dm, dm, offset, into, length, 0));
}
static void *ibv_create_flow(void *qp, void *attributes) { return pointer(java(create_flow, qp, attributes)); }
static int ibv_destroy_flow(void *flow) { return code(java(destroy_flow, flow)); }
static void *create_counters(void *context, void *attributes) {
    return pointer(java(create_counters, context, attributes));
}
static int destroy_counters(void *counters) { return code(java(destroy_counters, counters)); }
static int attach_counters_point_flow(void *counters, void *attributes, void *flow) {
    return code(java(attach_counters, counters, attributes, flow));
}
static int read_counters(void *counters, uint64_t *values, uint32_t count, uint32_t flags) {
    return code(java(read_counters, counters, values, count, flags));
}
static int modify_cq(void *cq, void *attributes) { return code(java(modify_cq, cq, attributes)); }
static int query_rt_values(void *context, void *values) { return code(java(query_rt_values, context, values)); }
static void *create_cq_ex(void *context, void *attributes) { return pointer(java(create_cq_ex, context, attributes)); }
static int query_device_ex(void *context, const void *input, void *attributes, size_t size) {
    return code(java(query_device_ex, context, input, attributes, size));
}
static void *create_qp_ex(void *context, void *attributes) { return pointer(java(create_qp_ex, context, attributes)); }
static int get_srq_num(void *srq, void *number) { return code(java(get_srq_num, srq, number)); }
static void *create_srq_ex(void *context, void *attributes) { return pointer(java(create_srq_ex, context, attributes)); }
static void *open_xrcd(void *context, void *attributes) { return pointer(java(open_xrcd, context, attributes)); }
static int close_xrcd(void *xrcd) { return code(java(close_xrcd, xrcd)); }
static void *open_qp(void *context, void *attributes) { return pointer(java(open_qp, context, attributes)); }

/* ---- queue pairs: ibv_wr_*(3); the opcodes are those of enum ibv_wr_opcode */

enum { WRITE, WRITE_IMM, SEND, SEND_IMM, READ, CMP_SWAP, FETCH_ADD, LOCAL_INV, BIND_MW, SEND_INV, FLUSH = 14, ATOMIC_WRITE };

static void wr_atomic_cmp_swp(void *qp, uint32_t rkey, uint64_t address, uint64_t compare, uint64_t swap) {
    java(wr_request, qp, CMP_SWAP, rkey, address, compare, swap);
}
static void wr_atomic_fetch_add(void *qp, uint32_t rkey, uint64_t address, uint64_t add) {
    java(wr_request, qp, FETCH_ADD, rkey, address, add);
}
static void wr_bind_mw(void *qp, void *mw, uint32_t rkey, const void *info) { java(wr_bind_mw, qp, mw, rkey, info); }
static void wr_local_inv(void *qp, uint32_t rkey) { java(wr_request, qp, LOCAL_INV, rkey); }
static void wr_rdma_read(void *qp, uint32_t rkey, uint64_t address) { java(wr_request, qp, READ, rkey, address); }
static void wr_rdma_write(void *qp, uint32_t rkey, uint64_t address) { java(wr_request, qp, WRITE, rkey, address); }
static void wr_rdma_write_imm(void *qp, uint32_t rkey, uint64_t address, uint32_t immediate) {
    java(wr_request, qp, WRITE_IMM, rkey, address, immediate);
}
static void wr_send(void *qp) { java(wr_request, qp, SEND); }
static void wr_send_imm(void *qp, uint32_t immediate) { java(wr_request, qp, SEND_IMM, 0, 0, immediate); }
static void wr_send_inv(void *qp, uint32_t rkey) { java(wr_request, qp, SEND_INV, rkey); }
static void wr_set_ud_addr(void *qp, void *ah, uint32_t qpn, uint32_t qkey) { java(wr_set_ud_addr, qp, ah, qpn, qkey); }
static void wr_set_xrc_srqn(void *qp, uint32_t number) { java(wr_set_xrc_srqn, qp, number); }
static void wr_set_inline_data(void *qp, void *data, size_t length) { java(wr_set_inline, qp, data, length); }
static void wr_set_inline_data_list(void *qp, size_t count, const void *list) {
    java(wr_set_inline_list, qp, count, list);
}
static void wr_set_sge(void *qp, uint32_t lkey, uint64_t address, uint32_t length) {
    java(wr_set_sge, qp, lkey, address, length);
}
static void wr_set_sge_list(void *qp, size_t count, const void *list) { java(wr_set_sge_list, qp, count, list); }
static void wr_start(void *qp) { java(wr_start, qp); }
static int wr_complete(void *qp) { return code(java(wr_complete, qp)); }
static void wr_abort(void *qp) { java(wr_abort, qp); }
static void wr_atomic_write(void *qp, uint32_t rkey, uint64_t address, const void *value) {
    java(wr_request, qp, ATOMIC_WRITE, rkey, address, *(const uint64_t *) value);
}
static void wr_flush(void *qp, uint32_t rkey, uint64_t address, size_t length, uint8_t type, uint8_t level) {
    java(wr_request, qp, FLUSH, rkey, address, length, (uint32_t) type << 8 | level);
}

/* ---- extended completion queues: ibv_start_poll(3) */

static int start_poll(void *cq, void *attributes) { return code(java(start_poll, cq, attributes)); }
static int next_poll(void *cq) { return code(java(next_poll, cq)); }
static void end_poll(void *cq) { java(end_poll, cq); }

/* The fields by the order of struct ibv_cq_ex. */
#define READ_FIELD(type, name, number) \
    static type read_##name(void *cq) { return (type) java(wc_read, cq, number); }
READ_FIELD(int, opcode, 0)
READ_FIELD(uint32_t, vendor_err, 1)
READ_FIELD(uint32_t, byte_len, 2)
READ_FIELD(uint32_t, imm_data, 3)
READ_FIELD(uint32_t, qp_num, 4)
READ_FIELD(uint32_t, src_qp, 5)
READ_FIELD(unsigned, wc_flags, 6)
READ_FIELD(uint32_t, slid, 7)
READ_FIELD(uint8_t, sl, 8)
READ_FIELD(uint8_t, dlid_path_bits, 9)
READ_FIELD(uint64_t, completion_ts, 10)
READ_FIELD(uint64_t, completion_wallclock_ns, 11)

/* ---- of memory.c */

long guarded_copy(char *to, const char *from, size_t bytes);
long guarded_atomic(long which, uint64_t *at, uint64_t value, uint64_t expected, uint64_t *original);
long check_memory(uintptr_t from, size_t bytes, long is_written);
static long is_jvms(uintptr_t from, uintptr_t to) { return verbena_is_jvms(from, to); }

/* ---- of call.c */

long keep_places(void);
long call_place(long depth);
long ask_unseen(char *const *arguments, char *answer, size_t room);

void *const verbena_operations[] = {
#define OP(name) (void *) name,
    VERBENA_OPERATIONS(OP)
#undef OP
};

const char *const verbena_operation_names[] = {
#define OP(name) #name,
    VERBENA_OPERATIONS(OP)
#undef OP
};
