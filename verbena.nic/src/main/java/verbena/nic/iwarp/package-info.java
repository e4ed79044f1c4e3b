/// The kind `iwarp`: queue pairs over TCP streams, connections by MPA.
package verbena.nic.iwarp;
