/// The communication manager (IBTA 12): REQ, REP and RTU make a connection, DREQ and DREP end it, SIDR finds out who
/// takes datagrams.
package verbena.cm;
