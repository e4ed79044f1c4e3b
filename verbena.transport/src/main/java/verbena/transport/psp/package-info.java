/// What two devices share to protect their packets.
package verbena.transport.psp;
