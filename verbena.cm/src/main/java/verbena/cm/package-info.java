/// The communication manager (IBTA 12): REQ, REP and RTU make a connection, DREQ and DREP end it, SIDR finds the
/// queue pair of a datagram service.
package verbena.cm;
