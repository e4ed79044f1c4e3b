package verbena.tools.check;

import verbena.check.litmus.Profile;
import verbena.verbs.Device;

/// A device on which programs are tried.
///
/// @param profile what it may do
/// @param runs how often each program runs
/// @param seed of the order and the delays of steps
record LitmusDevice(Device device, Profile profile, int runs, long seed) {}
