/// Packets of PSP on their way through links.
package verbena.nic.link.psp;
