/// What the rooms of a subnet say to one another: management datagrams, with the way that they take.
package verbena.subnet;
