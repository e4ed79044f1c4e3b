/// Management datagrams of the communication manager (IBTA 12 and 13.4, annex A11): how connections are made.
package verbena.wire.cm;
