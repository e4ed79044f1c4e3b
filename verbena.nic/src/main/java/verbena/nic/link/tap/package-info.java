/// Shows what a device sends and receives. [TapLink] shows a [Tap] the packets of any link.
package verbena.nic.link.tap;
