/// What libibverbs and librdmacm have in memory: the structs of `verbs.h` and `rdma_cma.h`, and the numbers of
/// their enums. A test compares all of it with a C compiler's view of the headers.
package verbena.foreign.rdma;
