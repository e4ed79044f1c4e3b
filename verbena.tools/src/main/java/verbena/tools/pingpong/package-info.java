/// `verbena pingpong`: the ping-pong programs of rdma-core (`ibv_rc_pingpong` and its siblings). Either end can be
/// the C program.
package verbena.tools.pingpong;
