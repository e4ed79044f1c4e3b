/// The layer in front of a device: an object of its own for each of the device's, which tells the rules of each call.
package verbena.check.device;
