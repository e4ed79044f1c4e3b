/// Switches and channel adapters that move packets between links by their tables, and the fabric of them all.
package verbena.subnet.fabric;
