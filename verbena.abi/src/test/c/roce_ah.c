/* Lets rdma-core's own rsockets of datagrams run over RoCE: for its own port librdmacm makes an address handle without a GRH, which
 * InfiniBand takes and RoCE refuses. Preloaded, this library gives that handle the GID of the given index (VERBENA_GID_INDEX). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdlib.h>

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attributes) {
    struct ibv_ah *(*next)(struct ibv_pd *, struct ibv_ah_attr *) =
        (struct ibv_ah * (*) (struct ibv_pd *, struct ibv_ah_attr *) ) dlvsym(RTLD_NEXT, "ibv_create_ah", "IBVERBS_1.1");
    if (!attributes->is_global) {
        attributes->is_global = 1;
        attributes->grh.sgid_index = (uint8_t) atoi(getenv("VERBENA_GID_INDEX"));
        attributes->grh.hop_limit = 64;
        ibv_query_gid(pd->context, attributes->port_num, attributes->grh.sgid_index, &attributes->grh.dgid);
    }
    return next(pd, attributes);
}
