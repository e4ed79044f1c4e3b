/// What a device shows: JFR events, MXBeans.
package verbena.nic.observe;
