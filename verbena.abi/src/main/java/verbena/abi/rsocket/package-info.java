/// The sockets of rsocket(7): streams, datagrams, and how C programs wait for them.
package verbena.abi.rsocket;
