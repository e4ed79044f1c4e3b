/// `verbena demo`: two processes, each kind of operation once, and figures beside those of a TCP socket.
package verbena.tools.demo;
