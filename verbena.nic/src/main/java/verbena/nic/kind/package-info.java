/// The seam between the objects of a device and its kind.
package verbena.nic.kind;
