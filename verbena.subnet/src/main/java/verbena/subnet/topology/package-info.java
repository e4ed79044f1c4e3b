/// Which nodes there are, and which port is cabled to which: as text.
package verbena.subnet.topology;
