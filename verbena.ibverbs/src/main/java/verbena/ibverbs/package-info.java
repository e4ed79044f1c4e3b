/// The system's RDMA devices as devices of Verbena: a card, or the kernel's soft-RoCE and soft-iWARP, by
/// libibverbs and librdmacm. No native code of its own.
package verbena.ibverbs;
