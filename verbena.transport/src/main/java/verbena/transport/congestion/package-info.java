/// How much connections may have under way, and how long their answers take.
package verbena.transport.congestion;
