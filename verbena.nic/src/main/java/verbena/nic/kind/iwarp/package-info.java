/// iWARP: streams of TCP.
package verbena.nic.kind.iwarp;
