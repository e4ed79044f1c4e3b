/// Reliable connection (IBTA 9.7).
package verbena.transport.rc;
