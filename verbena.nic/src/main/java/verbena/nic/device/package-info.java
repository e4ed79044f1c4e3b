/// The objects of the API: context, memory, queues and queue pairs, the same over every kind of device.
package verbena.nic.device;
