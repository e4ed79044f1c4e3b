/// The protocol of rsockets, without a socket, a thread or a clock: what two ends say to each other, and the
/// rings that they write to. rdma-core's `librdmacm/docs/rsocket` is the source.
package verbena.stream.protocol;
