/// What devices there are and what they can do, as `ibv_devices` and `ibv_devinfo` say it, and what a completion
/// status means.
package verbena.tools.device;
