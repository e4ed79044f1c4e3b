/// What the cases are written with: two ends of a device, how they are connected, and how expectations are told.
package verbena.conformance.rig;
