/// Reliable connections (IBTA 9.7), and extended ones (A14). A [verbena.transport.rc.Requester] sends requests
/// until they are answered; a [verbena.transport.rc.Responder] carries out those of the peer, each once and in
/// order.
package verbena.transport.rc;
