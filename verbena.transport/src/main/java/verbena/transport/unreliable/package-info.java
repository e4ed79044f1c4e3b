/// Unreliable connections and datagrams (IBTA 9.8): nothing is answered, nothing is sent again.
package verbena.transport.unreliable;
