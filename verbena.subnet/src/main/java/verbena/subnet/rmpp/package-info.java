/// Messages of several datagrams (IBTA 13.6), for managers and for the agents of programs.
package verbena.subnet.rmpp;
