/// Channels and selectors over RDMA: [verbena.nio.RdmaSelectorProvider] makes them. [verbena.nio.NioAgent] gives
/// them to an unchanged program. [verbena.verbs.Counters] has the bytes by RDMA and by TCP.
package verbena.nio;
