/// Channels and selectors over RDMA: [verbena.nio.RdmaSelectorProvider] makes them. [verbena.nio.NioAgent] gives
/// them to an unchanged program. [verbena.nio.NioCounters] counts the bytes by RDMA and by TCP.
package verbena.nio;
