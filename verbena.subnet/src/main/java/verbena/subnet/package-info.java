/// The values that the rooms of a subnet exchange: management datagrams, with their routes.
package verbena.subnet;
