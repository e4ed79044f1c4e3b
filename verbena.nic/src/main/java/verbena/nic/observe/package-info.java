/// What shows a device to observers: events of the Flight Recorder, and MXBeans.
package verbena.nic.observe;
