/// The software device, as the provider interface sees it.
package verbena.nic;
