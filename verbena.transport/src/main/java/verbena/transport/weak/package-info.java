/// The weakest legal device: what the standard allows and a software device never shows, shown from a seed.
package verbena.transport.weak;
