/// The objects of the API over any kind of device.
package verbena.nic.device;
