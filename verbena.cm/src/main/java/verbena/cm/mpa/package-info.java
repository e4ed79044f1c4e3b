/// How iWARP connections start and end, without input and output: MPA's requests and replies on a TCP connection
/// (RFC 5044 7, RFC 6581).
package verbena.cm.mpa;
