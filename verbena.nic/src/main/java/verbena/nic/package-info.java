/// The face of the software device: [verbena.nic.SoftContext], which adds to the API what only such a device can
/// do, and the agents of management datagrams.
package verbena.nic;
