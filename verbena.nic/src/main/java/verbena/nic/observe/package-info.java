/// How a device can be observed: JFR events, MXBeans.
package verbena.nic.observe;
