/*
 * A libibverbs of one device that is nothing but memory. What is posted is written down in words (stub_log) and
 * completes at once; wr_id says how: below 1000 with success, from 1000 on with status wr_id - 1000. A receive waits for
 * stub_receive. With STUB_NOTHING=N in the environment posting and polling do nothing at all, for the benchmark, and
 * each poll says that there were N completions. Its clock goes on by 100 with each completion; with STUB_NO_CLOCK in
 * the environment it has none. With STUB_EXTENSIONS it does FLUSH and ATOMIC WRITE.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define DEPTH 16
#define COMPLETIONS 4096

char stub_log[1 << 16];
static int logged;
static struct ibv_device device;
static struct ibv_device *list[2];
static int async_pipe[2];
static struct ibv_recv_wr waiting;

struct stub_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex ex;
	};
	struct ibv_wc ring[COMPLETIONS];
	uint64_t ticks[COMPLETIONS];
	unsigned head, tail;
	int armed, polling;
};

static void say(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	logged += vsnprintf(stub_log + logged, sizeof(stub_log) - logged, format, arguments);
	va_end(arguments);
	if (logged > (int)sizeof(stub_log) - 1)
		logged = sizeof(stub_log) - 1; /* the rest is lost */
}

void stub_forget(void)
{
	logged = 0;
	stub_log[0] = 0;
}

static void complete(struct ibv_cq *of, const struct ibv_wc *wc)
{
	struct stub_cq *cq = (struct stub_cq *)of;
	cq->ticks[cq->tail % COMPLETIONS] = 100 * (cq->tail + 1);
	cq->ring[cq->tail++ % COMPLETIONS] = *wc;
	if (cq->armed) {
		cq->armed = 0;
		if (write(cq->cq.channel->refcnt, &of, sizeof(of)) < 0)
			abort();
	}
}

static void say_sges(const struct ibv_sge *sge, int count)
{
	for (int i = 0; i < count; i++)
		say(" sge %llx+%u key %x", (unsigned long long)sge[i].addr, sge[i].length, sge[i].lkey);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	static const enum ibv_wc_opcode done[] = {
		[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE, [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
		[IBV_WR_SEND] = IBV_WC_SEND, [IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
		[IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ, [IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
		[IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD, [IBV_WR_LOCAL_INV] = IBV_WC_LOCAL_INV,
		[IBV_WR_BIND_MW] = IBV_WC_BIND_MW, [IBV_WR_SEND_WITH_INV] = IBV_WC_SEND,
	};
	for (int n = 0; wr; wr = wr->next, n++) {
		if (n == DEPTH) {
			*bad = wr;
			return ENOMEM;
		}
		if (wr->wr_id == 999) {
			*bad = wr;
			return EINVAL;
		}
		say("%llu op %d flags %x", (unsigned long long)wr->wr_id, wr->opcode, wr->send_flags);
		if (qp->qp_type == IBV_QPT_XRC_SEND)
			say(" srq %x", wr->qp_type.xrc.remote_srqn);
		switch (wr->opcode) {
		case IBV_WR_SEND_WITH_IMM:
			say(" imm %x", ntohl(wr->imm_data));
			break;
		case IBV_WR_SEND_WITH_INV:
		case IBV_WR_LOCAL_INV:
			say(" key %x", wr->invalidate_rkey);
			break;
		case IBV_WR_RDMA_WRITE_WITH_IMM:
			say(" imm %x", ntohl(wr->imm_data));
			/* fall through */
		case IBV_WR_RDMA_WRITE:
		case IBV_WR_RDMA_READ:
			say(" to %llx key %x", (unsigned long long)wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
			break;
		case IBV_WR_ATOMIC_CMP_AND_SWP:
		case IBV_WR_ATOMIC_FETCH_AND_ADD:
			say(" to %llx key %x values %llx %llx", (unsigned long long)wr->wr.atomic.remote_addr,
			    wr->wr.atomic.rkey, (unsigned long long)wr->wr.atomic.compare_add,
			    (unsigned long long)wr->wr.atomic.swap);
			break;
		case IBV_WR_BIND_MW:
			say(" window %x key %x at %llx+%llu rights %x", wr->bind_mw.mw->handle, wr->bind_mw.rkey,
			    (unsigned long long)wr->bind_mw.bind_info.addr,
			    (unsigned long long)wr->bind_mw.bind_info.length, wr->bind_mw.bind_info.mw_access_flags);
			break;
		default:
			break;
		}
		if (qp->qp_type == IBV_QPT_UD)
			say(" to handle %u qpn %x qkey %x", wr->wr.ud.ah->handle, wr->wr.ud.remote_qpn,
			    wr->wr.ud.remote_qkey);
		if (wr->send_flags & IBV_SEND_INLINE)
			say(" inline %.*s", (int)wr->sg_list->length, (char *)(uintptr_t)wr->sg_list->addr);
		else
			say_sges(wr->sg_list, wr->num_sge);
		say("\n");
		if (wr->send_flags & IBV_SEND_SIGNALED || wr->wr_id >= 1000) {
			struct ibv_wc wc = { .wr_id = wr->wr_id, .opcode = done[wr->opcode], .qp_num = qp->qp_num };
			if (wr->wr_id >= 1000) {
				wc.status = wr->wr_id - 1000;
				wc.vendor_err = 0x81;
			}
			complete(qp->send_cq, &wc);
		}
	}
	return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)qp;
	for (int n = 0; wr; wr = wr->next, n++) {
		if (n == DEPTH) {
			*bad = wr;
			return ENOMEM;
		}
		say("%llu receive", (unsigned long long)wr->wr_id);
		say_sges(wr->sg_list, wr->num_sge);
		say("\n");
		waiting = *wr;
	}
	return 0;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)srq;
	return post_recv(NULL, wr, bad);
}

/* The receive that was posted last has got something. */
void stub_receive(struct ibv_qp *qp, int opcode, unsigned flags, unsigned data, unsigned bytes, unsigned from)
{
	struct ibv_wc wc = { .wr_id = waiting.wr_id, .opcode = opcode, .wc_flags = flags, .imm_data = data,
			     .byte_len = bytes, .qp_num = qp->qp_num, .src_qp = from };
	complete(qp->recv_cq, &wc);
}

void stub_event(int type, void *element)
{
	struct ibv_async_event event = { .event_type = type };
	event.element.qp = element;
	if (write(async_pipe[1], &event, sizeof(event)) < 0)
		abort();
}

static int poll_cq(struct ibv_cq *of, int entries, struct ibv_wc *wc)
{
	struct stub_cq *cq = (struct stub_cq *)of;
	int n = 0;
	while (n < entries && cq->head != cq->tail)
		wc[n++] = cq->ring[cq->head++ % COMPLETIONS];
	return n;
}

/* An extended completion queue. A reader that asks for what a failed completion does not have is found out. */
static struct stub_cq *polled(struct ibv_cq_ex *ex) { return (struct stub_cq *)ex; }
static struct ibv_wc *here(struct ibv_cq_ex *ex) { return &polled(ex)->ring[polled(ex)->head % COMPLETIONS]; }

static int look(struct ibv_cq_ex *ex)
{
	struct stub_cq *cq = polled(ex);
	if (cq->head == cq->tail)
		return ENOENT;
	ex->wr_id = here(ex)->wr_id;
	ex->status = here(ex)->status;
	return 0;
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	if (polled(ex)->polling++ || attr->comp_mask)
		abort();
	int none = look(ex);
	if (none)
		polled(ex)->polling = 0;
	return none;
}

static int next_poll(struct ibv_cq_ex *ex)
{
	polled(ex)->head++;
	int none = look(ex);
	if (none)
		polled(ex)->head--; /* end_poll moves on */
	return none;
}

static void end_poll(struct ibv_cq_ex *ex)
{
	if (!polled(ex)->polling--)
		abort();
	polled(ex)->head++;
}

static struct ibv_wc *good(struct ibv_cq_ex *ex)
{
	if (ex->status != IBV_WC_SUCCESS)
		abort();
	return here(ex);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex) { return good(ex)->opcode; }
static uint32_t read_vendor_err(struct ibv_cq_ex *ex) { return here(ex)->vendor_err; }
static uint32_t read_byte_len(struct ibv_cq_ex *ex) { return good(ex)->byte_len; }
static __be32 read_imm_data(struct ibv_cq_ex *ex) { return good(ex)->imm_data; }
static uint32_t read_qp_num(struct ibv_cq_ex *ex) { return here(ex)->qp_num; }
static uint32_t read_src_qp(struct ibv_cq_ex *ex) { return good(ex)->src_qp; }
static unsigned int read_wc_flags(struct ibv_cq_ex *ex) { return good(ex)->wc_flags; }
static uint64_t read_completion_ts(struct ibv_cq_ex *ex)
{
	good(ex);
	return polled(ex)->ticks[polled(ex)->head % COMPLETIONS];
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	if (attr->comp_mask || attr->wc_flags != (IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM |
						  IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)) {
		errno = EINVAL;
		return NULL;
	}
	struct stub_cq *cq = (struct stub_cq *)ibv_create_cq(context, attr->cqe, attr->cq_context, attr->channel,
							     attr->comp_vector);
	cq->ex.start_poll = start_poll;
	cq->ex.next_poll = next_poll;
	cq->ex.end_poll = end_poll;
	cq->ex.read_opcode = read_opcode;
	cq->ex.read_vendor_err = read_vendor_err;
	cq->ex.read_byte_len = read_byte_len;
	cq->ex.read_imm_data = read_imm_data;
	cq->ex.read_qp_num = read_qp_num;
	cq->ex.read_src_qp = read_src_qp;
	cq->ex.read_wc_flags = read_wc_flags;
	cq->ex.read_completion_ts = read_completion_ts;
	return &cq->ex;
}

/* Flows: what is asked for is told, byte by byte. */
static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	const unsigned char *at = (const unsigned char *)(attr + 1);
	struct ibv_flow *made = calloc(1, sizeof(*made));
	made->context = qp->context;
	say("flow type %d of %d", attr->type, attr->num_of_specs);
	for (int i = 0; i < attr->num_of_specs; i++) {
		int type = *(const int *)at, size = *(const uint16_t *)(at + 4);
		say(" spec %x", type);
		for (int n = 6; n < size && type < 0x1000; n++)
			say("%s%02x", n == 6 ? " " : "", at[n]);
		at += size;
	}
	say("\n");
	return made;
}

static int destroy_flow(struct ibv_flow *flow)
{
	free(flow);
	return 0;
}

static struct ibv_counters *create_counters(struct ibv_context *context, struct ibv_counters_init_attr *attr)
{
	(void)attr;
	struct ibv_counters *made = calloc(1, sizeof(*made));
	made->context = context;
	return made;
}

static int destroy_counters(struct ibv_counters *counters)
{
	free(counters);
	return 0;
}

static int attach_counters(struct ibv_counters *counters, struct ibv_counter_attach_attr *attr, struct ibv_flow *flow)
{
	(void)counters;
	return flow || attr->comp_mask || attr->counter_desc != attr->index;
}

static int read_counters(struct ibv_counters *counters, uint64_t *values, uint32_t count, uint32_t flags)
{
	(void)counters, (void)flags;
	for (uint32_t i = 0; i < count; i++)
		values[i] = i ? 6400 : 100;
	return 0;
}

/* Memory of the device: 4096 bytes of it. */
struct stub_dm {
	struct ibv_dm dm;
	size_t length;
	char bytes[4096];
};

static int memcpy_to_dm(struct ibv_dm *dm, uint64_t offset, const void *from, size_t length)
{
	memcpy(((struct stub_dm *)dm)->bytes + offset, from, length);
	return 0;
}

static int memcpy_from_dm(void *into, struct ibv_dm *dm, uint64_t offset, size_t length)
{
	memcpy(into, ((struct stub_dm *)dm)->bytes + offset, length);
	return 0;
}

static struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	if (attr->length > sizeof(((struct stub_dm *)0)->bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	struct stub_dm *made = malloc(sizeof(*made));
	memset(made, 0x5a, sizeof(*made));
	made->dm.context = context;
	made->dm.memcpy_to_dm = memcpy_to_dm;
	made->dm.memcpy_from_dm = memcpy_from_dm;
	made->length = attr->length;
	say("device memory %zu aligned %u\n", attr->length, attr->log_align_req);
	return &made->dm;
}

static int free_dm(struct ibv_dm *dm)
{
	free(dm);
	return 0;
}

static struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length, unsigned int access)
{
	(void)dm;
	say("device memory at %llu ", (unsigned long long)offset);
	return ibv_reg_mr(pd, NULL, length, (int)access);
}

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	(void)input;
	memset(attr, 0, size);
	ibv_query_device(context, &attr->orig_attr);
	attr->completion_timestamp_mask = getenv("STUB_NO_CLOCK") ? 0 : 0xffffffffffff;
	attr->hca_core_clock = 156250;
	attr->max_dm_size = 4096;
	attr->device_cap_flags_ex = getenv("STUB_EXTENSIONS") ? 1ull << 38 | 1ull << 40 : 0;
	if (getenv("STUB_ON_DEMAND")) {
		attr->odp_caps.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
		attr->odp_caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
		attr->odp_caps.per_transport_caps.ud_odp_caps = IBV_ODP_SUPPORT_SEND;
		attr->xrc_odp_caps = IBV_ODP_SUPPORT_SRQ_RECV;
	}
	return 0;
}

static int req_notify_cq(struct ibv_cq *of, int solicited_only)
{
	(void)solicited_only;
	((struct stub_cq *)of)->armed = 1;
	return 0;
}

static int no_post(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)qp, (void)wr, (void)bad;
	return 0;
}

static int nothing;

static int no_poll(struct ibv_cq *cq, int entries, struct ibv_wc *wc)
{
	(void)cq, (void)wc;
	return entries < nothing ? entries : nothing;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
	(void)context, (void)port, (void)size;
	memset(attr, 0, sizeof(*attr));
	attr->state = IBV_PORT_ACTIVE;
	attr->max_mtu = IBV_MTU_4096;
	attr->active_mtu = IBV_MTU_1024;
	attr->gid_tbl_len = 4;
	attr->max_msg_sz = 1u << 31;
	attr->pkey_tbl_len = 1;
	attr->lid = 7;
	attr->active_width = 2;
	attr->active_speed = 32;
	attr->phys_state = 5;
	attr->link_layer = IBV_LINK_LAYER_ETHERNET;
	return 0;
}

/* A range at 4711 is not there. */
static int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags, struct ibv_sge *ranges,
		     uint32_t count)
{
	(void)pd;
	say("advise %d flags %x", advice, flags);
	for (uint32_t i = 0; i < count; i++)
		say(" %llx+%u key %x", (unsigned long long)ranges[i].addr, ranges[i].length, ranges[i].lkey);
	say("\n");
	return ranges[0].addr == 4711 ? EFAULT : 0;
}

static struct ibv_mr *alloc_null_mr(struct ibv_pd *pd)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));
	mr->context = pd->context;
	mr->pd = pd;
	mr->lkey = 0x33;
	mr->rkey = 0x44; /* of no meaning */
	return mr;
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ibv_mw *mw = calloc(1, sizeof(*mw));
	mw->context = pd->context;
	mw->pd = pd;
	mw->rkey = 0x500;
	mw->handle = 5;
	mw->type = type;
	return mw;
}

static int dealloc_mw(struct ibv_mw *mw)
{
	free(mw);
	return 0;
}

static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct ibv_wc wc = { .wr_id = bind->wr_id, .opcode = IBV_WC_BIND_MW, .qp_num = qp->qp_num };
	mw->rkey++;
	say("%llu bind flags %x at %llx+%llu rights %x\n", (unsigned long long)bind->wr_id, bind->send_flags,
	    (unsigned long long)bind->bind_info.addr, (unsigned long long)bind->bind_info.length,
	    bind->bind_info.mw_access_flags);
	complete(qp->send_cq, &wc);
	return 0;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init);

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *init)
{
	say("xrcd mask %x fd %d flags %o\n", init->comp_mask, init->fd, init->oflags);
	struct ibv_xrcd *xrcd = calloc(1, sizeof(*xrcd));
	xrcd->context = context;
	return xrcd;
}

static int close_xrcd(struct ibv_xrcd *xrcd)
{
	say("xrcd closed\n");
	free(xrcd);
	return 0;
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *init)
{
	say("srq type %d mask %x of %u with %u%s%s%s\n", init->srq_type, init->comp_mask, init->attr.max_wr,
	    init->attr.max_sge, init->pd->context == context ? " pd" : "", init->xrcd->context == context ? " xrcd" : "",
	    init->cq->context == context ? " cq" : "");
	struct ibv_srq *srq = calloc(1, sizeof(*srq));
	srq->context = context;
	return srq;
}

static int get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
	(void)srq;
	*number = 0xabcdef;
	return 0;
}

struct ibv_device **ibv_get_device_list(int *count)
{
	device.node_type = IBV_NODE_CA;
	device.transport_type = IBV_TRANSPORT_IB;
	strcpy(device.name, "stub0");
	strcpy(device.dev_name, "uverbs-stub");
	strcpy(device.ibdev_path, "/nowhere");
	list[0] = &device;
	if (count)
		*count = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **of) { (void)of; }
__be64 ibv_get_device_guid(struct ibv_device *of) { (void)of; return htobe64(0x0102030405060708); }

struct ibv_context *ibv_open_device(struct ibv_device *of)
{
	struct verbs_context *context = calloc(1, sizeof(*context));
	context->sz = getenv("STUB_ODD_SIZE") ? 12345 : sizeof(*context);
	context->query_port = query_port;
	context->ibv_create_flow = create_flow;
	context->ibv_destroy_flow = destroy_flow;
	context->create_counters = create_counters;
	context->destroy_counters = destroy_counters;
	context->attach_counters_point_flow = attach_counters;
	context->read_counters = read_counters;
	context->alloc_dm = alloc_dm;
	context->free_dm = free_dm;
	context->reg_dm_mr = reg_dm_mr;
	context->query_device_ex = query_device_ex;
	if (getenv("STUB_ON_DEMAND")) {
		context->advise_mr = advise_mr;
		context->alloc_null_mr = alloc_null_mr;
	}
	context->create_cq_ex = create_cq_ex;
	context->create_qp_ex = create_qp_ex;
	context->open_xrcd = open_xrcd;
	context->close_xrcd = close_xrcd;
	context->create_srq_ex = create_srq_ex;
	context->get_srq_num = get_srq_num;
	context->context.device = of;
	context->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	context->context.num_comp_vectors = 1;
	nothing = getenv("STUB_NOTHING") ? atoi(getenv("STUB_NOTHING")) : 0;
	context->context.ops.post_send = nothing ? no_post : post_send;
	context->context.ops.poll_cq = nothing ? no_poll : poll_cq;
	context->context.ops.post_recv = post_recv;
	context->context.ops.post_srq_recv = post_srq_recv;
	context->context.ops.req_notify_cq = req_notify_cq;
	context->context.ops.alloc_mw = alloc_mw;
	context->context.ops.dealloc_mw = dealloc_mw;
	context->context.ops.bind_mw = bind_mw;
	if (pipe2(async_pipe, O_CLOEXEC))
		return NULL;
	context->context.async_fd = async_pipe[0];
	return &context->context;
}

int ibv_close_device(struct ibv_context *context)
{
	close(async_pipe[0]);
	close(async_pipe[1]);
	free((char *)context - offsetof(struct verbs_context, context));
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	memset(attr, 0, sizeof(*attr));
	strcpy(attr->fw_ver, "1.2.3");
	attr->node_guid = htobe64(0x0102030405060708);
	attr->max_mr_size = UINT64_MAX;
	attr->vendor_id = 0x2c9;
	attr->max_qp = 100;
	attr->max_qp_wr = 4096;
	attr->max_sge = 8;
	attr->max_sge_rd = 8;
	attr->max_cq = 100;
	attr->max_cqe = COMPLETIONS;
	attr->max_mr = 1000;
	attr->max_pd = 100;
	attr->max_qp_rd_atom = 16;
	attr->max_qp_init_rd_atom = 16;
	attr->atomic_cap = IBV_ATOMIC_HCA;
	attr->max_mw = 100;
	attr->max_ah = 100;
	attr->max_srq = 10;
	attr->max_srq_wr = 1000;
	attr->max_srq_sge = 4;
	attr->max_pkeys = 1;
	attr->phys_port_cnt = 1;
	attr->device_cap_flags = IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_XRC;
	return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	(void)context, (void)port, (void)attr;
	return ENOSYS;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max, uint32_t flags,
			     size_t size)
{
	(void)context, (void)flags;
	if (max < 1 || size != sizeof(*entries))
		return -EINVAL;
	memset(entries, 0, sizeof(*entries));
	inet_pton(AF_INET6, "::ffff:192.0.2.7", entries->gid.raw);
	entries->gid_index = 3;
	entries->port_num = 1;
	entries->gid_type = IBV_GID_TYPE_ROCE_V2;
	return 1;
}

int ibv_query_gid(struct ibv_context *c, uint8_t p, int i, union ibv_gid *g) { (void)c, (void)p, (void)i, (void)g; return -1; }
int ibv_query_pkey(struct ibv_context *c, uint8_t p, int i, __be16 *key)
{
	(void)c, (void)p;
	*key = htons(0xffff);
	return i == 0 ? 0 : -1;
}

int ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *e)
{
	return read(c->async_fd, e, sizeof(*e)) == sizeof(*e) ? 0 : -1;
}

void ibv_ack_async_event(struct ibv_async_event *e) { (void)e; }

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));
	pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd) { free(pd); return 0; }

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	if (length == 666) {
		errno = ENOMEM;
		return NULL;
	}
	say("register %zu rights %x\n", length, access);
	struct ibv_mr *mr = calloc(1, sizeof(*mr));
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->lkey = 0x11;
	mr->rkey = 0x22;
	return mr;
}

/* Descriptor 77 is no dma-buf's. */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
	errno = getenv("STUB_NO_DMA_BUF") ? EOPNOTSUPP : fd < 0 || fd == INT_MAX ? EBADF : fd == 77 ? EINVAL : 0;
	if (errno)
		return NULL;
	say("dma-buf %d at %llu iova %llx ", fd, (unsigned long long)offset, (unsigned long long)iova);
	return ibv_reg_mr(pd, NULL, length, access);
}

int ibv_dereg_mr(struct ibv_mr *mr) { free(mr); return 0; }
int ibv_rereg_mr(struct ibv_mr *mr, int f, struct ibv_pd *pd, void *a, size_t l, int access)
{
	(void)mr, (void)f, (void)pd, (void)a, (void)l;
	say("register again rights %x\n", access);
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *channel = calloc(1, sizeof(*channel));
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	channel->context = context;
	channel->fd = ends[0];
	channel->refcnt = ends[1];
	return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	close(channel->refcnt);
	free(channel);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	if (read(channel->fd, cq, sizeof(*cq)) != sizeof(*cq))
		return -1;
	*context = (*cq)->cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n) { (void)cq, (void)n; }

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
			     int vector)
{
	(void)vector;
	struct stub_cq *cq = calloc(1, sizeof(*cq));
	cq->cq.context = context;
	cq->cq.cq_context = cq_context;
	cq->cq.channel = channel;
	cq->cq.cqe = cqe;
	return &cq->cq;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe) { cq->cqe = cqe; return 0; }
int ibv_destroy_cq(struct ibv_cq *cq) { free(cq); return 0; }

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	struct ibv_srq *srq = calloc(1, sizeof(*srq));
	(void)init;
	srq->context = pd->context;
	return srq;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	(void)srq;
	say("srq mask %x limit %u\n", mask, attr->srq_limit);
	return 0;
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr) { (void)srq, (void)attr; return 0; }
int ibv_destroy_srq(struct ibv_srq *srq) { free(srq); return 0; }

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	if (init->cap.max_inline_data > 256) {
		errno = EINVAL;
		return NULL;
	}
	struct ibv_qp *qp = calloc(1, sizeof(*qp));
	qp->context = pd->context;
	qp->send_cq = init->send_cq;
	qp->recv_cq = init->recv_cq;
	qp->qp_type = init->qp_type;
	qp->qp_num = 0x123456;
	return qp;
}

/* An extended queue pair. Its wr_flush is newer than the headers may be. */
struct stub_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex ex;
		struct {
			char as_of_44[offsetof(struct ibv_qp_ex, wr_atomic_write) + sizeof(void *)];
			void (*wr_flush)(struct ibv_qp_ex *, uint32_t, uint64_t, size_t, uint8_t, uint8_t);
		} newer;
	};
	int started, error;
};

static void wr_start(struct ibv_qp_ex *ex)
{
	struct stub_qp *qp = (struct stub_qp *)ex;
	if (qp->started++)
		abort();
	qp->error = 0;
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct stub_qp *qp = (struct stub_qp *)ex;
	if (!qp->started--)
		abort();
	return qp->error;
}

static void extended(struct ibv_qp_ex *ex, int opcode, uint32_t rkey, uint64_t address, const char *more)
{
	struct stub_qp *qp = (struct stub_qp *)ex;
	if (!qp->started)
		abort();
	if (ex->wr_id == 999) {
		qp->error = EINVAL;
		return;
	}
	say("%llu extended op %d flags %x to %llx key %x %s\n", (unsigned long long)ex->wr_id, opcode, ex->wr_flags,
	    (unsigned long long)address, rkey, more);
	if (ex->wr_flags & IBV_SEND_SIGNALED) {
		struct ibv_wc wc = { .wr_id = ex->wr_id, .opcode = opcode, .qp_num = ex->qp_base.qp_num };
		complete(ex->qp_base.send_cq, &wc);
	}
}

static void wr_atomic_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address, const void *value)
{
	char text[32];
	snprintf(text, sizeof(text), "value %llx", (unsigned long long)*(const uint64_t *)value);
	extended(ex, 9, rkey, address, text);
}

static void wr_flush(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address, size_t length, uint8_t type, uint8_t level)
{
	char text[64];
	snprintf(text, sizeof(text), "length %zu type %d level %d", length, type, level);
	extended(ex, 8, rkey, address, text);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	if (init->comp_mask == IBV_QP_INIT_ATTR_XRCD) {
		say("target of an xrcd%s\n", init->xrcd->context == context && !init->send_cq ? "" : "?");
		struct ibv_qp *target = calloc(1, sizeof(*target));
		target->context = context;
		target->qp_type = init->qp_type;
		target->qp_num = 0x654321;
		return target;
	}
	if (init->comp_mask != (IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
	    || init->send_ops_flags & ~(1ull << 11 | 1ull << 12)) {
		errno = EINVAL;
		return NULL;
	}
	/* What an ordinary one is asked for is laid out alike in both structs. */
	struct ibv_qp *plain = ibv_create_qp(init->pd, (struct ibv_qp_init_attr *)init);
	struct stub_qp *qp = calloc(1, sizeof(*qp));
	qp->qp = *plain;
	free(plain);
	qp->ex.wr_start = wr_start;
	qp->ex.wr_complete = wr_complete;
	if (init->send_ops_flags & 1 << 12)
		qp->ex.wr_atomic_write = wr_atomic_write;
	if (init->send_ops_flags & 1 << 11)
		qp->newer.wr_flush = wr_flush;
	return &qp->qp;
}

static struct ibv_qp_attr last;

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	char gid[INET6_ADDRSTRLEN];
	inet_ntop(AF_INET6, attr->ah_attr.grh.dgid.raw, gid, sizeof(gid));
	if (mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	last = *attr;
	say("modify mask %x state %d rights %x mtu %d qpn %x psn %x %x gid %s index %d global %d hops %d lid %d timer %d"
	    " timeout %d retry %d %d reads %d %d qkey %x\n",
	    mask, attr->qp_state, attr->qp_access_flags, attr->path_mtu, attr->dest_qp_num, attr->rq_psn, attr->sq_psn,
	    gid, attr->ah_attr.grh.sgid_index, attr->ah_attr.is_global, attr->ah_attr.grh.hop_limit, attr->ah_attr.dlid,
	    attr->min_rnr_timer, attr->timeout, attr->retry_cnt, attr->rnr_retry, attr->max_rd_atomic,
	    attr->max_dest_rd_atomic, attr->qkey);
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	(void)mask, (void)init;
	*attr = last;
	attr->qp_state = qp->state;
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp) { free(qp); return 0; }

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	(void)attr;
	struct ibv_ah *ah = calloc(1, sizeof(*ah));
	ah->context = pd->context;
	ah->handle = 9;
	return ah;
}

int ibv_destroy_ah(struct ibv_ah *ah) { say("destroy_ah\n"); free(ah); return 0; }
int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid) { (void)qp, (void)gid, (void)lid; return 0; }
int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid) { (void)qp, (void)gid, (void)lid; return 0; }

/* What a program sees of its completions goes here, as it does into its own variables. */
static volatile struct {
	uint64_t wr_id;
	int status, opcode;
	uint32_t vendor_err, byte_len, imm_data, qp_num, src_qp;
	unsigned wc_flags;
} seen[16];

static int see(int at, const struct ibv_wc *wc)
{
	seen[at].wr_id = wc->wr_id;
	seen[at].status = wc->status;
	seen[at].opcode = wc->opcode;
	seen[at].vendor_err = wc->vendor_err;
	seen[at].byte_len = wc->byte_len;
	seen[at].imm_data = wc->imm_data;
	seen[at].qp_num = wc->qp_num;
	seen[at].src_qp = wc->src_qp;
	seen[at].wc_flags = wc->wc_flags;
	return wc->status == IBV_WC_SUCCESS;
}

/*
 * What a C program does: requests, posted so many at a time and polled for together. For the benchmark. It takes
 * nothing for granted that Verbena does not: what never changes of a request is written beforehand (next, sg_list),
 * everything else for each anew, and every field of a completion is read. With `whole` it makes each request as most
 * programs do instead, by writing all of the struct, zeros too.
 */
long stub_loop(long requests, int batch, int whole)
{
	static struct ibv_qp *qp;
	static struct ibv_cq *cq;
	struct ibv_send_wr wr[16];
	struct ibv_sge sge[16];
	struct ibv_wc wc[16];
	long good = 0;

	if (!qp) {
		struct ibv_context *context = ibv_open_device(ibv_get_device_list(NULL)[0]);
		cq = ibv_create_cq(context, 64, NULL, NULL, 0);
		struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC };
		qp = ibv_create_qp(ibv_alloc_pd(context), &init);
	}
	memset(wc, 0, sizeof(wc));
	memset(wr, 0, sizeof(wr));
	for (int j = 0; j < 16; j++) {
		wr[j].sg_list = &sge[j];
		wr[j].next = j < batch - 1 ? &wr[j + 1] : NULL;
	}
	for (long i = 0; i < requests; i += batch) {
		struct ibv_send_wr *bad;
		for (int j = 0; j < batch; j++) {
			if (whole)
				wr[j] = (struct ibv_send_wr){ .sg_list = &sge[j],
							      .next = j < batch - 1 ? &wr[j + 1] : NULL };
			sge[j].addr = 4096;
			sge[j].length = 8;
			sge[j].lkey = 1;
			wr[j].wr_id = i + j;
			wr[j].num_sge = 1;
			wr[j].opcode = IBV_WR_RDMA_WRITE;
			wr[j].send_flags = IBV_SEND_SIGNALED;
			wr[j].imm_data = 0;
			wr[j].wr.rdma.remote_addr = 8192;
			wr[j].wr.rdma.rkey = 2;
		}
		if (ibv_post_send(qp, wr, &bad))
			return -1;
		for (int polled = 0; polled < batch;) {
			int got = ibv_poll_cq(cq, batch, wc);
			for (int j = 0; j < got; j++)
				good += see(polled++, &wc[j]);
		}
	}
	return good;
}
