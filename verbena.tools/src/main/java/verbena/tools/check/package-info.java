/// `verbena check`, `verbena conform` and `verbena sim`: what programs may expect, what devices promise, and worlds
/// from a seed.
package verbena.tools.check;
