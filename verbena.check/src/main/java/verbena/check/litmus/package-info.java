/// Litmus programs: a few steps of a few threads, and the question whether they can end in a certain way. A model
/// answers it for each set of freedoms that a device may take, and a runner tries it on a device.
@NullMarked
package verbena.check.litmus;

import org.jspecify.annotations.NullMarked;
