/// The seam between the objects of the API and what is particular to a kind of device.
/// [verbena.nic.kind.DeviceKind] is what a kind brings, [verbena.nic.kind.DeviceHost] what it finds.
package verbena.nic.kind;
