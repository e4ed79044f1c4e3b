/// Channels and selectors over RDMA: [verbena.nio.RdmaSelectorProvider] makes them, [verbena.nio.NioAgent] switches
/// a program over, [verbena.nio.NioCounters] shows what went which way.
package verbena.nio;
